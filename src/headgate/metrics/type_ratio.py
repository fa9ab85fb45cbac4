"""The share of values of a string column that look like one type."""

from __future__ import annotations

from typing import ClassVar

from headgate.metrics.base.metric import NO_VALUES, FailingRows, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.states.types import SHAPES, TYPES, OfTypes, TypeCounts
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate


@metric
class TypeRatio(OfTypes, frozen=True):
    """|values that look like `type`| / |values|; null is no value, the empty string is one, and a string.

    `type` is integral, fractional, boolean, date, timestamp or string (none of the others). What looks integral looks
    fractional too.
    """

    type: str = "integral"
    name: ClassVar = "type_ratio"
    share: ClassVar = True

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise MisuseError(f"{self.type!r} is no type that a text can look like.", hint=f"Write {_choice(TYPES)}.")

    def measure(self, state: TypeCounts) -> Outcome:
        if not state.total:
            return Undefined(NO_VALUES)
        found = state.by_type()[self.type] + (state.integral if self.type == "fractional" else 0)
        return Measured(found / state.total)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        if self.type not in SHAPES or not too_few(predicate, value):
            return None
        return FailingRows(self.inputs, unlike=SHAPES[self.type], message=f"{self.column} is not of type {self.type}")


def _choice(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
