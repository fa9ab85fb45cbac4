"""One rule of a check as its author wrote it: data that becomes expectations when the batch is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from headgate.values.expectation import Level
from headgate.values.predicate import Predicate, Python

Scalar: TypeAlias = str | bool | int | float | Decimal | date
Argument: TypeAlias = Scalar | tuple[Scalar, ...]

_SHOWN = 12  # values of a list that the text of a rule shows


class Rule(msgspec.Struct, frozen=True):
    """The name of a constraint with its arguments, what is expected, the level of a failure, and which rows it covers.

    Without `expect` the default of the constraint applies (all values, for `is_complete`). `warn` is a second, milder
    threshold beside an `expect` of level error. With `by`, each segment of rows with the same values in those columns
    is judged separately.

    >>> print(Rule("is_contained_in", (("column", "region"), ("values", ("EU", "US")))))
    is_contained_in(region, values=["EU", "US"])
    """

    name: str
    arguments: tuple[tuple[str, Argument], ...] = ()
    expect: Predicate | None = None
    warn: Predicate | None = None
    level: Level = Level.ERROR
    where: str | None = None
    by: tuple[str, ...] = ()

    @property
    def storable(self) -> bool:
        return not any(isinstance(each, Python) for each in (self.expect, self.warn))

    def __str__(self) -> str:
        shown = [
            _bare(value) if not at else f"{name}={_text(value)}" for at, (name, value) in enumerate(self.arguments)
        ]
        return f"{self.name}({', '.join(shown)})"


def _bare(value: Argument) -> str:
    if isinstance(value, tuple):
        return _join_first([_bare(each) for each in value[: _SHOWN + 1]], len(value))
    return value if isinstance(value, str) else _text(value)


def _join_first(words: Sequence[str], count: int) -> str:
    """The first words, and how many more there are, so that a rule of a thousand values fits on a line."""
    more = [f"... {count - _SHOWN:,} more"] if count > _SHOWN + 1 else []
    return ", ".join([*(words[:_SHOWN] if more else words), *more])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{_join_first([_text(each) for each in value[: _SHOWN + 1]], len(value))}]"
    return json.dumps(value if isinstance(value, (str, bool, int, float)) else str(value), ensure_ascii=False)
