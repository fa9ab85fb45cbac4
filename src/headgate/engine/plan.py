"""The plan of one scan: the columns, row predicates and folds that the requested metrics need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from operator import is_
from typing import Any, TypeAlias

import msgspec

from headgate.engine.nested import explain_mixed_rows, list_named
from headgate.metrics.base.metric import Membership, Metric, SchemaMetric
from headgate.metrics.base.registry import from_key
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Kind, Schema

RowQuestion: TypeAlias = str | Membership  # a SQL predicate, or a look-up in another table

EVERY_ROW = "true"
KEYS = frozenset({Kind.STRING, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE})  # kinds that Spark and Arrow print alike
_PLANS = 8  # that are kept


class Fold(msgspec.Struct, frozen=True):
    """One state to compute: the metric whose fold does it, and the positions of its inputs and of its filter."""

    metric: Metric[Any]
    positions: tuple[int, ...]
    scope: int | None


class Plan(msgspec.Struct, frozen=True, dict=True):
    """The plan of one scan. The inputs of folds are numbered: first the columns in `columns`, then the results of
    `predicates`, then those of `memberships`."""

    schema: Schema
    metrics: tuple[Metric[Any], ...]
    columns: tuple[int, ...]
    predicates: tuple[str, ...]
    folds: tuple[Fold, ...]
    failed: dict[MetricKey, Failed]
    by: tuple[int, ...] = ()  # the columns whose values name the part of a row
    memberships: tuple[Membership, ...] = ()  # look-ups in other tables
    keep: str = ""  # the folder for frequency tables that are too large for the driver
    whole: frozenset[MetricKey] = frozenset()  # states of the whole batch, though it is cut into parts

    @property
    def questions(self) -> tuple[RowQuestion, ...]:
        """The tests of every row. Their results are boolean inputs of folds, after the columns."""
        return (*self.predicates, *self.memberships)

    @property
    def reads_nested(self) -> bool:
        """Whether a fold needs values of nested columns, and not only whether there is one."""
        return any(fold.metric.every_column for fold in self.folds)

    @cached_property
    def countable(self) -> frozenset[int]:
        """The columns, by position in the schema, of which folds need only how many values of all rows are null."""
        if self.by:
            return frozenset()
        reading = [fold for fold in self.folds if fold.metric.reads_values or fold.scope is not None]
        read = {at for fold in reading for at in fold.positions}
        return frozenset(column for at, column in enumerate(self.columns) if at not in read)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of the inputs of folds, by position."""
        columns = [self.schema.columns[position] for position in self.columns]
        kinds = tuple(
            Kind.STRING if column.empty else column.kind for column in columns
        )  # it has no values, so any kind works
        return kinds + (Kind.BOOLEAN,) * len(self.questions)

    @cached_property
    def hashed_positions(self) -> dict[int | None, tuple[int, ...]]:
        """The inputs whose values folds hash, by the filter of the folds."""
        hashed: dict[int | None, dict[int, None]] = {}
        for fold in self.folds:
            if fold.metric.hashes_values:
                hashed.setdefault(fold.scope, {}).update(dict.fromkeys(fold.positions))
        return {scope: tuple(positions) for scope, positions in hashed.items()}

    @cached_property
    def repeated_flags(self) -> tuple[bool, ...]:
        """Whether rows have any number of values of an input, by position: a list for each row."""
        columns = tuple(self.schema.columns[position].repeated for position in self.columns)
        many = self.schema.repeated_labels
        predicates = tuple(bool(list_named(text, many)) for text in self.predicates)
        return columns + predicates + (False,) * len(self.memberships)

    def without(self, question: RowQuestion, why: str) -> Plan:
        """The same plan without the metrics that need a predicate or a look-up that cannot be evaluated."""
        lost = {each.key: Failed(why) for each in self.metrics if question in (*_predicates(each), *each.memberships)}
        return self.of(self.metrics, {**self.failed, **lost})

    def of(self, asked: Iterable[Metric[Any]], failed: dict[MetricKey, Failed] | None = None) -> Plan:
        """A plan for other metrics over the same parts of the same batch."""
        by = [self.schema.columns[at].label for at in self.by]
        return make_plan(self.schema, asked, failed, by=by, keep=self.keep, whole=self.whole)

    def text(self) -> str:
        """The plan as text, for reading and for golden files."""
        questions = [f"[{question}]" for question in self.questions]
        labels = [self.schema.columns[at].label for at in self.columns] + questions
        parts = " of each " + ", ".join(self.schema.columns[at].label for at in self.by) if self.by else ""
        scan = f"scan of {len(self.columns)} columns, {len(questions)} predicates"
        lines = [f"{scan} -> {len(self.folds)} states{parts}"]
        for fold in self.folds:
            inputs = ", ".join(labels[at] for at in fold.positions)
            scope = "" if fold.scope is None else f" where {labels[fold.scope]}"
            readers = [each.name for each in self.metrics if each.state_key == fold.metric.state_key]
            lines.append(f"  {fold.metric.folded}({inputs}){scope} -> {', '.join(readers)}")
        lines += [f"  failed: {key}: {failed.why}" for key, failed in self.failed.items()]
        return "\n".join(lines)


def make_plan(
    schema: Schema,
    asked: Iterable[Metric[Any] | MetricKey | str],
    failed: dict[MetricKey, Failed] | None = None,
    by: Sequence[str] = (),
    keep: str = "",
    whole: frozenset[MetricKey] = frozenset(),
) -> Plan:
    """The plan that measures all of these metrics. Equal metrics are planned once; a shared state is folded once."""
    metrics = tuple(dict.fromkeys([each if isinstance(each, Metric) else from_key(each) for each in asked]))
    if failed or whole:
        return _plan_scan(schema, metrics, dict(failed or {}), tuple(by), keep, whole)
    plan = _recall_plan(schema, metrics, tuple(by), keep)
    # equal metrics may be written in two ways, such as q=1 and q=1.0
    is_same = all(map(is_, plan.metrics, metrics))
    return plan if is_same else _plan_scan(schema, metrics, {}, tuple(by), keep, whole)


@lru_cache(maxsize=_PLANS)
def _recall_plan(schema: Schema, metrics: tuple[Metric[Any], ...], by: tuple[str, ...], keep: str) -> Plan:
    """The plan of a scan, or that of an equal one before: many batches are scanned alike."""
    return _plan_scan(schema, metrics, {}, by, keep, frozenset())


def _plan_scan(
    schema: Schema,
    metrics: tuple[Metric[Any], ...],
    failures: dict[MetricKey, Failed],
    by: tuple[str, ...],
    keep: str,
    whole: frozenset[MetricKey],
) -> Plan:
    positions, many = schema.positions(), frozenset(schema.repeated_labels)
    for metric in metrics:
        why = _explain_unfit(metric.key, metric.inputs, metric.accepts, schema, positions)
        why = why or explain_mixed_rows(metric, many)
        if why and metric.key not in failures:
            failures[metric.key] = Failed(why)
    sound = [each for each in metrics if each.key not in failures and not isinstance(each, SchemaMetric)]
    columns = sorted({positions[label] for each in sound for label in _inputs(each, schema)})
    predicates = sorted({text for each in sound for text in _predicates(each)})
    memberships = sorted({test for each in sound for test in each.memberships}, key=str)
    column_inputs = {schema.columns[column].label: position for position, column in enumerate(columns)}
    questions: list[RowQuestion] = [*predicates, *memberships]
    question_inputs = {question: len(columns) + position for position, question in enumerate(questions)}
    readers: dict[MetricKey, Metric[Any]] = {}  # the first metric of each state
    for metric in sound:
        readers.setdefault(metric.state_key, metric)
    folds = [_fold(each, _inputs(each, schema), column_inputs, question_inputs) for each in readers.values()]
    return Plan(
        schema,
        metrics,
        tuple(columns),
        tuple(predicates),
        tuple(folds),
        failures,
        by=part_keys(schema, by),
        memberships=tuple(memberships),
        keep=keep,
        whole=whole,
    )


def part_keys(schema: Schema, by: Sequence[str]) -> tuple[int, ...]:
    """The positions of the columns whose values name the parts of a batch; raises if a column cannot."""
    positions = schema.positions()
    for label in by:
        if label not in positions:
            raise MisuseError(f"by names the column {label!r}; {did_you_mean(label, schema.labels)}")
        column = schema.columns[positions[label]]
        if column.repeated:
            raise MisuseError(f"by names {label!r}, which has any number of values in a row.")
        if column.kind not in KEYS:
            raise MisuseError(
                f"{label!r} is a {column.type} column, whose values are not written alike everywhere.",
                hint="Partition by strings, whole numbers, booleans or dates; derive such a column first.",
            )
    return tuple(positions[label] for label in dict.fromkeys(by))


def _inputs(metric: Metric[Any], schema: Schema) -> tuple[str, ...]:
    return schema.top_labels if metric.every_column else metric.inputs


def _fold(
    metric: Metric[Any],
    inputs: Sequence[str],
    column_inputs: dict[str, int],
    question_inputs: dict[RowQuestion, int],
) -> Fold:
    questions: tuple[RowQuestion, ...] = (*metric.predicates, *metric.memberships)
    positions = tuple(column_inputs[label] for label in inputs) + tuple(
        question_inputs[question] for question in questions
    )
    return Fold(metric, positions, None if metric.where is None else question_inputs[metric.where])


def _predicates(metric: Metric[Any]) -> tuple[str, ...]:
    return metric.predicates if metric.where is None else (*metric.predicates, metric.where)


def explain_unfit(key: MetricKey, labels: Sequence[str], accepts: frozenset[Kind], schema: Schema) -> str:
    """Why a metric or distance that reads these columns cannot be computed on this schema; empty if it can.

    Args:
        key: The key of the metric.
        labels: The columns that it reads.
        accepts: The kinds of columns that it accepts.
        schema: The columns of the batch.
    """
    return _explain_unfit(key, labels, accepts, schema, schema.positions())


def _explain_unfit(
    key: MetricKey, labels: Sequence[str], accepts: frozenset[Kind], schema: Schema, positions: dict[str, int]
) -> str:
    for label in labels:
        if label not in positions:
            return f"{key} names the column {label!r}; {did_you_mean(label, schema.labels)}"
        column = schema.columns[positions[label]]
        if column.kind not in accepts and not column.empty:
            return (
                f"{key.name} does not accept {column.type} columns, which {label!r} is; {_describe_accepted(accepts)}"
            )
    return ""


def _describe_accepted(kinds: frozenset[Kind]) -> str:
    return "it accepts " + ", ".join(kind.value for kind in Kind if kind in kinds) + "."
