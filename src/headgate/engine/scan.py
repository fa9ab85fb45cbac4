"""One scan: it folds batches into one state for each fold. An error in one fold does not affect the others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from headgate.engine.plan import Fold, Plan
from headgate.metrics.base.arrow import keep_dictionary, to_plain
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.tally import hash_together
from headgate.metrics.states.kept import KeptGroups
from headgate.values.state import State

FEW_ROWS = 8192  # in a batch of so few, what a step over an array costs hardly depends on its length
HEAVY = 1_000_000  # entries; a larger state is sent on instead of kept in the task


class Accumulator:
    """Sums states like a binary counter, large with large, so that a growing state is not copied for every batch."""

    def __init__(self) -> None:
        self._levels: list[State | None] = []

    def add(self, state: State) -> None:
        carried: State | None = state
        for level, partial_sum in enumerate(self._levels):
            if partial_sum is None:
                self._levels[level] = carried
                return
            assert carried is not None
            carried, self._levels[level] = partial_sum + carried, None
        self._levels.append(carried)

    @property
    def weight(self) -> int:
        return sum(held.weight for held in self._levels if held is not None)

    def take(self) -> State | None:
        """The sum of the added states; the accumulator is empty afterwards."""
        total: State | None = None
        for partial_sum in self._levels:
            if partial_sum is not None:
                total = partial_sum if total is None else partial_sum + total
        self._levels = []
        return total


class Scan:
    """The states of some folds of a plan over the batches so far, and the first error of each fold that failed."""

    def __init__(self, plan: Plan, slots: Sequence[int]) -> None:
        self.plan = plan
        self.slots = slots
        self.kinds, self.repeated = plan.kinds, plan.repeated_flags
        self.errors: dict[int, str] = {}
        self._sums = {slot: Accumulator() for slot in slots}
        self._growing = [slot for slot in slots if grows(plan.folds[slot].metric.state)]

    def add(self, arrays: Sequence[pa.Array | pa.ChunkedArray]) -> None:
        """Fold one batch: the plan's columns, then its predicates, in order."""
        scopes: dict[int | None, _Scope] = {None: _Scope(self, arrays, None)}
        for slot in self.slots:
            if slot in self.errors:
                continue
            fold = self.plan.folds[slot]
            try:
                if fold.scope not in scopes:
                    assert fold.scope is not None
                    scopes[fold.scope] = _Scope(self, arrays, fold.scope)
                self._sums[slot].add(_fold_batch(fold, scopes[fold.scope]))
            except Exception as error:
                self.errors[slot] = _describe_error(error)

    def heavy(self) -> Iterator[tuple[int, State]]:
        """Remove and yield the states that have grown large."""
        for slot in self._growing:
            if self._sums[slot].weight > HEAVY:
                yield from self._take_state(slot)

    def states(self) -> Iterator[tuple[int, State]]:
        """Remove and yield all remaining states, by the index of the fold in the plan."""
        for slot in self.slots:
            yield from self._take_state(slot)

    def _take_state(self, slot: int) -> Iterator[tuple[int, State]]:
        try:
            state = self._sums[slot].take()
        except Exception as error:
            self.errors[slot] = _describe_error(error)
            return
        if state is not None and slot not in self.errors:
            yield slot, state


def grows(kind: type[State]) -> bool:
    """Whether a state of this type may grow with the data: such a type overrides `pieces`."""
    return kind.pieces is not State.pieces


class _Scope:
    """The rows that meet a filter. The views of each column are made once for all folds of the scope.

    Of a column with any number of values in a row the view has all of these, one after another; the filter is of rows,
    or of these values.
    """

    def __init__(self, scan: Scan, arrays: Sequence[Any], filter_at: int | None) -> None:
        self.arrays = arrays
        self.kinds, self.repeated = scan.kinds, scan.repeated
        self.of_values = filter_at is not None and scan.repeated[filter_at]
        mask = None if filter_at is None else to_plain(arrays[filter_at])
        self.mask = mask.flatten() if mask is not None and self.of_values else mask
        self.columns: dict[int, ColumnBatch] = {}
        self._hash_columns(scan.plan.hashed_positions.get(filter_at, ()))

    def column(self, position: int) -> ColumnBatch:
        if position not in self.columns:
            self.columns[position] = ColumnBatch(self._select_values(position), self.kinds[position])
        return self.columns[position]

    def _hash_columns(self, positions: Sequence[int]) -> None:
        """Hash the values of all columns in one go if there are few rows."""
        # what cannot be read is an error of the folds that read it, and of no others
        with contextlib.suppress(Exception):
            columns = [self.column(position) for position in positions]
            if columns and len(columns[0]) <= FEW_ROWS:
                hash_together([column.tally for column in columns])

    def _select_values(self, position: int) -> Any:
        values = self.arrays[position]
        if self.repeated[position] and (self.of_values or self.mask is None):
            values = to_plain(values).flatten()
        if self.mask is not None:
            values = keep_dictionary(values).filter(self.mask, null_selection_behavior="drop")
            if self.repeated[position] and not self.of_values:
                values = values.flatten()
        return values


def _fold_batch(fold: Fold, scope: _Scope) -> State:
    state = fold.metric.fold_views([scope.column(position) for position in fold.positions])
    if not isinstance(state, fold.metric.state):
        raise TypeError(f"the fold of {fold.metric.name} gave {type(state).__name__}, not {fold.metric.state.__name__}")
    return state


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:500]}"


def gather(pieces: Sequence[State]) -> State:
    """One state from its pieces, which were merged independently. If any piece was shrunk, all are."""
    if any(not piece.mergeable for piece in pieces):
        pieces = [piece.shrink() for piece in pieces]
    return type(pieces[0]).merge_all(pieces)


def merge_states(states: Sequence[State]) -> State | None:
    """The state of several batches together; None if one of the states is not mergeable."""
    if len(states) == 1:
        return states[0]
    kinds = set(map(type, states))
    if len(kinds) == 1 and states[0].mergeable:  # of one type, all are mergeable or none is
        return type(states[0]).merge_all(states)
    if KeptGroups in kinds:
        states = [KeptGroups.holding(state) if state.mergeable else state for state in states]
    return type(states[0]).merge_all(states) if all(state.mergeable for state in states) else None
