"""What a gate did with one batch besides judging it: what it spent, what it learned, what it saw change."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headgate.values.proposal import Proposal


class Action(StrEnum):
    """What a pipeline is told to do with a batch."""

    PUBLISH = "publish"
    HOLD = "hold"


class Mode(StrEnum):
    """A gate that guards holds what fails; one that observes says so and lets it pass."""

    GUARD = "guard"
    OBSERVE = "observe"


class Account(msgspec.Struct, frozen=True):
    """Recorded with the run, so that a verdict can be told again from the history alone.

    `after` are the attempts of the runs it was compared with. `budget` is the share of good batches that may be held,
    `spent` what the learned expectations cost of it together. `learners` says of each learner what it gave, or why
    nothing. `notes` tells where the range of a metric came from. `found` is how columns that broke something look now
    beside the runs before ("" for the table); `short` says that the number of rows is why. `shapes` are the rules about
    the form of texts that this batch taught: the next one is judged by them if this one is accepted. `blamed` are the
    metrics that made the batch unlike the others, each with its share.
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
