"""From failed judgements to failing rows: which rules the rows break, and how many rows there are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from textwrap import shorten
from typing import Any, NamedTuple

import msgspec

from headgate.engine.row_rule import RowRule, Values
from headgate.engine.rows import failing_rows, split_rows
from headgate.evaluate.measurements import Measurements
from headgate.metrics.base.metric import FailingRows, Metric
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.base.sql import join_filters, join_tests, quote_name, quote_value
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.groups import Groups, GroupSizes
from headgate.store.record import hide_segment
from headgate.values.expectation import Expectation, Judgement, Level, Segment, Status
from headgate.values.key import MetricKey
from headgate.values.schema import is_repeated
from headgate.values.state import State

_NAMES_VALUES = re.compile(r"`[^`]*\[\][^`]*`")  # a place inside an array, in the SQL of a predicate
_EXTREMES = frozenset({"min", "max", "min_length", "max_length"})
_LONGEST_MESSAGE = 200  # characters, in each failing row


class JudgedExpectation(NamedTuple):
    """A judgement, the check and the rule it belongs to, and the metric that was judged; None if it is of no rows.

    `failing_rows` are the rows that fail where the runs before tell them, and no metric does.
    """

    check: str
    rule: int
    metric: Metric[Any] | None
    judgement: Judgement
    failing_rows: FailingRows | None = None


class RowFinder:
    """Finds the failing rows of a batch in the data that were judged.

    `secret` is the secret of a store that hides values: the judgements that it returns name segments by hashes.
    """

    def __init__(
        self,
        judged: Sequence[JudgedExpectation],
        measurements: Measurements | None = None,
        tables: Mapping[str, Any] | None = None,
        secret: bytes | None = None,
    ) -> None:
        self.judged = tuple(judged)
        self.measurements = measurements
        self._tables = dict(tables or {})
        self._by_key = {_identify(each.judgement, secret): each for each in reversed(self.judged)}

    def rows(self, data: Any, values: Values = "plain") -> Any:
        """The rows that break a failed rule, with a column of reasons."""
        return failing_rows(data, self._row_rules, self._tables, values)

    def split(self, data: Any, values: Values = "plain") -> tuple[Any, Any]:
        """The rows that break no rule of level error, and those that do, with their reasons."""
        rules = [rule for rule in self._row_rules if rule.level == Level.ERROR]
        return split_rows(data, rules, self._tables, values)

    @property
    def explains_all(self) -> bool:
        """Whether every failure of level error comes from single rows."""
        failed = (each for each in self.judged if each.judgement.status is Status.FAIL)
        return all(
            find_failing_rows(each) is not None for each in failed if each.judgement.expectation.level is Level.ERROR
        )

    def count_failing_rows(self, judgement: Judgement) -> str:
        """How many rows fail a judgement, in words; empty where the failure is not one of single rows."""
        judged = self._by_key.get(_identify(judgement))
        return (
            ""
            if judged is None or find_failing_rows(judged) is None
            else count_failing_rows(judged, self._find_state(judged))
        )

    @cached_property
    def _row_rules(self) -> tuple[RowRule, ...]:
        return build_row_rules(self.judged)

    def _find_state(self, judged: JudgedExpectation) -> State | None:
        if self.measurements is None or judged.metric is None:
            return None
        segment = judged.judgement.segment
        analyses = self.measurements.segments(tuple(name for name, _ in segment))
        return analyses[tuple(value for _, value in segment)].states.get(judged.metric.state_key)


def _identify(judgement: Judgement, secret: bytes | None = None) -> tuple[Any, ...]:
    """Identifies a judgement within its verdict, before it is recorded and after."""
    expectation = judgement.expectation
    segment = judgement.segment if secret is None else hide_segment(judgement.segment, secret)
    return str(expectation), expectation.metric, expectation.level, expectation.source, segment


def build_row_rules(judged: Sequence[JudgedExpectation]) -> tuple[RowRule, ...]:
    """The failed rules that single rows break; a row that breaks both thresholds of a rule is reported at one level."""
    row_rules: dict[tuple[Any, ...], RowRule] = {}
    for level in (Level.ERROR, Level.WARN):
        for target, failures in _group_failures(judged, level).items():
            rule, graver = _build_row_rule(failures), row_rules.get((*target, Level.ERROR))
            if graver is None:
                row_rules[(*target, level)] = rule
            elif (rule.failing_rows, rule.where) != (graver.failing_rows, graver.where):
                row_rules[(*target, level)] = msgspec.structs.replace(rule, graver=graver)
    return tuple(row_rules.values())


def find_failing_rows(judged: JudgedExpectation) -> FailingRows | None:
    """Which rows fail a judgement; None if it did not fail, or its failure is not one of single rows."""
    judgement = judged.judgement
    if judgement.status is not Status.FAIL or judgement.value is None:
        return None
    if judged.metric is None:
        return judged.failing_rows
    failing = judged.metric.failing_rows(judgement.expectation.predicate, judgement.value)
    # of values that occur twice, a row may have both or one
    return None if failing is not None and any(map(is_repeated, failing.repeated)) else failing


def count_failing_rows(judged: JudgedExpectation, state: State | None) -> str:
    """How many rows fail a judgement, in words; empty where that is not known."""
    if find_failing_rows(judged) is None or judged.metric is None:
        return ""
    of_values = any(map(is_repeated, judged.metric.inputs)) or any(map(_NAMES_VALUES.search, judged.metric.predicates))
    match state:
        case MatchCount(matched=matched, seen=seen):
            return f"{seen - matched:,} of {seen:,} {'values' if of_values else 'rows'}"
        case Groups() | GroupSizes() as groups:
            sizes = groups.sizes
            return f"{sizes.rows - sizes.unique:,} of {sizes.rows:,} rows"
    return ""


def count_recorded_rows(judgement: Judgement, states: Mapping[MetricKey, State]) -> str:
    """The same of a judgement that was read from the history, from the states of its run."""
    key = judgement.expectation.metric
    if judgement.segment or key.name not in metrics():  # states are kept of the whole batch, distances have none
        return ""
    metric = from_key(key)
    return count_failing_rows(JudgedExpectation("", 0, metric, judgement), states.get(metric.state_key))


def find_strict_rule(metric: Metric[Any], expectation: Expectation) -> RowRule | None:
    """The rule by which a row is wrong by itself, whatever other rows there are; None if the expectation allows some.

    `is_complete(id)` is one; `has_completeness(id) at least 0.99` and `is_unique(id)` are none.
    """
    predicate = expectation.predicate
    if metric.name in _EXTREMES:
        worst = math.inf if metric.name.startswith("max") else -math.inf
    elif predicate.floor is not None and predicate.floor >= 1:
        worst = 0.0
    elif predicate.ceiling is not None and predicate.ceiling <= 0:
        worst = 1.0
    else:
        return None
    failing = metric.failing_rows(predicate, worst)
    if failing is None or failing.repeated:
        return None
    message = shorten(failing.message, _LONGEST_MESSAGE, placeholder=" ...")
    text = expectation.rule or str(expectation)
    return RowRule(text, expectation.level.value, failing, message, metric.where)


def _group_failures(
    judged: Sequence[JudgedExpectation], level: Level
) -> dict[tuple[int, MetricKey], list[JudgedExpectation]]:
    """The failures of a level that come from single rows, grouped by rule and metric over all segments."""
    groups: dict[tuple[int, MetricKey], list[JudgedExpectation]] = {}
    for failure in judged:
        expectation = failure.judgement.expectation
        if expectation.level is level and find_failing_rows(failure) is not None:
            groups.setdefault((failure.rule, expectation.metric), []).append(failure)
    return groups


def _build_row_rule(failures: Sequence[JudgedExpectation]) -> RowRule:
    first = failures[0]
    failing, expectation = find_failing_rows(first), first.judgement.expectation
    assert failing is not None
    where = None if first.metric is None else first.metric.where
    scope = join_tests("OR", [_write_scope(each.judgement.segment) for each in failures])
    by = tuple(name for name, _ in first.judgement.segment)
    text = expectation.rule or str(expectation)
    message = shorten(failing.message, _LONGEST_MESSAGE, placeholder=" ...")
    return RowRule(text, expectation.level.value, failing, message, join_filters(where, scope), by)


def _write_scope(segment: Segment) -> str:
    """A SQL predicate that selects the rows of a segment: by the text of their values, as the engine splits them."""
    tests = [
        f"{quote_name(name)} IS NULL" if value is None else f"CAST({quote_name(name)} AS STRING) = {quote_value(value)}"
        for name, value in segment
    ]
    return f"({' AND '.join(tests)})" if tests else ""
