"""Learn pattern rules of text columns from the value samples of a scan, and carry them from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.learn.past import Past
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.propose import propose_pattern
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.metrics.base.metric import NO_VALUES
from headgate.metrics.base.registry import from_key
from headgate.metrics.pattern_match import PatternMatch
from headgate.metrics.states.sample import Sample
from headgate.metrics.value_sample import ValueSample
from headgate.values.errors import BadPredicate
from headgate.values.expectation import Expectation, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
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
    ones; a rule that was known keeps the counts of the runs that met and broke it. A rule that contains text of the
    data is left out: a store that hides values must not get it, and the verdict on a batch does not depend on whether
    its store does.
    """
    known_by_column: dict[str, list[Proposal]] = {}
    for rule in known_rules:
        known_by_column.setdefault(rule.column, []).append(rule)
    sampled_columns = {key.columns[0] for key, state in states.items() if isinstance(state, Sample)}
    # A column that this batch has no sample of keeps its rules.
    next_rules = [each for each in known_rules if each.column not in sampled_columns]
    for key, state in states.items():
        if isinstance(state, Sample):
            known = [_count_run(each, outcomes) for each in known_by_column.get(key.columns[0], [])]
            still_hold = known and all(_rule_holds(each, outcomes) for each in known)
            next_rules += known if still_hold else _carry_counts(_infer_rules(state, key.columns[0], index), known)
    return tuple(next_rules)


def measure_on_samples(
    rules: Iterable[Proposal], states: Mapping[MetricKey, State], outcomes: Mapping[MetricKey, Outcome]
) -> dict[MetricKey, Outcome]:
    """The outcomes of rules that a scan did not measure, since they were not known then: of the sampled values alone.

    A value that is not in the sample is not seen.
    """
    found: dict[MetricKey, Outcome] = {}
    for rule in rules:
        key, sample = rule.expectation.metric, states.get(ValueSample(rule.column).state_key)
        metric = from_key(key)
        if key not in outcomes and isinstance(metric, PatternMatch) and isinstance(sample, Sample):
            texts, counts = sample.list_texts()
            met = pc.match_substring_regex(texts, metric.pattern).to_numpy(zero_copy_only=False)
            found[key] = Measured(float(counts[met].sum() / counts.sum())) if len(counts) else Undefined(NO_VALUES)
    return found


def reprice(rules: Iterable[Proposal], past: Past | None = None) -> list[Proposal]:
    """The rules with their current cost: what held for many runs is less likely to fail in the next, and the reverse.

    The pattern index states the probability that good values of the column ever break the rule. Of n + 1 runs, the next
    is the first to break it with at most 1 / (n + 1) of that probability. Each good run that broke it counts as one
    more. The runs of the past are counted anew, since some may have come late or been rejected.

    Args:
        rules: The rules, with the runs that met and broke them so far.
        past: The runs that are learned from.
    """
    repriced = []
    for rule in rules:
        window = _count_runs(rule.expectation, past)
        held, broken = max(rule.runs_held, window[0]), max(rule.runs_broken, window[1])
        rate = min(1.0, ((rule.expectation.false_alarm or 0.0) + broken) / (held + broken + 1))
        words = [f"held in {held} run{'s' * (held > 1)}"] * (held > 0) + [f"broken in {broken}"] * (broken > 0)
        expectation = msgspec.structs.replace(rule.expectation, false_alarm=rate)
        repriced.append(msgspec.structs.replace(rule, expectation=expectation, note="; ".join([rule.note, *words])))
    return repriced


def _count_runs(expectation: Expectation, past: Past | None) -> tuple[int, int]:
    """How many runs of the past met an expectation and how many broke it."""
    if past is None or all(each.key != expectation.metric for each in past.metrics):
        return 0, 0
    series = past.series(expectation.metric)
    met = [expectation.predicate.holds(value) for value in series[~np.isnan(series)].tolist()]
    return sum(met), len(met) - sum(met)


def applicable(rules: Iterable[Proposal], schema: Schema, scope: LearningScope = WHOLE_TABLE) -> list[MetricKey]:
    """The metrics of the rules whose columns are text columns of the schema that are learned from.

    Rules come from the store. One with a predicate was not learned, and its SQL must not run.
    """
    text_columns = {column.label for column in schema.columns if column.kind is Kind.STRING}
    metrics = (each.expectation.metric for each in rules if each.column in text_columns)
    return [metric for metric in metrics if metric.where is None and scope.learns_metric(metric)]


def _count_run(rule: Proposal, outcomes: Mapping[MetricKey, Outcome]) -> Proposal:
    """The rule after this batch, if it was measured."""
    if not isinstance(outcomes.get(rule.expectation.metric), Measured):
        return rule
    if _rule_holds(rule, outcomes):
        return msgspec.structs.replace(rule, runs_held=rule.runs_held + 1)
    return msgspec.structs.replace(rule, runs_broken=rule.runs_broken + 1)


def _carry_counts(rules: Iterable[Proposal], known: Iterable[Proposal]) -> list[Proposal]:
    """New rules; one about a metric that was known has its counts."""
    counts = {each.expectation.metric: (each.runs_held, each.runs_broken) for each in known}
    return [
        msgspec.structs.replace(each, runs_held=held, runs_broken=broken)
        for each in rules
        for held, broken in [counts.get(each.expectation.metric, (0, 0))]
    ]


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
    proposals: list[Proposal] = []
    for rule in rules.values():
        # A pattern that a backtracking engine could be slow to match may not be measured, so it is no rule.
        with suppress(BadPredicate):
            proposals += [] if rule.literal_text else [propose_pattern(rule, column, values)]
    return proposals


def expand_sample(sample: Sample) -> pa.Array:
    """The sampled values, each as often as it occurs, or proportionally fewer times if these are too many."""
    texts, counts = sample.list_texts()
    share = min(1.0, MAX_EXPANDED_VALUES / counts.sum()) if len(counts) else 1.0
    return texts.take(np.repeat(np.arange(len(counts)), np.maximum(1, np.round(counts * share)).astype(np.int64)))
