"""Whether a column holds exactly what it held in the earlier batch: what always changes and now does not is stale."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
from headgate.metrics.distances.distance import NONE_BEFORE, NONE_NOW, Distance
from headgate.metrics.distances.labels import OTHER_SECRET
from headgate.metrics.distances.registry import distance
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import HASHABLE

NOT_KEPT = "the batches hold more different values than are kept"


@distance
class Unchanged(Distance[Frequencies], frozen=True):
    """1 where both batches hold the same values equally often, 0 where they do not.

    It is the one comparison that is not 0 for a batch and itself. Not told where both batches hold more than 512
    different values: the rare ones are not kept, so a change among them goes unseen.

    Error: none.
    """

    name: ClassVar = "unchanged"
    label: ClassVar = Label(name="same as the run before", value_format=ValueFormat.FLAG)
    state: ClassVar = Frequencies
    folded: ClassVar = "frequent_values"
    accepts: ClassVar = HASHABLE
    most: ClassVar = 1.0

    def between(self, now: Frequencies, before: Frequencies) -> Outcome:
        if not now.total or not before.total:
            return Undefined(NONE_BEFORE if now.total else NONE_NOW)
        if now.hashed != before.hashed:
            return Undefined(OTHER_SECRET)
        if now.lost and before.lost:
            return Undefined(NOT_KEPT)
        same = (now.total, now.hashes, now.counts) == (before.total, before.hashes, before.counts)
        return Measured(1.0 if same else 0.0)

    def error(self, now: Frequencies, before: Frequencies) -> float:
        if not now.total or not before.total or now.hashed != before.hashed:
            return math.inf
        return math.inf if now.lost and before.lost else 0.0
