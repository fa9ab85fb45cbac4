"""The share of values that no earlier batch held."""

from __future__ import annotations

import math
from typing import ClassVar

from headgate.metrics.base.label import Label, ValueFormat
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
    label: ClassVar = Label("{} values never seen before", value_format=ValueFormat.SHARE, rank=5)
    moves_with_rows: ClassVar = True
    most: ClassVar = 1.0
    symmetric: ClassVar = False
    of_all: ClassVar = True

    def between(self, now: Frequencies, before: Frequencies) -> Outcome:
        return Undefined(FORGOTTEN) if before.lost and now.total else super().between(now, before)

    def apart(self, now: Side, before: Side) -> float:
        return float(now.label_counts[before.label_counts == 0].sum()) / now.total

    def bound(self, now: Side, before: Side) -> float:
        return math.inf if before.lost else now.missing_share
