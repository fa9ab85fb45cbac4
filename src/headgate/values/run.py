"""One judged batch in the history of a dataset: the run that is committed, its revision, and decisions about it."""

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

UNREAD = "unread:"  # prefix of the fingerprint of a batch that could not be read
LONGEST_NAME = 1_000  # characters of the name of a dataset or partition


class Decision(StrEnum):
    """A decision about a batch. The gate decides the first four; people decide the others.

    Published: the batch passed, and is learned from. Held: it did not pass. Observed: it did not pass, and is published
    because the gate only observes. Withdrawn: its input was gone or had changed before it was published or held.

    Accepted: the batch is correct, and is learned from. Rejected: it is wrong. Released: it is published as it is, and
    not learned from. Split: its good rows are published, the failing rows stay in quarantine. Discarded: it is deleted
    from quarantine.
    """

    PUBLISHED = "published"
    HELD = "held"
    OBSERVED = "observed"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    SPLIT = "split"
    DISCARDED = "discarded"


TRUSTED = frozenset({Decision.PUBLISHED, Decision.ACCEPTED})
"""Decisions after which a run is learned from."""

GATE = "gate"
"""Who made a decision, if the gate did."""

BY_GATE = frozenset({Decision.PUBLISHED, Decision.HELD, Decision.OBSERVED, Decision.WITHDRAWN})
"""Decisions that the gate makes. The others are made by people."""

STOPPED = frozenset({Decision.HELD, Decision.WITHDRAWN, Decision.REJECTED, Decision.DISCARDED, Decision.SPLIT})
"""Decisions after which the batch is not published as it was delivered."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One measured and judged batch, to be committed once.

    The dataset, the partition, the fingerprint and the suite are the run's key: a store keeps one run for each key.

    Args:
        dataset: The name of the dataset, at most 1,000 characters.
        partition: The name of the batch within the dataset, at most 1,000 characters.
        fingerprint: Identifies the content of the input: a checksum, or the id of a snapshot.
        source: Identifies the files or the snapshot that it was read from, which a publisher moves. May be empty.
        suite: Identifies the set of metrics and checks.
        schema: The columns of the batch.
        outcomes: What was measured, by metric.
        states: The states that it was measured from.
        verdict: The judgements of all expectations.
        account: What a gate records in addition; None without a gate.
        basis: The sequence of the last commit that was known when the batch was judged.
        at: The time of the run, in seconds since 1970. It is for display: nothing is ordered by it.
        attempt: Identifies this commit, so that a retry can be distinguished from another run of the same key.
        awaits_decision: Whether a gate still has to publish or hold the batch, and to record that it did.
        after: The number of a published revision that the history may not know. The run gets a higher number.
    """

    dataset: str
    partition: str
    fingerprint: str
    source: str = ""
    suite: str = ""
    schema: Schema = Schema()
    outcomes: dict[MetricKey, Outcome] = msgspec.field(default_factory=dict)
    states: dict[MetricKey, State] = msgspec.field(default_factory=dict)
    verdict: Verdict = Verdict()
    account: Account | None = None
    basis: int = 0
    at: float = msgspec.field(default_factory=time.time)
    attempt: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex)
    awaits_decision: bool = False
    after: int = 0

    def __post_init__(self) -> None:
        for field, value in (("dataset", self.dataset), ("partition", self.partition)):
            if not value or len(value) > LONGEST_NAME:
                raise MisuseError(f"the {field} of a run has 1 to {LONGEST_NAME} characters, not {len(value)}.")

    @property
    def key(self) -> str:
        return run_key(self.dataset, self.partition, self.fingerprint, self.suite)


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A committed run as the history lists it: revision `number` of its partition, commit `sequence` of the dataset.

    `decision` is the current one as of the commit at which the history was read. `awaits_decision` is true until there
    is one, if a gate has to make it.
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
    source: str = ""
    awaits_decision: bool = False

    @property
    def unread(self) -> bool:
        """Whether the batch could not be read, so that nothing was measured."""
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
            source=run.source,
            awaits_decision=run.awaits_decision,
        )

    @property
    def key(self) -> str:
        return run_key(self.dataset, self.partition, self.fingerprint, self.suite)


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """A decision about one revision, with who made it and why. It is a commit with its own sequence.

    `source` identifies the files that a split publishes, as `Run.source` does; empty for other decisions.
    """

    dataset: str
    partition: str
    number: int
    sequence: int
    decision: Decision
    who: str = ""
    note: str = ""
    at: float = msgspec.field(default_factory=time.time)
    source: str = ""


def run_key(dataset: str, partition: str, fingerprint: str, suite: str) -> str:
    """The key of a run: a hash of the four texts, each with its length, so that no two combinations join alike.

    >>> run_key("orders", "2026-11-14", "a", "b") == run_key("orders", "2026-11-1", "4a", "b")
    False
    """
    digest = hashlib.sha256()
    for part in (dataset, partition, fingerprint, suite):
        text = part.encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()


_DIGITS = re.compile(r"[0-9]+")


def partition_sort_key(partition: str) -> str:
    """The sort key of a partition: its text, in which numbers compare by value.

    Compare the results by code points. Partitions with the same key (`7` and `07`) sort by their texts.

    >>> sorted(["week 10", "week 9", "2026-11-14", "2026-9-1"], key=partition_sort_key)
    ['2026-9-1', '2026-11-14', 'week 9', 'week 10']
    """

    def pad_number(match: re.Match[str]) -> str:
        digits = match.group().lstrip("0") or "0"
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
