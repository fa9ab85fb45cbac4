"""A rule that single rows can break, and the column in which failing rows carry their reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from headgate.metrics.base.metric import FailingRows
from headgate.values.errors import MisuseError

REASONS = "headgate_reasons"
FIELDS = ("rule", "level", "columns", "value", "message")  # the fields of a reason, all text
Values: TypeAlias = Literal["plain", "hidden"]
"""Whether reasons have the values that fail; hidden ones are null."""


class RowRule(msgspec.Struct, frozen=True):
    """A rule that some rows break: its text, its level, which rows fail, and the filter of rows that it applies to.

    `message` says in words what is wrong with such a row. `by` are the columns of the segments that were judged
    separately. `graver` is the same rule at a higher level: a row that breaks it at that level is reported only there.
    """

    rule: str
    level: str
    failing_rows: FailingRows
    message: str
    where: str | None = None
    by: tuple[str, ...] = ()
    graver: RowRule | None = None


def refuse_reasons(names: Iterable[str]) -> None:
    """Raise if the data already have a column with the name of the reasons column."""
    if REASONS in names:
        raise MisuseError(
            f"the data have a column {REASONS!r} already.", hint="Rename it, or pass the data without it."
        )
