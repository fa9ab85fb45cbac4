"""Learn pattern rules of text columns from the value samples of a scan, and carry them from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from headgate.learn.past import Past
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.propose import propose_pattern
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.metrics.pattern_match import PatternMatch
from headgate.metrics.states.sample import Sample
from headgate.metrics.value_sample import ValueSample
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.proposal import Proposal
from headgate.values.schema import Kind, Schema
from headgate.values.state import State

MIN_VALUES = 20  # sampled values below which no rule is learned
BREAK_RATE_LIMITS = (0.185, 0.0378)  # upper limits of the rate at which good values break a rule, one per rule
MAX_CUT_SHARE = 0.001  # share of rows whose value is too long to be sampled, above which no rule is learned
MAX_EXPANDED_VALUES = 1_000  # values that a sample is expanded to, about


def sample_metrics(schema: Schema, scope: LearningScope = WHOLE_TABLE) -> list[ValueSample]:
    """The metrics that a scan must measure so that rules can be learned: a value sample of every text column."""
    labels = (column.label for column in schema.columns if column.kind is Kind.STRING)
    return [ValueSample(label) for label in labels if scope.learns_metric(MetricKey(PatternMatch.name, (label,)))]


def learn_rules(
    states: Mapping[MetricKey, State],
    outcomes: Mapping[MetricKey, Outcome],
    known_rules: Sequence[Proposal],
    index: PatternIndex,
) -> tuple[Proposal, ...]:
    """The rules for the next batch, if this one is accepted.

    A column keeps its known rules if this batch meets them all. A column without rules, or with a broken one, gets new
    ones. A rule that contains text of the data is left out: a store that hides values must not get it, and the verdict
    on a batch does not depend on whether its store does.
    """
    known_by_column: dict[str, list[Proposal]] = {}
    for rule in known_rules:
        known_by_column.setdefault(rule.column, []).append(rule)
    sampled_columns = {key.columns[0] for key, state in states.items() if isinstance(state, Sample)}
    # A column that this batch has no sample of keeps its rules.
    next_rules = [each for each in known_rules if each.column not in sampled_columns]
    for key, state in states.items():
        if isinstance(state, Sample):
            rules = known_by_column.get(key.columns[0], [])
            still_hold = rules and all(_rule_holds(each, outcomes) for each in rules)
            next_rules += rules if still_hold else _infer_rules(state, key.columns[0], index)
    return tuple(next_rules)


def reprice(rules: Iterable[Proposal], past: Past | None) -> list[Proposal]:
    """The rules with their current cost: what held for many runs is less likely to fail in the next, and the reverse.

    The pattern index states the probability that good values of the column ever break the rule. Of n + 1 runs, the next
    is the first to break it with at most 1 / (n + 1) of that probability. Each accepted run that broke it counts as
    one more: so a rule that good batches break is not affordable again.
    """
    index_of_key = {} if past is None else {each.key: index for index, each in enumerate(past.metrics)}
    repriced = []
    for rule in rules:
        expectation, held, broken = rule.expectation, 0, 0
        if past is not None and expectation.metric in index_of_key:
            series = past.values[:, index_of_key[expectation.metric]]
            measured = series[~np.isnan(series)].tolist()
            held = sum(expectation.predicate.holds(value) for value in measured)
            broken = len(measured) - held
        rate = min(1.0, ((expectation.false_alarm or 0.0) + broken) / (held + broken + 1))
        words = [f"held in {held} run{'s' * (held > 1)}"] * (held > 0) + [f"broken in {broken}"] * (broken > 0)
        new_expectation = msgspec.structs.replace(expectation, false_alarm=rate)
        repriced.append(msgspec.structs.replace(rule, expectation=new_expectation, note="; ".join([rule.note, *words])))
    return repriced


def applicable(rules: Iterable[Proposal], schema: Schema, scope: LearningScope = WHOLE_TABLE) -> list[MetricKey]:
    """The metrics of the rules whose columns are text columns of the schema that are learned from.

    Rules come from the store. One with a predicate was not learned, and its SQL must not run.
    """
    text_columns = {column.label for column in schema.columns if column.kind is Kind.STRING}
    metrics = (each.expectation.metric for each in rules if each.column in text_columns)
    return [metric for metric in metrics if metric.where is None and scope.learns_metric(metric)]


def _rule_holds(rule: Proposal, outcomes: Mapping[MetricKey, Outcome]) -> bool:
    outcome = outcomes.get(rule.expectation.metric)
    return outcome is not None and rule.expectation.judge(outcome).status is Status.PASS


def _infer_rules(sample: Sample, column: str, index: PatternIndex) -> list[Proposal]:
    """New rules of a column, at most one per limit of `BREAK_RATE_LIMITS`.

    The narrow rule becomes affordable after it has held for some runs; a small budget can pay for the wide one at once.
    """
    values = expand_sample(sample)
    if len(values) < MIN_VALUES or sample.cut_share > MAX_CUT_SHARE:
        return []
    rules = {str(rule): rule for limit in BREAK_RATE_LIMITS if (rule := index.infer(values, limit=limit)) is not None}
    return [propose_pattern(rule, column, values) for rule in rules.values() if not rule.literal_text]


def expand_sample(sample: Sample) -> pa.Array:
    """The sampled values, each as often as it occurs, or proportionally fewer times if these are too many."""
    counted_texts = [(each.text, each.count) for each in sample.values if each.text is not None]
    total = sum(count for _, count in counted_texts)
    share = min(1.0, MAX_EXPANDED_VALUES / total) if total else 1.0
    texts = [text for text, count in counted_texts for _ in range(max(1, round(count * share)))]
    return pa.array(texts, pa.string())
