"""What every distance declares: its name, the kinds it accepts, the state it reads and its error."""

from __future__ import annotations

import math
from typing import ClassVar, Generic, TypeVar

import msgspec

from headgate.metrics.base.label import Label
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.schema import Kind
from headgate.values.state import State

S = TypeVar("S", bound=State)

NONE_NOW = "no values in the new batch"
NONE_BEFORE = "no values in the earlier batch"


class Distance(msgspec.Struct, Generic[S], frozen=True):
    """A pure function of two states of one column: 0 for a batch and itself, the larger the more they differ.

    The states are those that metrics fold: `folded` is the name under which a run keeps them. The class docstring
    states how far the distance may be from the exact one, and `error` gives that bound for two states.
    """

    column: str

    name: ClassVar[str]
    state: ClassVar[type[State]]
    folded: ClassVar[str]
    accepts: ClassVar[frozenset[Kind]]
    label: ClassVar[Label] = Label()
    moves_with_rows: ClassVar[bool] = False  # whether fewer rows alone change it
    is_spread: ClassVar[bool] = False  # whether it is in the unit of the column
    most: ClassVar[float] = math.inf  # no distance of this kind is larger
    symmetric: ClassVar[bool] = True  # whether it matters not which batch is the earlier one
    of_all: ClassVar[bool] = False  # whether it is from all earlier batches, their states merged, not from the last one

    @property
    def key(self) -> MetricKey:
        """The stable name of this distance of this column."""
        return MetricKey(self.name, (self.column,))

    @property
    def state_key(self) -> MetricKey:
        """The stable name of the states that it is between; metrics of the column read the same ones."""
        return MetricKey(self.folded, (self.column,))

    def between(self, now: S, before: S) -> Outcome:
        """The distance of a batch from an earlier one."""
        raise NotImplementedError(f"{type(self).__name__} does not say how far apart two states are")

    def error(self, now: S, before: S) -> float:
        """How far `between` may be from the exact distance; infinite where no bound is known."""
        raise NotImplementedError(f"{type(self).__name__} does not say how exact it is")

    def __str__(self) -> str:
        return str(self.key)
