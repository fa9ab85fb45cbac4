"""What one scan of a batch must compute: which columns, which row predicates, which folds, and for which metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import msgspec

from headgate.metrics.base.metric import Membership, Metric, SchemaMetric
from headgate.metrics.base.registry import from_key
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Kind, Schema

RowQuestion: TypeAlias = str | Membership  # a SQL predicate, or a look-up in another table

EVERY_ROW = "true"
KEYS = frozenset({Kind.STRING, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE})  # written alike by Spark and by Arrow


class Fold(msgspec.Struct, frozen=True):
    """One state to compute: the metric whose fold does it, where its inputs stand, and where its filter does."""

    metric: Metric[Any]
    positions: tuple[int, ...]
    scope: int | None


class Plan(msgspec.Struct, frozen=True):
    """One scan. Inputs of folds are positions: first the columns in `columns`, then the results of `predicates`, then
    those of `memberships`."""

    schema: Schema
    metrics: tuple[Metric[Any], ...]
    columns: tuple[int, ...]
    predicates: tuple[str, ...]
    folds: tuple[Fold, ...]
    failed: dict[MetricKey, Failed]
    by: tuple[int, ...] = ()  # the columns whose values say to which part of the batch a row belongs
    memberships: tuple[Membership, ...] = ()  # look-ups in other tables
    keep: str = ""  # the folder for frequency tables that are too large for the driver

    @property
    def questions(self) -> tuple[RowQuestion, ...]:
        """What is asked of every row; the answers are boolean inputs of folds, after the columns."""
        return (*self.predicates, *self.memberships)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of a fold's inputs, by position."""
        held = [self.schema.columns[at] for at in self.columns]
        own = tuple(Kind.STRING if column.empty else column.kind for column in held)  # no values: any kind would do
        return own + (Kind.BOOLEAN,) * len(self.questions)

    def without(self, question: RowQuestion, why: str) -> Plan:
        """The same plan without the metrics that need a predicate or a look-up that cannot be evaluated."""
        lost = {each.key: Failed(why) for each in self.metrics if question in (*_predicates(each), *each.memberships)}
        return self.of(self.metrics, {**self.failed, **lost})

    def of(self, asked: Iterable[Metric[Any]], failed: dict[MetricKey, Failed] | None = None) -> Plan:
        """The plan of other metrics over the same parts of the same batch."""
        by = [self.schema.columns[at].label for at in self.by]
        return make_plan(self.schema, asked, failed, by=by, keep=self.keep)

    def text(self) -> str:
        """The plan for people and for golden files."""
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
) -> Plan:
    """The least work that measures all of these: equal metrics once, metrics that share a state folded once."""
    metrics = tuple(dict.fromkeys(each if isinstance(each, Metric) else from_key(each) for each in asked))
    failures = dict(failed or {})
    places = schema.positions()
    for each in metrics:
        why = _unfit(each, schema, places)
        if why and each.key not in failures:
            failures[each.key] = Failed(why)
    sound = [each for each in metrics if each.key not in failures and not isinstance(each, SchemaMetric)]
    columns = sorted({places[label] for each in sound for label in each.inputs})
    predicates = sorted({text for each in sound for text in _predicates(each)})
    memberships = sorted({test for each in sound for test in each.memberships}, key=str)
    at = {schema.columns[column].label: position for position, column in enumerate(columns)}
    questions: list[RowQuestion] = [*predicates, *memberships]
    met = {question: len(columns) + position for position, question in enumerate(questions)}
    folds = {each.state_key: _fold(each, at, met) for each in reversed(sound)}
    ordered = tuple(folds[key] for key in dict.fromkeys(each.state_key for each in sound))
    return Plan(
        schema,
        metrics,
        tuple(columns),
        tuple(predicates),
        ordered,
        failures,
        by=part_keys(schema, by),
        memberships=tuple(memberships),
        keep=keep,
    )


def part_keys(schema: Schema, by: Sequence[str]) -> tuple[int, ...]:
    """Where the columns stand that tell the parts of a batch apart; misuse, where they cannot."""
    places = schema.positions()
    for label in by:
        if label not in places:
            raise MisuseError(f"by names the column {label!r}; {did_you_mean(label, schema.labels)}")
        column = schema.columns[places[label]]
        if column.kind not in KEYS:
            raise MisuseError(
                f"{label!r} is a {column.type} column, whose values are not written alike everywhere.",
                hint="Partition by strings, whole numbers, booleans or dates; derive such a column first.",
            )
    return tuple(places[label] for label in dict.fromkeys(by))


def _fold(metric: Metric[Any], at: dict[str, int], met: dict[RowQuestion, int]) -> Fold:
    questions: tuple[RowQuestion, ...] = (*metric.predicates, *metric.memberships)
    positions = tuple(at[label] for label in metric.inputs) + tuple(met[question] for question in questions)
    return Fold(metric, positions, None if metric.where is None else met[metric.where])


def _predicates(metric: Metric[Any]) -> tuple[str, ...]:
    return metric.predicates if metric.where is None else (*metric.predicates, metric.where)


def _unfit(metric: Metric[Any], schema: Schema, places: dict[str, int]) -> str:
    """Why this batch cannot have this metric, if it cannot."""
    for label in metric.inputs:
        if label not in places:
            return f"{metric.key} names the column {label!r}; {did_you_mean(label, schema.labels)}"
        column = schema.columns[places[label]]
        if column.kind not in metric.accepts and not column.empty:
            accepted = _describe_accepted(metric.accepts)
            return f"{metric.name} does not accept {column.type} columns, which {label!r} is; {accepted}"
    return ""


def _describe_accepted(kinds: Sequence[Kind] | frozenset[Kind]) -> str:
    return "it accepts " + ", ".join(kind.value for kind in Kind if kind in kinds) + "."
