"""The share of values that no earlier batch held."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.distances.labels import BetweenValues, Side
from headgate.metrics.distances.registry import distance
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.outcome import Outcome, Undefined

FORGOTTEN = "the earlier batches hold more different values than are kept"


@distance
class NewValues(BetweenValues, frozen=True):
    """The share of the batch's values that are not among those of all earlier ones, taken together.

    Told only where the earlier batches have at most 512 different values: of more, some are forgotten, and what is new
    cannot be known.

    Error: at most the share of the batch that its own summary leaves out.
    """

    name: ClassVar = "new_values"
    most: ClassVar = 1.0
    symmetric: ClassVar = False
    of_all: ClassVar = True

    def between(self, now: Frequencies, before: Frequencies) -> Outcome:
        return Undefined(FORGOTTEN) if before.lost and now.total else super().between(now, before)

    def apart(self, now: Side, before: Side) -> float:
        return float(now.known[before.known == 0].sum()) / now.total

    def bound(self, now: Side, before: Side) -> float:
        return math.inf if before.lost else now.lost_share
