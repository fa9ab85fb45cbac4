"""A metric with the predicate it must meet, and the one way in which it is judged."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined
from headgate.values.predicate import Predicate


class Level(StrEnum):
    """How much a failure weighs."""

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
    """Skip: the data give nothing to judge. Error: it could not be evaluated, which is never the same as fail."""

    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


class Expectation(msgspec.Struct, frozen=True):
    """A metric, the predicate it must meet, who proposed it, and how often it may be wrong."""

    metric: MetricKey
    predicate: Predicate
    source: Source = Source.DECLARED
    level: Level = Level.ERROR
    false_alarm: float | None = None  # a stated upper bound; None where a person declared it

    def __str__(self) -> str:
        return f"{self.metric} {self.predicate}"

    def judge(self, outcome: Outcome) -> Judgement:
        match outcome:
            case Measured(value):
                if isinstance(value, Distribution):
                    return Judgement(self, Status.ERROR, f"{self.metric} is a distribution; a predicate needs a number")
                status = Status.PASS if self.predicate.holds(value) else Status.FAIL
                return Judgement(self, status, f"{self.metric} is {value:g}, expected {self.predicate}", value)
            case Undefined(why):
                return Judgement(self, Status.SKIP, f"{self.metric} has no value: {why}")
            case Failed(why):
                return Judgement(self, Status.ERROR, f"{self.metric} could not be computed: {why}")


class Judgement(msgspec.Struct, frozen=True):
    """What became of one expectation: its status, the reason in words, the observed value where there is one."""

    expectation: Expectation
    status: Status
    reason: str
    value: float | None = None
