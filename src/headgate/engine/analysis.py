"""The result of one scan: states, and the metrics measured from them. It prints, merges, saves and loads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from typing import Any

import msgspec

from headgate.display.blocks import Grid, Mark, Note, Tone
from headgate.display.numbers import format_moment, format_number
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.scan import merge_states
from headgate.metrics.base.metric import Metric, SchemaMetric
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.states.kept import KeptGroups
from headgate.values.codec import Head, pack, pack_state, seal, unpack_state, unseal
from headgate.values.errors import CorruptBytes, MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined, to_json_number
from headgate.values.schema import Kind, Schema
from headgate.values.state import State, tag_of

_TAG = "analysis"
_MAX_SHOWN = 120  # metrics that a terminal or a notebook cell shows
_MAX_FAILURES = 20
_TOO_LARGE = "it has too many groups to keep for merging; analyze both batches together, or use unique_ratio"


class Analysis(Paged, Mapping[MetricKey, Outcome]):
    """Outcomes by metric: `analysis["mean(price)"]`, `analysis[hg.Mean("price")]`, `analysis.value("mean(price)")`.

    `first + second` is the analysis of both batches together. `hg.analyze` makes analyses.

    Args:
        schema: The columns of the batch.
        asked: The metrics, in the order in which they are listed.
        states: The states of the batch, by the state keys of the metrics.
        failed: The metrics that could not be computed, each with the reason.
    """

    def __init__(
        self,
        schema: Schema,
        asked: tuple[Metric[Any], ...],
        states: Mapping[MetricKey, State],
        failed: Mapping[MetricKey, Failed],
    ) -> None:
        self.schema = schema
        self.metrics = asked
        self.states = dict(states)
        self.failed = dict(failed)

    @cached_property
    def outcomes(self) -> dict[MetricKey, Outcome]:
        """The outcome of every requested metric, in the order of the request, measured from the states."""
        return {metric.key: self._measure_metric(metric) for metric in self.metrics}

    def _measure_metric(self, metric: Metric[Any]) -> Outcome:
        if metric.key in self.failed:
            return self.failed[metric.key]
        if isinstance(metric, SchemaMetric):
            return metric.of(self.schema)
        state = self.states.get(metric.state_key)
        if state is None:
            state = metric.state()
        if isinstance(state, KeptGroups):
            return Failed(f"its {state.groups:,} groups are kept in files; analysis.resolve(spark) merges them")
        try:
            return metric.measure(state)
        except Exception as error:
            return Failed(f"measuring {metric.key} raised {type(error).__name__}: {error}")

    def __getitem__(self, key: MetricKey | Metric[Any] | str) -> Outcome:
        wanted = key.key if isinstance(key, Metric) else MetricKey.parse(key) if isinstance(key, str) else key
        if wanted not in self.outcomes:
            raise KeyError(f"{wanted} was not asked for; {did_you_mean(str(wanted), map(str, self.outcomes))}")
        return self.outcomes[wanted]

    def __iter__(self) -> Iterator[MetricKey]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.metrics)

    def value(self, key: MetricKey | Metric[Any] | str) -> float | Distribution:
        """The measured value; raises an error with the reason if there is none."""
        match self[key]:
            case Measured(value):
                return value
            case Undefined(why) | Failed(why):
                message = f"{key} has no value: {why.rstrip('.')}."
                raise MisuseError(message, hint="Index the analysis to get the outcome itself.")

    def __add__(self, other: Analysis) -> Analysis:
        """The analysis of both batches together, from their states alone."""
        metrics = tuple(dict.fromkeys((*self.metrics, *other.metrics)))
        failed = {**other.failed, **self.failed}
        computed = self._state_keys() & other._state_keys()
        failed |= {
            metric.key: Failed("only one of the two analyses computed it")
            for metric in metrics
            if not isinstance(metric, SchemaMetric) and metric.state_key not in computed and metric.key not in failed
        }
        merges = {
            key: partial(merge_states, [each.states[key] for each in (self, other) if key in each.states])
            for key in dict.fromkeys((*self.states, *other.states))
            if key in computed
        }
        return merge_analyses(_merge_schemas(self.schema, other.schema), metrics, merges, failed)

    def only(self, metrics: Collection[Metric[Any]], schema: Schema | None = None) -> Analysis:
        """This analysis with some of its metrics, and with another schema if one is given."""
        kept = tuple(each for each in self.metrics if each in metrics)
        keys = {each.state_key for each in kept}
        states = {key: state for key, state in self.states.items() if key in keys}
        failed = {each.key: self.failed[each.key] for each in kept if each.key in self.failed}
        return Analysis(self.schema if schema is None else schema, kept, states, failed)

    def finish(self) -> Analysis:
        """This analysis with finished states, after all that belong together were merged."""
        states = {key: state.finish() for key, state in self.states.items()}
        return Analysis(self.schema, self.metrics, states, self.failed)

    def resolve(self, spark: Any) -> Analysis:
        """This analysis after Spark has merged the frequency tables that are kept as Parquet, all in one job."""
        if not any(isinstance(state, KeptGroups) for state in self.states.values()):
            return self
        from headgate.engine.spark import merge_kept

        merged = merge_kept(spark, self.schema, self.metrics, self.states, self.failed)
        states = {key: state for key, state in self.states.items() if not isinstance(state, KeptGroups)}
        return Analysis(self.schema, self.metrics, states | merged.states[()], self.failed | merged.failed)

    def _state_keys(self) -> set[MetricKey]:
        """The keys of the computed states. One that is not in `states` is the identity: no row was in its scope."""
        return {metric.state_key for metric in self.metrics if metric.key not in self.failed}

    # --- bytes

    def to_bytes(self) -> bytes:
        """The whole analysis in one checksummed envelope."""
        body = pack(
            _StoredAnalysis(
                self.schema,
                [str(metric.key) for metric in self.metrics],
                [(str(key), tag_of(type(state)), pack_state(state)) for key, state in self.states.items()],
                [(str(key), failed.why) for key, failed in self.failed.items()],
            )
        )
        return seal(body, Head(_TAG, ""))

    @classmethod
    def from_bytes(cls, data: bytes) -> Analysis:
        """The analysis in the bytes of `to_bytes`; truncated, altered or foreign bytes are refused before decoding."""
        head, body = unseal(data)
        if head.tag != _TAG:
            raise CorruptBytes(f"these bytes hold a {head.tag}, not an analysis.")
        metrics()  # importing all metrics registers their state types, which decoding needs
        try:
            stored = msgspec.msgpack.decode(body, type=_StoredAnalysis)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise CorruptBytes(f"the bytes do not hold an analysis: {error}.") from None
        return cls(
            stored.schema,
            tuple(from_key(key) for key in stored.metrics),
            {MetricKey.parse(key): unpack_state(state, tag) for key, tag, state in stored.states},
            {MetricKey.parse(key): Failed(why) for key, why in stored.failed},
        )

    # --- for people

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the key of every metric with its value, or with the reason why it has none.

        An infinite value is None, since JSON has no infinities.
        """
        return {str(key): _to_plain(outcome) for key, outcome in self.outcomes.items()}

    def table(self, most: int | None = None) -> Table:
        """A table of all metrics (or the first `most`) with their values, or with the reason why there is none."""
        rows = [(*_split_key(key), *self.cell(key)) for key in islice(self.outcomes, most)]
        return Table(("columns", "metric", "value", "note"), tuple(rows), numeric=frozenset({2}))

    def cell(self, key: MetricKey) -> tuple[str, str]:
        """The value of a metric as displayed, and a note."""
        match self.outcomes[key]:
            case Measured(value):
                if isinstance(value, Distribution):
                    return _summarize_labels(value)
                return _format_value(value, self._column_kind(key), key.name), ""
            case Undefined(why):
                return "—", why
            case Failed(why):
                return "failed", why

    def _column_kind(self, key: MetricKey) -> Kind | None:
        positions = self.schema.positions()
        kinds = [self.schema.columns[positions[label]].kind for label in key.columns if label in positions]
        return kinds[0] if len(kinds) == 1 else None

    def page(self) -> Page:
        outcomes = islice(self.outcomes.values(), _MAX_SHOWN)
        marks = tuple(Mark(Tone.BAD if isinstance(each, Failed) else Tone.PLAIN) for each in outcomes)
        grid = [Grid(self.table(_MAX_SHOWN), marks=marks, marked=2)] if self.metrics else []
        return Page(self._title(), blocks=(*grid, *map(Note, self._describe_rest())))

    def _title(self) -> str:
        return f"{len(self.metrics)} metrics of {len(self.schema.columns)} columns, from {len(self.states)} states"

    def _describe_rest(self) -> list[str]:
        """A note about the metrics that are not shown, and the failures among them, which must not be missed."""
        if len(self.metrics) <= _MAX_SHOWN:
            return []
        hidden = list(self.outcomes.items())[_MAX_SHOWN:]
        failures = [f"failed: {key}: {outcome.why}" for key, outcome in hidden if isinstance(outcome, Failed)]
        return [f"... and {len(hidden):,} more; analysis.table().text() has them all", *failures[:_MAX_FAILURES]]


def merge_analyses(
    schema: Schema,
    metrics: tuple[Metric[Any], ...],
    merges: Mapping[MetricKey, Callable[[], State | None]],
    failed: Mapping[MetricKey, Failed],
) -> Analysis:
    """The analysis of several batches together; `merges` has a function for each state key that merges their states."""
    states: dict[MetricKey, State] = {}
    lost: dict[MetricKey, Failed] = {}
    for key, merge in merges.items():
        try:
            state = merge()
        except Exception as error:
            lost[key] = Failed(f"merging {key} raised {type(error).__name__}: {error}")
            continue
        if state is None:
            lost[key] = Failed(_TOO_LARGE)
        else:
            states[key] = state
    failures = {each.key: lost[each.state_key] for each in metrics if each.state_key in lost} | dict(failed)
    return Analysis(schema, metrics, states, failures)


class _StoredAnalysis(msgspec.Struct, frozen=True):
    schema: Schema
    metrics: list[str]
    states: list[tuple[str, str, bytes]]
    failed: list[tuple[str, str]]


def _to_plain(outcome: Outcome) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(outcome)
    if isinstance(outcome, Measured) and isinstance(outcome.value, float):
        plain["value"] = to_json_number(outcome.value)
    return plain


def _split_key(key: MetricKey) -> tuple[str, str]:
    """The column and the rest of a key, for a table."""
    rest = MetricKey(key.name, (), key.parameters, key.where)
    return ", ".join(key.columns), str(rest).replace(f"{key.name}()", key.name, 1)


def _summarize_labels(distribution: Distribution) -> tuple[str, str]:
    """How many labels there are, and the first of them with their shares."""
    top = ", ".join(
        f"{label} {count / distribution.total:.1%}" for label, count in list(distribution.counts.items())[:3]
    )
    more = len(distribution.counts) - 3
    note = f"{top}, {more} more" if more > 0 else top or "none is frequent"
    return f"{len(distribution.counts):,} label{'s' * (len(distribution.counts) != 1)}", note


_POINTS_IN_TIME = frozenset({"min", "max", "mean", "median", "approx_quantile"})


def _format_value(value: float, kind: Kind | None, name: str) -> str:
    if kind in (Kind.DATE, Kind.TIMESTAMP) and name in _POINTS_IN_TIME:
        return format_moment(value, whole_days=kind is Kind.DATE)
    return format_number(value)


def _merge_schemas(first: Schema, second: Schema) -> Schema:
    """The columns of both; for a label in both, the column of the first."""
    known = set(first.labels)
    return Schema(first.columns + tuple(column for column in second.columns if column.label not in known))
