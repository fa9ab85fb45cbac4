"""The states of many parts of a dataset, which can be combined in any way without reading data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Protocol, Self, TypeAlias

import msgspec
import numpy as np

from headgate.display.blocks import Grid, Note
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.analysis import Analysis, merge_analyses
from headgate.engine.part import Part, Value, order_of, partition_of, parts_of, text_of
from headgate.engine.scan import merge_states
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key, metrics
from headgate.values.codec import Head, pack, pack_state, seal, unpack_state, unseal
from headgate.values.errors import CorruptBytes, MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.run import Revision, Run
from headgate.values.schema import Schema
from headgate.values.state import Rows, Stack, State, tag_of

Choice: TypeAlias = Value | Iterable[Value] | Callable[[str | None], bool]

_TAG = "parts"
MANY = 64  # from this number of parts on, a view lays states out as arrays, which are cached for the next view
_NOT_STACKABLE: Stack[State] = Stack(())
_MAX_SHOWN = 20  # parts that a terminal or a notebook cell shows


class Parts(Paged, Mapping[Part, Analysis]):
    """Analyses of the parts of a dataset, by the values of the columns in `by`: `parts["EU", "2026-11-14"]`.

    `parts.view(region="EU")` is the analysis of some parts together, `parts | newer` replaces parts, and `parts + more`
    adds rows to them (views, replacement and append in the paper of ICDE 2019). None of this reads data.

    Args:
        by: The columns whose values name a part.
        schema: The columns of the dataset.
        asked: The metrics of each part, in the order in which they are listed.
        states: The states of each part, by the values of the columns in `by` and by state key.
        failed: The metrics that could not be computed, each with the reason.
    """

    def __init__(
        self,
        by: Sequence[str],
        schema: Schema,
        asked: tuple[Metric[Any], ...],
        states: Mapping[Part, Mapping[MetricKey, State]],
        failed: Mapping[MetricKey, Failed],
    ) -> None:
        self.by = tuple(by)
        self.schema = schema
        self.metrics = asked
        self.failed = dict(failed)
        self._names = sorted(states, key=order_of)
        self._indices = {name: index for index, name in enumerate(self._names)}
        # by state, then by part: a view sums one state over thousands of parts, without a look-up for each
        self._columns: dict[MetricKey, list[State | None]] = {}
        for name, part_states in states.items():
            for key, state in part_states.items():
                column = self._columns.get(key)
                if column is None:
                    column = self._columns[key] = [None] * len(self._names)
                column[self._indices[name]] = state
        self._stacks: dict[MetricKey, Stack[State]] = {}

    def __getitem__(self, part: Part | str) -> Analysis:
        name = _as_part(part)
        if name not in self._indices:
            raise KeyError(f"there is no part {name}; there are {len(self._names)}, the first {self._names[:3]}")
        return Analysis(self.schema, self.metrics, self._states_at(self._indices[name]), self.failed)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _states_at(self, index: int) -> dict[MetricKey, State]:
        states = ((key, column[index]) for key, column in self._columns.items())
        return {key: state for key, state in states if state is not None}

    # --- the three scenarios

    def view(
        self,
        parts: Iterable[Part | str] | None = None,
        /,
        *,
        metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
        **chosen: Choice,
    ) -> Analysis:
        """The analysis of the parts that match every choice: `view(region="EU", day=["mon", "tue"])`.

        If no part matches, every metric has the outcome of an empty batch.

        Args:
            parts: The parts to choose from; all by default.
            metrics: The metrics to measure; all by default. Only the states that they need are merged.
            chosen: For each column, a value, several values, or a function of the value's text.
        """
        wanted = self.metrics if metrics is None else self._choose_metrics(metrics)
        rows = self._find_rows(parts, chosen)
        needed = dict.fromkeys(each.state_key for each in wanted if each.key not in self.failed)
        merges = {key: partial(self._merge_state, key, rows) for key in needed if self._has_rows(key, rows)}
        failed = {each.key: self.failed[each.key] for each in wanted if each.key in self.failed}
        return merge_analyses(self.schema, wanted, merges, failed)

    def _has_rows(self, key: MetricKey, rows: Rows) -> bool:
        """Whether any of these parts has rows in the scope of a state. If none has, the state is the identity."""
        column = self._columns.get(key)
        return column is not None and any(column[row] is not None for row in rows.tolist())

    def _merge_state(self, key: MetricKey, rows: Rows) -> State | None:
        if len(rows) >= MANY:
            stack = self._stacks.get(key)
            if stack is None:
                stack = self._stacks[key] = _stack_states(self._columns[key])
            if stack is not _NOT_STACKABLE:
                return stack.merge_rows(rows)
        column = self._columns[key]
        return merge_states([state for state in (column[row] for row in rows.tolist()) if state is not None])

    def __or__(self, newer: Parts) -> Parts:
        """These parts, with the parts of `newer` added; those of the same name are replaced."""
        return self._combine_with(newer, {name: newer._states_at(at) for name, at in newer._indices.items()})

    def __add__(self, more: Parts) -> Parts:
        """These parts, with the rows of `more` added to the parts of the same name."""
        sums: dict[Part, dict[MetricKey, State]] = {}
        lost: dict[MetricKey, Failed] = {}
        for name in more:
            merged = self[name] + more[name] if name in self._indices else more[name]
            sums[name] = merged.states
            lost |= merged.failed
        return self._combine_with(more, sums, lost)

    def coarsen(self, by: Sequence[str], metrics: Iterable[Metric[Any] | MetricKey | str] | None = None) -> Parts:
        """Parts by fewer columns: those with the same values in them are merged."""
        unknown = [name for name in by if name not in self.by]
        if unknown:
            raise MisuseError(f"the parts are not told apart by {unknown[0]!r}; {did_you_mean(unknown[0], self.by)}")
        positions = [self.by.index(name) for name in by]
        groups: dict[Part, list[Part]] = {}
        for name in self._names:
            groups.setdefault(tuple(name[position] for position in positions), []).append(name)
        wanted = self.metrics if metrics is None else self._choose_metrics(metrics)
        views = {group: self.view(names, metrics=wanted) for group, names in groups.items()}
        lost = {key: failed for view in views.values() for key, failed in view.failed.items()}
        return Parts(by, self.schema, wanted, {group: view.states for group, view in views.items()}, lost)

    def with_metrics(self, other: Parts) -> Parts:
        """These parts with further metrics, from an analysis of the same parts."""
        states = {name: self._states_at(index) for name, index in self._indices.items()}
        for name, index in other._indices.items():
            states[name] = {**states.get(name, {}), **other._states_at(index)}
        asked = tuple(dict.fromkeys((*self.metrics, *other.metrics)))
        return Parts(self.by, self.schema, asked, states, {**self.failed, **other.failed})

    def only(self, metrics: Collection[Metric[Any]], schema: Schema | None = None) -> Parts:
        """These parts with some of their metrics, and with another schema if one is given."""
        parts = {name: self[name].only(metrics) for name in self}
        kept = tuple(each for each in self.metrics if each in metrics)
        failed = {each.key: self.failed[each.key] for each in kept if each.key in self.failed}
        states = {name: each.states for name, each in parts.items()}
        return Parts(self.by, self.schema if schema is None else schema, kept, states, failed)

    def finish(self) -> Parts:
        """These parts with finished states, after all that belong together were merged."""
        states = {name: self[name].finish().states for name in self}
        return Parts(self.by, self.schema, self.metrics, states, self.failed)

    def without(self, parts: Iterable[Part | str] | None = None, /, **chosen: Choice) -> Parts:
        """These parts without those that match every choice."""
        removed = set(self._find_rows(parts, chosen).tolist())
        kept = {name: self._states_at(index) for name, index in self._indices.items() if index not in removed}
        return Parts(self.by, self.schema, self.metrics, kept, self.failed)

    def group_by(self, column: str) -> dict[str | None, Parts]:
        """The parts with each value of a column, by the other columns."""
        if column not in self.by:
            raise MisuseError(f"these parts are not by {column!r}; {did_you_mean(column, self.by)}")
        at = self.by.index(column)
        groups: dict[str | None, dict[Part, Mapping[MetricKey, State]]] = {}
        for name, index in self._indices.items():
            groups.setdefault(name[at], {})[(*name[:at], *name[at + 1 :])] = self._states_at(index)
        others = (*self.by[:at], *self.by[at + 1 :])
        return {
            value: Parts(others, self.schema, self.metrics, states, self.failed) for value, states in groups.items()
        }

    def insert(self, column: str, value: str, by: Sequence[str]) -> Parts:
        """The parts by one column more, in which all have the same value; `by` says the new order."""
        named = {}
        for name, index in self._indices.items():
            values = {**dict(zip(self.by, name, strict=True)), column: value}
            named[tuple(values[each] for each in by)] = self._states_at(index)
        return Parts(by, self.schema, self.metrics, named, self.failed)

    def _combine_with(
        self,
        other: Parts,
        states: Mapping[Part, Mapping[MetricKey, State]],
        lost: Mapping[MetricKey, Failed] | None = None,
    ) -> Parts:
        if self.by != other.by:
            raise MisuseError(
                f"parts by {', '.join(self.by)} and parts by {', '.join(other.by)} do not go together.",
                hint="Analyze both with the same `by`.",
            )
        asked = tuple(dict.fromkeys((*self.metrics, *other.metrics)))
        shared = set(self.metrics) & set(other.metrics)
        failed = {each.key: Failed("only some of the parts have it") for each in asked if each not in shared}
        own = {name: self._states_at(index) for name, index in self._indices.items()}
        failed |= {**(lost or {}), **other.failed, **self.failed}
        return Parts(self.by, self.schema, asked, {**own, **states}, failed)

    def _choose_metrics(self, metrics: Iterable[Metric[Any] | MetricKey | str]) -> tuple[Metric[Any], ...]:
        if isinstance(metrics, (str, Metric, MetricKey)):
            metrics = [metrics]
        chosen = [each if isinstance(each, Metric) else from_key(each) for each in metrics]
        computed = {each.state_key for each in self.metrics}
        for metric in chosen:
            if metric.state_key not in computed:
                known = did_you_mean(str(metric.key), (str(each.key) for each in self.metrics))
                raise MisuseError(f"the states of these parts do not answer {metric.key}; {known}")
        return tuple(dict.fromkeys(chosen))

    def _find_rows(self, parts: Iterable[Part | str] | None, chosen: Mapping[str, Choice]) -> Rows:
        for label in chosen:
            if label not in self.by:
                raise MisuseError(f"these parts are not by {label!r}; {did_you_mean(label, self.by)}")
        names = self._names if parts is None else [_as_part(part) for part in parts]
        for label, choice in chosen.items():
            position, test = self.by.index(label), _make_test(choice)
            names = [name for name in names if test(name[position])]
        missing = [name for name in names if name not in self._indices]
        if missing:
            raise MisuseError(f"there is no part {missing[0]}.", hint="list(parts) has them all.")
        return np.array([self._indices[name] for name in dict.fromkeys(names)], np.intp)

    # --- keeping

    def to_bytes(self) -> bytes:
        """All parts in one checksummed envelope."""
        columns = [
            (str(key), [None if state is None else (tag_of(type(state)), pack_state(state)) for state in column])
            for key, column in self._columns.items()
        ]
        stored = _StoredParts(
            self.by,
            self.schema,
            [str(metric.key) for metric in self.metrics],
            self._names,
            columns,
            [(str(key), failed.why) for key, failed in self.failed.items()],
        )
        return seal(pack(stored), Head(_TAG, ""))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The parts in the bytes of `to_bytes`; truncated, altered or foreign bytes are refused before decoding."""
        head, body = unseal(data)
        if head.tag != _TAG:
            raise CorruptBytes(f"these bytes hold a {head.tag}, not parts.")
        metrics()  # importing all metrics registers their state types, which decoding needs
        try:
            stored = msgspec.msgpack.decode(body, type=_StoredParts)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise CorruptBytes(f"the bytes do not hold parts: {error}.") from None
        states: dict[Part, dict[MetricKey, State]] = {name: {} for name in stored.names}
        for text, column in stored.columns:
            key = MetricKey.parse(text)
            for name, packed in zip(stored.names, column, strict=True):
                if packed is not None:
                    states[name][key] = unpack_state(packed[1], packed[0])
        asked = tuple(from_key(key) for key in stored.metrics)
        failed = {MetricKey.parse(key): Failed(why) for key, why in stored.failed}
        return cls(stored.by, stored.schema, asked, states, failed)

    @classmethod
    def read(
        cls,
        store: History,
        revisions: Sequence[Revision],
        metrics: Iterable[Metric[Any] | MetricKey | str] | None = None,
    ) -> Self:
        """The parts that a store keeps as runs of a dataset: `Parts.read(store, store.last("orders", 30))`.

        If all partitions are named like `region=EU/day=2026-11-14`, the parts are by region and day; else by partition.
        Without `metrics`, they have those of the last run.
        """
        if not revisions:
            return cls(("partition",), Schema(), (), {}, {})
        newest = store.run(revisions[-1])
        given = newest.outcomes if metrics is None else metrics
        asked = tuple(each if isinstance(each, Metric) else from_key(each) for each in given)
        keys = list(dict.fromkeys(each.state_key for each in asked))
        by, names = parts_of([revision.partition for revision in revisions])
        states_of_runs = store.states(revisions, keys)
        missing = {
            key
            for revision, states in zip(revisions, states_of_runs, strict=True)
            if len(states) < len(keys)
            for key in set(keys) - set(states) - _state_keys_of(store.run(revision))
        }
        failed = {each.key: Failed("not every run has its state") for each in asked if each.state_key in missing}
        return cls(by, newest.schema, asked, dict(zip(names, states_of_runs, strict=True)), failed)

    def partition(self, part: Part) -> str:
        """The name of a part as a run's partition: `region=EU/day=2026-11-14`."""
        return partition_of(self.by, part)

    # --- for people

    def table(self, *asked: Metric[Any] | MetricKey | str, most: int | None = None) -> Table:
        """A table with a row for each part (or the first `most`) and the values of some metrics."""
        columns = self._choose_metrics(asked)
        rows = []
        for name in self._names[:most]:
            analysis = self.view([name], metrics=columns)
            cells = [analysis.cell(metric.key)[0] for metric in columns]
            rows.append((*("null" if value is None else value for value in name), *cells))
        titles = (*self.by, *(str(metric.key) for metric in columns))
        return Table(titles, tuple(rows), numeric=frozenset(range(len(self.by), len(titles))))

    def page(self) -> Page:
        more = [Note(f"... and {len(self) - _MAX_SHOWN:,} more")] if len(self) > _MAX_SHOWN else []
        return Page(self._title(), blocks=(Grid(self._preview_table()), *more) if len(self) else ())

    def _preview_table(self) -> Table:
        size = [metric for metric in self.metrics if metric.name == "size" and metric.where is None]
        return self.table(*size, most=_MAX_SHOWN)

    def _title(self) -> str:
        return f"{len(self):,} parts by {', '.join(self.by)}: {len(self.metrics)} metrics of each"


class History(Protocol):
    """What `Parts.read` needs of a store."""

    def run(self, revision: Revision) -> Run: ...

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]: ...


class _StoredParts(msgspec.Struct, frozen=True):
    by: tuple[str, ...]
    schema: Schema
    metrics: list[str]
    names: list[tuple[str | None, ...]]
    columns: list[tuple[str, list[tuple[str, bytes] | None]]]
    failed: list[tuple[str, str]]


def _state_keys_of(run: Run) -> set[MetricKey]:
    """The keys of the states behind the metrics of a run. One that is not stored had no rows in scope."""
    return {from_key(key).state_key for key, outcome in run.outcomes.items() if not isinstance(outcome, Failed)}


def _stack_states(column: Sequence[State | None]) -> Stack[State]:
    """The states as a stack, if all are mergeable and of one type."""
    kinds = {type(state) for state in column if state is not None}
    kind = kinds.pop()
    if kinds or not all(state.mergeable for state in column if state is not None):
        return _NOT_STACKABLE
    return kind.stack([kind() if state is None else state for state in column])


def _as_part(part: Part | str) -> Part:
    return (part,) if isinstance(part, str) else tuple(part)


def _make_test(choice: Choice) -> Callable[[str | None], bool]:
    if callable(choice):
        return choice
    if choice is None or isinstance(choice, (str, int, date)):
        choice = [choice]
    wanted = frozenset(map(text_of, choice))
    return lambda value: value in wanted
