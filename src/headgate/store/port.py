"""What every store of a history can do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from headgate.values.errors import did_you_mean
from headgate.values.key import MetricKey
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.state import State


@dataclass(frozen=True, slots=True)
class Series:
    """Values of metrics over runs: a row for each revision, a column for each metric, NaN where there is no number."""

    revisions: tuple[Revision, ...]
    metrics: tuple[MetricKey, ...]
    values: npt.NDArray[np.float64]

    def of(self, metric: MetricKey | str) -> npt.NDArray[np.float64]:
        """One metric's values, in the order of the revisions."""
        key = MetricKey.parse(metric) if isinstance(metric, str) else metric
        if key not in self.metrics:
            raise KeyError(f"{key} is not in this series; {did_you_mean(str(key), map(str, self.metrics))}")
        values: npt.NDArray[np.float64] = self.values[:, self.metrics.index(key)]
        return values

    @property
    def partitions(self) -> tuple[str, ...]:
        return tuple(revision.partition for revision in self.revisions)


@runtime_checkable
class HistoryStore(Protocol):
    """A history that only grows. Commits of one dataset are numbered from 1 in the order in which they became visible.

    A run or a decision is visible whole or not at all. What was read as of a commit reads the same forever after.
    """

    @property
    def secret(self) -> bytes | None:
        """Under what text values of the data are hidden; None if they are kept plain."""

    def commit(self, run: Run) -> Revision:
        """Keep a run once and for all. The same attempt again gives the revision it got the first time; another
        attempt at the same run key raises `AlreadyCommitted`, which carries the winner's revision."""

    def decide(
        self,
        dataset: str,
        partition: str,
        decision: Decision,
        *,
        number: int | None = None,
        who: str = "",
        note: str = "",
    ) -> Ruling:
        """Record what was decided about a revision (the newest, unless `number` says which). Saying again what was
        last said changes nothing and gives the ruling that stands."""

    def datasets(self) -> tuple[str, ...]:
        """The names of all datasets that have a run, sorted."""

    def head(self, dataset: str) -> int:
        """The sequence of a dataset's last commit; 0 if it has none."""

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        """All committed runs of a dataset or of one partition of it, in the order of their commits."""

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        """All decisions, in the order of their commits."""

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        """The last so many partitions, in partition order, each as its newest revision.

        As they were right after commit `as_of`; only partitions that stand before `before`; with `only`, of each
        partition the newest revision about which one of these was last decided.
        """

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        """The values of metrics (all that any of these runs has, sorted, if not told) over runs of one dataset."""

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        """The states of each of these runs; all of them, or those under the keys that are named."""

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        """A committed run whole, as it was given, less what the store hides; or without its states, and without the
        distributions that are measured from them, which is much quicker to read."""

    def close(self) -> None:
        """Let go of connections. A closed store must not be used again."""


def make_series(revisions: Sequence[Revision], numbers: Sequence[dict[str, float]], wanted: list[str] | None) -> Series:
    """The numbers of runs as one table."""
    keys = sorted({key for each in numbers for key in each}) if wanted is None else wanted
    values = np.array([[each.get(key, np.nan) for key in keys] for each in numbers], np.float64)
    return Series(tuple(revisions), tuple(map(MetricKey.parse, keys)), values.reshape(len(numbers), len(keys)))
