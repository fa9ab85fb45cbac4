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

FEWEST = 20  # values of a column from which a rule is learned
LIMITS = (0.15, 0.02)  # of the rate at which good values ever break a rule
TOO_LONG = 0.001  # of values that are longer than is kept: of more, no rule can speak
REPEATS = 1_000  # values that a sample is drawn out to


def samples(schema: Schema) -> list[ValueSample]:
    """What a scan must bring along: some values of every column of text."""
    return [ValueSample(column.label) for column in schema.columns if column.kind is Kind.STRING]


def learned(
    states: Mapping[MetricKey, State],
    outcomes: Mapping[MetricKey, Outcome],
    known: Sequence[Proposal],
    index: PatternIndex,
    *,
    discreet: bool,
) -> tuple[Proposal, ...]:
    """The rules that the next batch is judged by, if this one is accepted.

    A known rule that this batch meets is kept; a column without one, or whose rule is broken, gets another. `discreet`
    leaves out rules that spell a value of the data, which may not leave the batch.
    """
    of_column: dict[str, list[Proposal]] = {}
    for each in known:
        of_column.setdefault(each.column, []).append(each)
    looked = {key.columns[0] for key, state in states.items() if isinstance(state, Sample)}
    found = [each for each in known if each.column not in looked]  # nothing is seen of it: what was known stands
    for key, state in states.items():
        if isinstance(state, Sample):
            rules = of_column.get(key.columns[0], [])
            kept = rules and all(_met(each, outcomes) for each in rules)
            found += rules if kept else _rules(state, key.columns[0], index, discreet)
    return tuple(found)


def priced(shapes: Iterable[Proposal], past: Past | None) -> list[Proposal]:
    """The rules with what they cost now: a rule that has held for many runs is less likely to be wrong in the next.

    The index states how often a rule is ever broken by good values of its column; if it has held for n runs, the next
    is the one that breaks it with at most 1 / (n + 1) of that.
    """
    places = {} if past is None else {each.key: at for at, each in enumerate(past.measures)}
    found = []
    for each in shapes:
        runs = 0
        if past is not None and each.expectation.metric in places:
            series = past.values[:, places[each.expectation.metric]]
            runs = sum(each.expectation.predicate.holds(float(value)) for value in series if value == value)
        rate = (each.expectation.false_alarm or 0.0) / (runs + 1)
        note = each.note if not runs else f"{each.note}; held in {runs} runs"
        priced_one = msgspec.structs.replace(each.expectation, false_alarm=rate)
        found.append(msgspec.structs.replace(each, expectation=priced_one, note=note))
    return found


def askable(expectations: Iterable[Proposal], schema: Schema) -> list[MetricKey]:
    """The metrics of rules whose columns are there and are text."""
    texts = {column.label for column in schema.columns if column.kind is Kind.STRING}
    return [each.expectation.metric for each in expectations if each.column in texts]


def _met(rule: Proposal, outcomes: Mapping[MetricKey, Outcome]) -> bool:
    outcome = outcomes.get(rule.expectation.metric)
    return outcome is not None and rule.expectation.judge(outcome).status is Status.PASS


def _rules(sample: Sample, column: str, index: PatternIndex, discreet: bool) -> list[Proposal]:
    """A narrow rule, which must first prove itself, and a wide one, which a small budget can pay at once."""
    values = drawn_out(sample)
    if len(values) < FEWEST or sample.cut_share > TOO_LONG:
        return []
    rules = {str(rule): rule for limit in LIMITS if (rule := index.infer(values, limit=limit)) is not None}
    return [propose_pattern(rule, column, values) for rule in rules.values() if not (discreet and rule.spelled)]


def drawn_out(sample: Sample) -> pa.Array:
    """The sampled values, each as often as it occurs, or fewer times where all would be too many."""
    kept = [(each.text, each.count) for each in sample.values if each.text is not None]
    total = sum(count for _, count in kept)
    share = min(1.0, REPEATS / total) if total else 1.0
    texts = [text for text, count in kept for _ in range(max(1, round(count * share)))]
    return pa.array(texts, pa.string())
