"""Expectations judged against metrics. There is one judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headgate.values.expectation import Expectation, Judgement, Level, Segment, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Outcome


class Verdict(msgspec.Struct, frozen=True):
    """All judgements of one batch, in the order of the expectations."""

    judgements: tuple[Judgement, ...] = ()

    @property
    def status(self) -> Status:
        """Error if anything could not be evaluated, else fail if an error-level expectation failed, else pass.

        A verdict in which nothing could be judged is a skip: silence is not a pass.
        """
        found = {judgement.status for judgement in self.judgements}
        if Status.ERROR in found:
            return Status.ERROR
        if any(judgement.expectation.level is Level.ERROR for judgement in self.failures):
            return Status.FAIL
        return Status.PASS if found - {Status.SKIP} else Status.SKIP

    @property
    def passed(self) -> bool:
        return self.status is Status.PASS

    @property
    def failures(self) -> tuple[Judgement, ...]:
        return tuple(judgement for judgement in self.judgements if judgement.status is Status.FAIL)


def judge(
    expectations: Iterable[Expectation],
    outcomes: Mapping[MetricKey, Outcome],
    segment: Segment = (),
) -> Verdict:
    """The verdict over a batch's outcomes; a metric that was never computed is an error, never a pass."""
    missing = Failed("it was not computed")
    judged = (each.judge(outcomes.get(each.metric, missing)) for each in expectations)
    return Verdict(tuple(msgspec.structs.replace(each, segment=segment) if segment else each for each in judged))
