"""One judged batch in the history of a dataset: what is committed, what the store says of it, what was decided."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from enum import StrEnum

import msgspec

from headgate.values.account import Account
from headgate.values.errors import MisuseError, StoreError
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.schema import Schema
from headgate.values.state import State
from headgate.values.verdict import Verdict

UNREAD = "unread:"  # with this begins the fingerprint of a batch of which nothing could be seen
LONGEST_NAME = 1_000  # characters of a dataset's or a partition's name


class Decision(StrEnum):
    """What became of a batch. Published and held are the gate's, the others a person's.

    Accepted: it was as it should be, and teaches. Rejected: it was wrong. Released: published as it is, without
    teaching. Split: its good rows are published, the bad ones stay in quarantine. Discarded: dropped from quarantine.
    """

    PUBLISHED = "published"
    HELD = "held"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    SPLIT = "split"
    DISCARDED = "discarded"


TRUSTED = frozenset({Decision.PUBLISHED, Decision.ACCEPTED})
"""Decisions after which a run may teach what normal looks like."""

STOPPED = frozenset({Decision.HELD, Decision.REJECTED, Decision.DISCARDED, Decision.SPLIT})
"""Decisions after which readers do not have the batch as it was delivered."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One batch as measured and judged, to be committed once.

    `fingerprint` tells one input from another (a checksum, a snapshot's id), `suite` one set of metrics and checks from
    another: with the dataset and the partition they are the run's key. `attempt` tells a retry of this very commit from
    somebody else's run of the same key. `account` is what a gate adds.
    `basis` is the last commit that was known when the batch was judged.
    `at` is the clock's time, for people; nothing is ordered by it.
    """

    dataset: str
    partition: str
    fingerprint: str
    suite: str = ""
    schema: Schema = Schema()
    outcomes: dict[MetricKey, Outcome] = msgspec.field(default_factory=dict)
    states: dict[MetricKey, State] = msgspec.field(default_factory=dict)
    verdict: Verdict = Verdict()
    account: Account | None = None
    basis: int = 0
    at: float = msgspec.field(default_factory=time.time)
    attempt: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        for word, value in (("dataset", self.dataset), ("partition", self.partition)):
            if not value or len(value) > LONGEST_NAME:
                raise MisuseError(f"the {word} of a run has 1 to {LONGEST_NAME} characters, not {len(value)}.")

    @property
    def key(self) -> str:
        return run_key(self.dataset, self.partition, self.fingerprint, self.suite)


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A committed run as the history lists it: revision `number` of its partition, commit `sequence` of its dataset.

    `decision` is the last one taken as of the commit at which the history was read.
    """

    dataset: str
    partition: str
    number: int
    sequence: int
    fingerprint: str
    suite: str
    status: Status
    basis: int
    at: float
    attempt: str
    decision: Decision | None = None

    @property
    def unread(self) -> bool:
        """Whether the batch could not be read, so that nothing is known of it."""
        return self.fingerprint.startswith(UNREAD)

    @classmethod
    def of(cls, run: Run, *, number: int, sequence: int) -> Revision:
        return cls(
            dataset=run.dataset,
            partition=run.partition,
            number=number,
            sequence=sequence,
            fingerprint=run.fingerprint,
            suite=run.suite,
            status=run.verdict.status,
            basis=run.basis,
            at=run.at,
            attempt=run.attempt,
        )

    @property
    def key(self) -> str:
        return run_key(self.dataset, self.partition, self.fingerprint, self.suite)


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """A decision on one revision, with who took it and why. It is a commit of its own and has its own sequence."""

    dataset: str
    partition: str
    number: int
    sequence: int
    decision: Decision
    who: str = ""
    note: str = ""
    at: float = msgspec.field(default_factory=time.time)


def run_key(dataset: str, partition: str, fingerprint: str, suite: str) -> str:
    """What makes two runs the same: a hash of all four, each with its length, so that none can pass for two.

    >>> run_key("orders", "2026-11-14", "a", "b") == run_key("orders", "2026-11-1", "4a", "b")
    False
    """
    whole = hashlib.sha256()
    for part in (dataset, partition, fingerprint, suite):
        text = part.encode("utf-8", "surrogatepass")
        whole.update(len(text).to_bytes(8, "big") + text)
    return whole.hexdigest()


_DIGITS = re.compile(r"[0-9]+")


def partition_sort_key(partition: str) -> str:
    """Where a partition stands among the others: as its text does, but numbers by their value.

    Compare the results by code points. Two partitions at one place (`7` and `07`) stand in the order of their texts.

    >>> sorted(["week 10", "week 9", "2026-11-14", "2026-9-1"], key=partition_sort_key)
    ['2026-9-1', '2026-11-14', 'week 9', 'week 10']
    """

    def pad_number(found: re.Match[str]) -> str:
        digits = found.group().lstrip("0") or "0"
        return f"{len(digits):04}{digits}"

    return _DIGITS.sub(pad_number, partition)


class AlreadyCommitted(StoreError):
    """Another attempt at the same run (dataset, partition, fingerprint, suite) was committed first."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        super().__init__(
            f"{revision.dataset} {revision.partition} was already committed from this input, as revision "
            f"{revision.number} (commit {revision.sequence}).",
            hint="Use that run, error.revision; a new fingerprint makes a new revision.",
        )
