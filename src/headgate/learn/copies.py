"""Recognise a batch that is an exact copy of an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.learn.past import Past
from headgate.metrics.checksum import Checksum, RowChecksum
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import OneOf
from headgate.values.proposal import Proposal
from headgate.values.state import State

COPIES = MetricKey("copies")
"""The number of earlier runs that have exactly the rows of a batch."""


def find_copies(past: Past, states: Mapping[MetricKey, State]) -> Sequence[str] | None:
    """The partitions of the runs that have the same rows, oldest first; None if the rows are not known.

    A batch without rows is a copy of nothing.
    """
    checksum = states.get(Checksum().state_key)
    if not isinstance(checksum, RowChecksum):
        return None
    return [name for name, each in zip(past.partitions, past.checksums, strict=True) if each == checksum and each.rows]


def count_copies(past: Past, states: Mapping[MetricKey, State]) -> Outcome:
    """How many runs have the same rows as a batch."""
    copies = find_copies(past, states)
    return Undefined("the rows of the batch are not known") if copies is None else Measured(float(len(copies)))


def propose_no_copy(past: Past) -> list[Proposal]:
    """Expect that the batch is no copy, if no run was one.

    It is not counted in the budget: by chance no two batches have the same rows. Of 6,935 batches of 19 real feeds, 11
    were copies although none of the 30 runs before was one. A table that does not change has copies, and may have more.
    """
    known = [each for each in past.checksums if each is not None and each.rows]
    if not known or len(set(known)) < len(known):
        return []
    note = f"no copy in {len(known)} run{'s' * (len(known) > 1)}"
    return [Proposal(Expectation(COPIES, OneOf((0.0,)), Source.HISTORY, false_alarm=0.0), note=note)]
