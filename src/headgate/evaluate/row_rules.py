"""From failed judgements to the rules that single rows can be blamed for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from headgate.engine.row_rule import RowRule
from headgate.metrics.base.metric import Metric, Offence
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.base.sql import both, chained, literal, quoted
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.groups import Groups, GroupSizes
from headgate.values.expectation import Judgement, Level, Status
from headgate.values.key import MetricKey
from headgate.values.state import State

Segment: TypeAlias = tuple[tuple[str, str | None], ...]


class Judged(NamedTuple):
    """A judgement, the check and the rule it belongs to, and the metric that was judged; None if it is of no rows."""

    check: str
    rule: int
    metric: Metric[Any] | None
    judgement: Judgement


def row_rules(judged: Sequence[Judged]) -> tuple[RowRule, ...]:
    """The failed rules that rows can be blamed for; of a rule with two thresholds, a row is told at one level."""
    found: dict[tuple[Any, ...], RowRule] = {}
    for level in (Level.ERROR, Level.WARN):
        for target, failures in _blamable(judged, level).items():
            rule, graver = _row_rule(failures), found.get((*target, Level.ERROR))
            if graver is None:
                found[(*target, level)] = rule
            elif (rule.offence, rule.where) != (graver.offence, graver.where):
                found[(*target, level)] = msgspec.structs.replace(rule, graver=graver)
    return tuple(found.values())


def offence_of(each: Judged) -> Offence | None:
    """Which rows are to blame for a judgement; None if it is no failure, or no single row is."""
    judgement = each.judgement
    if judgement.status is not Status.FAIL or judgement.value is None or each.metric is None:
        return None
    return each.metric.offence(judgement.expectation.predicate, judgement.value)


def blamed_rows(judged: Judged, state: State | None) -> str:
    """How many rows are to blame for a judgement, in words; empty where no single row is, or it is not known."""
    if offence_of(judged) is None:
        return ""
    match state:
        case MatchCount(matched=matched, seen=seen):
            return f"{seen - matched:,} of {seen:,} rows"
        case Groups() | GroupSizes() as groups:
            sizes = groups.sizes
            return f"{sizes.rows - sizes.unique:,} of {sizes.rows:,} rows"
    return ""


def recorded_rows(judgement: Judgement, states: Mapping[MetricKey, State]) -> str:
    """The same of a judgement that was read from the history, from the states of its run."""
    key = judgement.expectation.metric
    if judgement.segment or key.name not in metrics():  # states are kept of the whole batch, distances have none
        return ""
    metric = from_key(key)
    return blamed_rows(Judged("", 0, metric, judgement), states.get(metric.state_key))


def _blamable(judged: Sequence[Judged], level: Level) -> dict[tuple[int, MetricKey], list[Judged]]:
    """The failures of a level that rows can be blamed for, those of all segments of one rule together."""
    found: dict[tuple[int, MetricKey], list[Judged]] = {}
    for each in judged:
        expectation = each.judgement.expectation
        if expectation.level is level and offence_of(each) is not None:
            found.setdefault((each.rule, expectation.metric), []).append(each)
    return found


def _row_rule(failures: Sequence[Judged]) -> RowRule:
    first = failures[0]
    offence, expectation = offence_of(first), first.judgement.expectation
    assert offence is not None
    assert first.metric is not None
    scope = chained("OR", [_scope(each.judgement.segment) for each in failures])
    by = tuple(name for name, _ in first.judgement.segment)
    text = expectation.rule or str(expectation)
    return RowRule(text, expectation.level.value, offence, both(first.metric.where, scope), by)


def _scope(segment: Segment) -> str:
    """The rows of a segment, by the text of their values, as parts are told apart."""
    tests = [
        f"{quoted(name)} IS NULL" if value is None else f"CAST({quoted(name)} AS STRING) = {literal(value)}"
        for name, value in segment
    ]
    return f"({' AND '.join(tests)})" if tests else ""
