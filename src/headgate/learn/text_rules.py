"""Rules about the form of texts: learned from the sample that a scan brings along, and carried from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import pyarrow as pa

from headgate.learn.past import Past
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.propose import propose_pattern
from headgate.metrics.states.sample import Sample
from headgate.metrics.value_sample import ValueSample
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.proposal import Proposal
from headgate.values.schema import Kind, Schema
from headgate.values.state import State

MIN_VALUES = 20  # values of a column from which a rule is learned
BREAK_RATE_LIMITS = (0.15, 0.02)  # of the rate at which good values ever break a rule
MAX_CUT_SHARE = 0.001  # of values that are longer than is kept: of more, no rule can speak
MAX_EXPANDED_VALUES = 1_000  # values that a sample is drawn out to


def sample_metrics(schema: Schema) -> list[ValueSample]:
    """What a scan must bring along: some values of every column of text."""
    return [ValueSample(column.label) for column in schema.columns if column.kind is Kind.STRING]


def learn_rules(
    states: Mapping[MetricKey, State],
    outcomes: Mapping[MetricKey, Outcome],
    known_rules: Sequence[Proposal],
    index: PatternIndex,
    *,
    hide_values: bool,
) -> tuple[Proposal, ...]:
    """The rules that the next batch is judged by, if this one is accepted.

    A known rule that this batch meets is kept; a column without one, or whose rule is broken, gets another. `discreet`
    leaves out rules that spell a value of the data, which may not leave the batch.
    """
    known_by_column: dict[str, list[Proposal]] = {}
    for each in known_rules:
        known_by_column.setdefault(each.column, []).append(each)
    sampled_columns = {key.columns[0] for key, state in states.items() if isinstance(state, Sample)}
    next_rules = [
        each for each in known_rules if each.column not in sampled_columns
    ]  # nothing is seen of it: what was known stands
    for key, state in states.items():
        if isinstance(state, Sample):
            rules = known_by_column.get(key.columns[0], [])
            still_hold = rules and all(_rule_holds(each, outcomes) for each in rules)
            next_rules += rules if still_hold else _infer_rules(state, key.columns[0], index, hide_values)
    return tuple(next_rules)


def reprice(rules: Iterable[Proposal], past: Past | None) -> list[Proposal]:
    """The rules with what they cost now: a rule that has held for many runs is less likely to be wrong in the next.

    The index states how often a rule is ever broken by good values of its column; if it has held for n runs, the next
    is the one that breaks it with at most 1 / (n + 1) of that.
    """
    index_of_key = {} if past is None else {each.key: at for at, each in enumerate(past.metrics)}
    repriced = []
    for each in rules:
        runs_held = 0
        if past is not None and each.expectation.metric in index_of_key:
            series = past.values[:, index_of_key[each.expectation.metric]]
            runs_held = sum(each.expectation.predicate.holds(float(value)) for value in series if value == value)
        rate = (each.expectation.false_alarm or 0.0) / (runs_held + 1)
        note = each.note if not runs_held else f"{each.note}; held in {runs_held} runs"
        expectation = msgspec.structs.replace(each.expectation, false_alarm=rate)
        repriced.append(msgspec.structs.replace(each, expectation=expectation, note=note))
    return repriced


def applicable(rules: Iterable[Proposal], schema: Schema) -> list[MetricKey]:
    """The metrics of rules whose columns are there and are text."""
    text_columns = {column.label for column in schema.columns if column.kind is Kind.STRING}
    return [each.expectation.metric for each in rules if each.column in text_columns]


def _rule_holds(rule: Proposal, outcomes: Mapping[MetricKey, Outcome]) -> bool:
    outcome = outcomes.get(rule.expectation.metric)
    return outcome is not None and rule.expectation.judge(outcome).status is Status.PASS


def _infer_rules(sample: Sample, column: str, index: PatternIndex, hide_values: bool) -> list[Proposal]:
    """A narrow rule, which must first prove itself, and a wide one, which a small budget can pay at once."""
    values = expand_sample(sample)
    if len(values) < MIN_VALUES or sample.cut_share > MAX_CUT_SHARE:
        return []
    rules = {str(rule): rule for limit in BREAK_RATE_LIMITS if (rule := index.infer(values, limit=limit)) is not None}
    return [propose_pattern(rule, column, values) for rule in rules.values() if not (hide_values and rule.literal_text)]


def expand_sample(sample: Sample) -> pa.Array:
    """The sampled values, each as often as it occurs, or fewer times where all would be too many."""
    counted_texts = [(each.text, each.count) for each in sample.values if each.text is not None]
    total = sum(count for _, count in counted_texts)
    share = min(1.0, MAX_EXPANDED_VALUES / total) if total else 1.0
    texts = [text for text, count in counted_texts for _ in range(max(1, round(count * share)))]
    return pa.array(texts, pa.string())
