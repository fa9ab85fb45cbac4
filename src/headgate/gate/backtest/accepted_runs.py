"""The accepted runs that a replay has come by: what the next batch is judged by, as the gate would choose it.

Tested by `tests/gate/backtest/test_backtest.py`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from headgate.gate.settings import Settings
from headgate.learn.drift import ANCHOR_SPAN, MIN_APART, choose_anchor_runs
from headgate.learn.learned import ProposalPool
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.scope import LearningScope
from headgate.learn.surprises import MOST_REMEMBERED, AcceptedSurprises
from headgate.values.period import read_period
from headgate.values.run import Run
from headgate.values.verdict import Verdict


@dataclass
class AcceptedRuns:
    """The accepted runs before a batch, oldest first, and what the gate remembers of those that are long past."""

    settings: Settings
    secret: bytes | None
    pooled_rates: PooledRates
    window: deque[Run] = field(default_factory=deque)
    older: deque[Run] = field(default_factory=deque)
    listed: list[Run] = field(default_factory=list)  # those on listed days that have left the window
    by_person: deque[Run] = field(default_factory=lambda: deque(maxlen=MOST_REMEMBERED))

    def add(self, run: Run, verdict: Verdict) -> None:
        """Add the next run, with what the replay says of it: a person would have accepted it if that holds it.

        Of the runs that leave the window, only the values are kept.
        """
        run = msgspec.structs.replace(run, verdict=verdict)
        if not verdict.passed:
            self.by_person.append(_without_states(run))
        self.window.append(run)
        if len(self.window) > self.settings.runs:
            left = self.window.popleft()
            self.older.append(_without_states(left))
            if self.settings.days.find(read_period(left.partition)):
                self.listed.append(left)
        while self.older and len(self.window) + len(self.older) > ANCHOR_SPAN:
            self.older.popleft()

    def make_pool(self, following: str, scope: LearningScope) -> ProposalPool | None:
        """The proposals for the batch of a partition; None without runs."""
        if not self.window:
            return None
        by_person = {each.attempt for each in self.by_person}
        older = choose_anchor_runs(list(self.older), [each.attempt in by_person for each in self.older])
        return ProposalPool.of(
            (*self._find_listed(following), *self.window),
            self.secret,
            self.settings.learners,
            following=following,
            days=self.settings.days,
            pooled_rates=self.pooled_rates,
            scope=scope,
            pins=self.settings.pins,
            surprises=AcceptedSurprises.of(self.by_person),
            anchor_runs=[*older, *list(self.window)[:-MIN_APART]],
        )

    def _find_listed(self, following: str) -> list[Run]:
        """The runs on days of the list that the day of a partition is on."""
        days = self.settings.days
        name = days.find(read_period(following))
        return [each for each in self.listed if name and days.find(read_period(each.partition)) == name]


def _without_states(run: Run) -> Run:
    return msgspec.structs.replace(run, states={})
