"""What happened to a batch, as far as a known fault explains it."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from headgate.values.expectation import Segment

FaultParameters: TypeAlias = dict[str, float | str]


class LocatedRows(msgspec.Struct, frozen=True):
    """How the rows with a fault lie in the batch: the share of the segment, and of wrong rows in it and outside."""

    share: float
    inside: float = 1.0
    outside: float = 0.0


class Diagnosis(msgspec.Struct, frozen=True):
    """A fault that explains what is wrong with a batch, in one sentence, with its parameters.

    `columns` are those it happened to; none for the table as a whole. `share` is the part of the rows it happened to,
    `segment` says which rows these are, if they are those with a value of a column. `confidence` is between 0 and 1.
    `others` names the faults that explain the batch nearly as well, the nearer first. `explains` are the metrics that
    failed because of it. `repairable` says that the fault can be undone. `located` tells of the rows of the segment.
    `estimated` says that a factor, an offset or a shift of times is near the right one: so is then what is repaired.
    """

    fault: str
    sentence: str
    columns: tuple[str, ...] = ()
    parameters: FaultParameters = {}
    share: float = 1.0
    segment: Segment = ()
    confidence: float = 1.0
    others: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    repairable: bool = False
    located: LocatedRows | None = None
    estimated: bool = False
