"""What every metric declares: its name, the kinds it accepts, its fold and its measure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from headgate.metrics.base.label import Label
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.predicate import OneOf, Predicate
from headgate.values.schema import ANY, Kind, Schema
from headgate.values.state import State

if TYPE_CHECKING:
    from headgate.metrics.base.batch import ColumnBatch

S = TypeVar("S", bound=State)

_INPUTS = frozenset({"column", "columns", "left", "right", "where"})
NO_ROWS = "no rows in scope"
NO_VALUES = "no values in scope"


class Membership(msgspec.Struct, frozen=True):
    """Whether the values of a row in some columns occur together in a row of another table, in the columns `of`."""

    table: str
    columns: tuple[str, ...]
    of: tuple[str, ...]

    def __str__(self) -> str:
        return f"({', '.join(self.columns)}) in {self.table}({', '.join(self.of)})"


class FailingRows(msgspec.Struct, frozen=True):
    """Which rows fail when a metric does not meet its predicate, and the columns whose values show it.

    One field besides `columns` is set. It selects the failing rows among those in the metric's `where`. `test`: a SQL
    predicate is true. `form`: the same, with {} in place of the column. `unlike`: the regular expression (of RE2) does
    not match the column. `low`, `high`: the number in the column (seconds since 1970 for a date or timestamp) is
    outside, which NaN is not. `repeated`: another row has the same values in these columns. `absent`: the values are
    not in the other table. `message` says in words what is wrong with such a row, without its values.
    """

    columns: tuple[str, ...]
    test: str = ""
    form: str = ""
    unlike: str = ""
    low: float | None = None
    high: float | None = None
    repeated: tuple[str, ...] = ()
    absent: Membership | None = None
    message: str = ""


def find_repeated(columns: tuple[str, ...]) -> FailingRows:
    """The rows whose values another row has, too."""
    return FailingRows(columns, repeated=columns, message=f"another row has the same {' and '.join(columns)}")


class Metric(msgspec.Struct, Generic[S], frozen=True, kw_only=True, dict=True):
    """A pure function of a state, over the rows that meet `where` (a SQL predicate).

    Metrics with the same `folded` state have the same fold; the engine computes it once for all of them. If the state
    is a sketch, the class docstring states its error.
    """

    where: str | None = None

    name: ClassVar[str]
    state: ClassVar[type[State]]
    folded: ClassVar[str]
    accepts: ClassVar[frozenset[Kind]] = ANY
    default: ClassVar[frozenset[Kind]] = frozenset()
    label: ClassVar[Label] = Label()
    distribution: ClassVar[bool] = False  # whether its value is a distribution instead of a number
    share: ClassVar[bool] = False  # whether it lies between 0 and 1
    signed: ClassVar[bool] = False  # whether it can be below 0
    whole: ClassVar[bool] = False  # whether it is a whole number
    whole_of_integers: ClassVar[bool] = False  # whether it is a whole number in a column of integers
    additive: ClassVar[bool] = False  # whether it grows with the number of rows
    moves_with_rows: ClassVar[bool] = False  # whether fewer rows alone change it, though it does not grow with them
    is_location: ClassVar[bool] = False  # whether it is a value of the column; a moment for a temporal column
    tells_values: ClassVar[bool] = False  # whether it changes with the value of a column that has only one
    is_spread: ClassVar[bool] = (
        False  # whether it is a difference of values of the column; a duration for a temporal column
    )
    is_extreme: ClassVar[bool] = False  # whether one value of the column alone makes it: the least or the greatest
    averaged: ClassVar[bool] = False  # whether it is a sum or mean over rows, so that it tends to a normal distribution
    reads_values: ClassVar[bool] = True  # whether the fold reads values, and not only how many are null
    every_column: ClassVar[bool] = False  # whether the fold gets all columns, values of nested ones included
    hashes_values: ClassVar[bool] = False  # whether the fold reads hashes of the different values of each column
    fold_parameters: ClassVar[tuple[str, ...]] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that the fold gets, in order."""
        return ()

    @property
    def predicates(self) -> tuple[str, ...]:
        """Row predicates. The fold gets their results as boolean columns after the columns."""
        return ()

    @property
    def memberships(self) -> tuple[Membership, ...]:
        """Look-ups in other tables. The fold gets their results as boolean columns after the predicates."""
        return ()

    @cached_property
    def key(self) -> MetricKey:
        """The stable key of this metric."""
        return MetricKey(self.name, self.inputs, self._parameters(self.__struct_fields__), self.where)

    @cached_property
    def state_key(self) -> MetricKey:
        """The stable key of the state it is measured from. Metrics with the same state key share the work."""
        return MetricKey(self.folded, self.inputs, self._parameters(self.fold_parameters), self.where)

    def _parameters(self, fields: Sequence[str]) -> tuple[tuple[str, Any], ...]:
        return tuple((field, getattr(self, field)) for field in fields if field not in _INPUTS)

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        """The state of one batch, given the views of the inputs and then of the predicates."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def measure(self, state: S) -> Outcome:
        """The metric's value in a state."""
        raise NotImplementedError(f"{type(self).__name__} has no measure")

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        """The rows that fail if a value does not meet the predicate; None if the failure is not one of rows."""
        del predicate, value
        return None

    def __str__(self) -> str:
        return str(self.key)


class SchemaMetric(Metric[State], frozen=True):
    """A metric of the names and types of columns. It has no state and no fold, and reads only the schema."""

    state: ClassVar = State

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that it is about, which the batch may lack."""
        return ()

    @cached_property
    def key(self) -> MetricKey:
        return MetricKey(self.name, self.column_names, self._parameters(self.__struct_fields__), self.where)

    def __post_init__(self) -> None:
        if self.where is not None:
            raise MisuseError(f"{self.name} reads no rows, so it takes no where.")

    def of(self, schema: Schema) -> Outcome:
        """The metric's value for a batch of this schema."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it reads")


class TableMetric(Metric[S], frozen=True):
    """A metric of the rows, whatever their columns."""

    @property
    def predicates(self) -> tuple[str, ...]:
        return ("true",)

    def fold(self, rows: ColumnBatch) -> S:
        """The state of one batch, given a column that is true in every row of the scope."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0])


class PredicateMetric(Metric[S], frozen=True):
    """A metric of a SQL predicate: of the rows that meet it and those that do not."""

    predicate: str

    @property
    def predicates(self) -> tuple[str, ...]:
        return (self.predicate,)

    def fold(self, met: ColumnBatch) -> S:
        """The state of one batch, given the result of the predicate for every row: true, false or null."""
        raise NotImplementedError(f"{type(self).__name__} has no fold")

    def fold_views(self, views: Sequence[ColumnBatch]) -> S:
        return self.fold(views[0])


class ColumnMetric(Metric[S], frozen=True):
    """A metric of one column."""

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
    """A metric of two columns, row by row."""

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
    """A metric of the groups of equal rows in one or more columns: `Uniqueness("id")`, `Uniqueness(["day", "id"])`."""

    columns: str | Sequence[str]
    least: ClassVar[int] = 1  # the least number of columns

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


def too_few(predicate: Predicate, value: float) -> bool:
    """Whether a share is too low for the predicate. For a function, which has no ends, any share below 1 is."""
    if isinstance(predicate, OneOf):
        return any(allowed > value for allowed in predicate.values)
    return value < 1 if predicate.floor is None and predicate.ceiling is None else value < (predicate.floor or 0)
