"""What a fault is, and where faults are found: a file in `faults` that declares one is all it takes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from typing import ClassVar, TypeVar

import msgspec
import pyarrow as pa

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.table_pair import TablePair
from headgate.values.diagnosis import FaultParameters
from headgate.values.errors import MisuseError


class Fit(msgspec.Struct, frozen=True):
    """A fault with its parameters, and how well it explains what changed.

    `unexplained` is the part of the change that is left, from 0 on; `cost` is added for a fault that can explain much,
    as with a parameter that is free. `share` is the part of the rows that it happened to. `what` says it in words that
    follow the names of the columns, `columns` are those it happened to. `estimated` says that a number among the
    parameters is near the right one, and may not be equal to it. `max_confidence` limits the confidence in it.
    """

    fault: str
    what: str
    unexplained: float
    columns: tuple[str, ...] = ()
    parameters: FaultParameters = {}
    share: float = 1.0
    cost: float = 0.0
    estimated: bool = False
    max_confidence: float = 1.0

    @property
    def score(self) -> float:
        """The lower the better."""
        return self.unexplained + self.cost


class KnownFault:
    """A way in which data go wrong that can be recognised by states alone.

    A fault of a column overrides `fit_column`, a fault of rows or of the table `fit_table`. `undo` gives the values
    before the fault, if that is possible.
    """

    name: ClassVar[str]
    repairs: ClassVar[bool] = False

    def fit_column(self, pair: ColumnPair) -> Iterable[Fit]:
        """The ways in which the fault may have happened to a column, if any."""
        return ()

    def fit_table(self, table: TablePair) -> Iterable[Fit]:
        """The ways in which the fault may have happened to the table, if any."""
        return ()

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        """The values of a column as they were before the fault."""
        raise MisuseError(f"{self.name} cannot be undone.")


K = TypeVar("K", bound=type[KnownFault])
_found: dict[str, KnownFault] = {}


def fault(kind: K) -> K:
    """Register a fault under its stored name."""
    if kind.name in _found and type(_found[kind.name]).__module__ != kind.__module__:
        raise MisuseError(f"two faults are named {kind.name!r}.")
    _found[kind.name] = kind()
    return kind


def faults() -> dict[str, KnownFault]:
    """Every fault by its stored name, in alphabetical order."""
    _import_all()
    return dict(sorted(_found.items()))


@cache
def _import_all() -> None:
    import headgate.diagnose.faults as room

    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
