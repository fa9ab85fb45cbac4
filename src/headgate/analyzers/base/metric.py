"""What every metric declares: its name, the kinds it accepts, its fold and its measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.schema import ANY, Kind
from headgate.values.state import State

if TYPE_CHECKING:
    from headgate.analyzers.base.batch import ColumnBatch

S = TypeVar("S", bound=State)

_INPUTS = frozenset({"column", "columns", "left", "right", "where"})
NO_ROWS = "no rows in scope"
NO_VALUES = "no values in scope"


class Metric(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A pure function of a state, over the rows that meet `where` (a SQL predicate).

    Metrics that name the same `folded` state have the same fold; the engine computes it once for all of them. Where the
    state is a sketch, the class docstring states its error.
    """

    where: str | None = None

    name: ClassVar[str]
    state: ClassVar[type[State]]
    folded: ClassVar[str]
    accepts: ClassVar[frozenset[Kind]] = ANY
    default: ClassVar[frozenset[Kind]] = frozenset()
    fold_parameters: ClassVar[tuple[str, ...]] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns whose views the fold is given, in order."""
        return ()

    @property
    def predicates(self) -> tuple[str, ...]:
        """Row predicates whose results, as boolean columns, the fold is given after the columns."""
        return ()

    @property
    def key(self) -> MetricKey:
        """The stable name of this metric of these columns."""
        return MetricKey(self.name, self.inputs, self._parameters(self.__struct_fields__), self.where)

    @property
    def state_key(self) -> MetricKey:
        """The stable name of the state it is measured from; metrics that share it share the work."""
        return MetricKey(self.folded, self.inputs, self._parameters(self.fold_parameters), self.where)

    def _parameters(self, fields: Sequence[str]) -> tuple[tuple[str, Any], ...]:
        return tuple((field, getattr(self, field)) for field in fields if field not in _INPUTS)

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        """The state of one batch, given the views of the inputs and then of the predicates."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def measure(self, state: S) -> Outcome:
        """The metric's value in a state."""
        raise NotImplementedError(f"{type(self).__name__} has no measure")

    def __str__(self) -> str:
        return str(self.key)


class TableMetric(Metric[S], frozen=True):
    """Of the rows, whatever their columns."""

    @property
    def predicates(self) -> tuple[str, ...]:
        return ("true",)

    def fold(self, rows: ColumnBatch) -> S:
        """The state of one batch, given a column that is true in every row of the scope."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0])


class PredicateMetric(Metric[S], frozen=True):
    """Of the rows that meet a SQL predicate and those that do not."""

    predicate: str

    @property
    def predicates(self) -> tuple[str, ...]:
        return (self.predicate,)

    def fold(self, met: ColumnBatch) -> S:
        """The state of one batch, given what the predicate says of every row: true, false or null."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0])


class ColumnMetric(Metric[S], frozen=True):
    """Of one column."""

    column: str

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.column,)

    def fold(self, batch: ColumnBatch) -> S:
        """The state of one batch of the column."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0])


class PairMetric(Metric[S], frozen=True):
    """Of two columns, row by row."""

    left: str
    right: str

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.left, self.right)

    def fold(self, left: ColumnBatch, right: ColumnBatch) -> S:
        """The state of one batch of the two columns."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0], views[1])


class GroupMetric(Metric[S], frozen=True):
    """Of the groups of equal rows over one or more columns: `Uniqueness("id")`, `Uniqueness(["day", "id"])`."""

    columns: str | Sequence[str]

    def __post_init__(self) -> None:
        names = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        if not names or len(set(names)) != len(names):
            raise MisuseError(f"{self.name} needs one or more different columns, not {list(names)}.")
        msgspec.structs.force_setattr(self, "columns", names)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def fold(self, *columns: ColumnBatch) -> S:
        """The state of one batch of the grouping columns."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(*views)
