"""The verdict: expectations judged against the outcomes of metrics."""

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
        """ERROR if anything could not be evaluated, else FAIL if an expectation of level error failed, else PASS.

        If nothing could be judged it is SKIP, never PASS.
        """
        statuses = {judgement.status for judgement in self.judgements}
        if Status.ERROR in statuses:
            return Status.ERROR
        if any(judgement.expectation.level is Level.ERROR for judgement in self.failures):
            return Status.FAIL
        return Status.PASS if statuses - {Status.SKIP} else Status.SKIP

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
    """The verdict on the outcomes of a batch; a metric that was not computed is an ERROR."""
    missing = Failed("it was not computed")
    judged = (each.judge(outcomes.get(each.metric, missing)) for each in expectations)
    return Verdict(tuple(msgspec.structs.replace(each, segment=segment) if segment else each for each in judged))
