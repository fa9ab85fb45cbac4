"""The interface of every store of a history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from headgate.values.errors import did_you_mean
from headgate.values.key import MetricKey
from headgate.values.mute import Mute
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

    A commit is visible completely or not at all. Reading as of a commit always gives the same result.
    """

    @property
    def secret(self) -> bytes | None:
        """The secret under which text values of the data are hashed; None if they are stored as they are."""

    def commit(self, run: Run) -> Revision:
        """Store a run. Committing the same attempt again returns its first revision; another attempt at the same run
        key raises `AlreadyCommitted`, which carries the revision that was committed first."""

    def decide(
        self,
        dataset: str,
        partition: str,
        decision: Decision,
        *,
        number: int | None = None,
        who: str = "",
        note: str = "",
        source: str = "",
        only_first: bool = False,
    ) -> Ruling:
        """Record a decision about a revision. Repeating the current decision changes nothing and returns its ruling.

        Args:
            dataset: The name of the dataset.
            partition: The name of the partition. It must have a committed run.
            decision: What was decided.
            number: The revision of the partition; the newest by default.
            who: The person who decided.
            note: The reason.
            source: The files that a split publishes.
            only_first: Whether an earlier decision stands: then its ruling is returned.
        """

    def datasets(self) -> tuple[str, ...]:
        """The names of all datasets that have a run, sorted."""

    def head(self, dataset: str) -> int:
        """The sequence of a dataset's last commit; 0 if it has none."""

    def revisions(
        self, dataset: str, partition: str | None = None, *, as_of: int | None = None
    ) -> tuple[Revision, ...]:
        """All committed runs of a dataset or of one partition of it, in the order of their commits."""

    def find_undecided(self, dataset: str) -> tuple[Revision, ...]:
        """The revisions that a gate still has to decide about, in the order of their commits. If there are any, a gate
        is at work, or was interrupted."""

    def rulings(self, dataset: str, partition: str | None = None, *, as_of: int | None = None) -> tuple[Ruling, ...]:
        """All decisions, in the order of their commits."""

    def mute(self, dataset: str, column: str, until: float | None, *, who: str = "", note: str = "") -> Mute:
        """Record that a column is muted. Repeating what the newest mute of the column says changes nothing.

        Args:
            dataset: The name of the dataset. It must have a committed run.
            column: The label of the column, in which `*` stands for any characters.
            until: The time at which the mute ends, in seconds since 1970; None ends it now.
            who: The person who says so.
            note: The reason.
        """

    def mutes(self, dataset: str, *, as_of: int | None = None) -> tuple[Mute, ...]:
        """All mutes of columns, also those that are over, in the order of their commits."""

    def last(
        self,
        dataset: str,
        runs: int,
        *,
        as_of: int | None = None,
        before: str | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        """The newest revision of each of the last partitions, in partition order.

        Args:
            dataset: The name of the dataset.
            runs: How many partitions, at most.
            as_of: The commit as of which to read; the last one by default.
            before: A partition. Only partitions that sort before it are listed.
            only: Decisions. Only revisions whose current decision is one of them are considered.
        """

    def first(
        self,
        dataset: str,
        runs: int,
        *,
        after: str,
        as_of: int | None = None,
        only: Collection[Decision] | None = None,
    ) -> tuple[Revision, ...]:
        """The newest revision of each of the first partitions after one, in partition order.

        Args:
            dataset: The name of the dataset.
            runs: How many partitions, at most.
            after: A partition. Only partitions that sort after it are listed.
            as_of: The commit as of which to read; the last one by default.
            only: Decisions. Only revisions whose current decision is one of them are considered.
        """

    def series(self, revisions: Sequence[Revision], metrics: Iterable[MetricKey | str] | None = None) -> Series:
        """The values of metrics over runs of one dataset; by default of all that any of the runs has, sorted."""

    def states(
        self, revisions: Sequence[Revision], keys: Iterable[MetricKey | str] | None = None
    ) -> list[dict[MetricKey, State]]:
        """The states of each of these runs; all of them, or those under the given keys."""

    def run(self, revision: Revision, *, states: bool = True) -> Run:
        """A committed run, with text values hidden if the store hides them. Without `states` it is much faster to read,
        and lacks the states and the distributions that are measured from them."""

    def close(self) -> None:
        """Release connections. A closed store must not be used again."""


def make_series(revisions: Sequence[Revision], numbers: Sequence[dict[str, float]], wanted: list[str] | None) -> Series:
    """The numbers of several runs as one series."""
    keys = sorted({key for each in numbers for key in each}) if wanted is None else wanted
    values = np.array([[each.get(key, np.nan) for key in keys] for each in numbers], np.float64)
    return Series(tuple(revisions), tuple(map(MetricKey.parse, keys)), values.reshape(len(numbers), len(keys)))
