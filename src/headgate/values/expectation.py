"""A metric with the predicate it must meet, and the judgement of its outcome."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined
from headgate.values.predicate import Pending, Predicate, Python

Segment: TypeAlias = tuple[tuple[str, str | None], ...]
"""A part of a batch, by column and value; empty for the whole batch."""


class Level(StrEnum):
    """The severity of a failure."""

    WARN = "warn"
    ERROR = "error"


class Source(StrEnum):
    """Who proposed an expectation."""

    DECLARED = "declared"
    RULES = "rules"
    ANOMALY = "anomaly"
    HISTORY = "history"
    PATTERNS = "patterns"
    NOVELTY = "novelty"


class Status(StrEnum):
    """SKIP: the data have no value to judge. ERROR: it could not be evaluated, which is not a failure."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


GRAVEST = (Status.ERROR, Status.FAIL, Status.SKIP, Status.PASS)
"""The order in which judgements are listed: those that need attention come first."""


class Expectation(msgspec.Struct, frozen=True):
    """A metric, the predicate it must meet, its source, and a bound on its false alarm rate.

    `rule` is the text of the declared rule, such as `is_contained_in(region, values=["EU", "US"])`, if it says more
    than the metric.
    """

    metric: MetricKey
    predicate: Predicate
    source: Source = Source.DECLARED
    level: Level = Level.ERROR
    false_alarm: float | None = None  # a stated upper bound; None where a person declared it
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.rule or self.metric} {self.predicate}"

    @property
    def subject(self) -> str:
        if not self.rule:
            return str(self.metric)
        columns = f"({', '.join(self.metric.columns)})" if self.metric.columns else ""
        return f"{self.rule}: {self.metric.name}{columns}"

    def judge(self, outcome: Outcome) -> Judgement:
        """The judgement of an outcome. A failed metric is an ERROR; a metric without a value is skipped."""
        if isinstance(self.predicate, Pending) and not isinstance(outcome, Failed):
            return Judgement(self, Status.SKIP, f"{self.subject} is not judged yet: {self.predicate.why}")
        match outcome:
            case Measured(value):
                return self._judge_value(value)
            case Undefined(why):
                return Judgement(self, Status.SKIP, f"{self.subject} has no value: {why}")
            case Failed(why):
                return Judgement(self, Status.ERROR, f"{self.subject} could not be computed: {why}")

    def _judge_value(self, value: float | Distribution) -> Judgement:
        if isinstance(value, Distribution) and not isinstance(self.predicate, Python):
            return Judgement(self, Status.ERROR, f"{self.subject} is a distribution; a predicate needs a number")
        try:
            status = Status.PASS if self.predicate.holds(value) else Status.FAIL  # type: ignore[arg-type]
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            return Judgement(self, Status.ERROR, f"{self.subject} could not be judged: {why}")
        if isinstance(value, Distribution):
            return Judgement(self, status, f"{self.subject} has {len(value.counts)} labels, expected {self.predicate}")
        expected = str(self.predicate).removeprefix("equal to ")
        reason = f"{self.subject} is {self.predicate.format_value(value)}, expected {expected}"
        return Judgement(self, status, reason, value)


class Judgement(msgspec.Struct, frozen=True):
    """The result of one expectation: its status, the reason in words, and the observed value if there is one.

    `segment` names the part of the batch it was judged on, by column and value; empty for the whole batch.
    """

    expectation: Expectation
    status: Status
    reason: str
    value: float | None = None
    segment: Segment = ()
