"""What a gate records about a batch besides its verdict: budget, learners, and changes that it found."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headgate.values.proposal import Proposal


class Action(StrEnum):
    """What the pipeline must do with a batch."""

    PUBLISH = "publish"
    HOLD = "hold"


class Mode(StrEnum):
    """In guard mode the gate holds batches that fail; in observe mode it only reports them."""

    GUARD = "guard"
    OBSERVE = "observe"


class Account(msgspec.Struct, frozen=True):
    """Recorded with the run, so that a verdict can be explained from the history alone.

    `runs` is the number of earlier runs that were learned from, `after` their attempts. `budget` is the share of good
    batches that may be held by mistake, `spent` the part of it that the learned expectations use. `learners` says what
    each learner proposed, or why nothing. `notes` says where the range of a metric comes from. `found` describes how
    columns with failures changed ("" for the table); `short` says that fewer rows explain it. `shapes` are the text
    rules learned from this batch: they apply to the next one if this one is accepted. `blamed` are the metrics that
    make the batch anomalous, each with its share. `changes` are further changes of the batch, in words.
    """

    mode: Mode = Mode.GUARD
    action: Action = Action.HOLD
    budget: float = 0.0
    spent: float = 0.0
    runs: int = 0
    after: tuple[str, ...] = ()
    learners: dict[str, str] = {}
    notes: dict[str, str] = {}
    found: dict[str, tuple[str, ...]] = {}
    short: bool = False
    shapes: tuple[Proposal, ...] = ()
    blamed: tuple[tuple[str, float], ...] = ()
    changes: tuple[str, ...] = ()
