"""Correct the rate of false alarms that an index estimates by what was seen: how often good values broke such rules.

Columns of one source are alike, so an index that counts columns is too sure of itself. Rules from columns that were not
in an index were held against later values of their columns, sampled by source.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec
import numpy as np


class AlarmRates(msgspec.Struct, frozen=True):
    """The rate at which good values break a rule, for rates that an index estimates; both rise."""

    estimated: tuple[float, ...]
    seen: tuple[float, ...]

    def correct(self, estimate: float) -> float:
        """The rate to state for a rule, at most 1. Beyond the largest estimate, the estimate itself if it is more.

        >>> AlarmRates((0.0, 0.01, 0.1), (0.004, 0.02, 0.1)).correct(0.005)
        0.012
        """
        within = float(np.interp(estimate, self.estimated, self.seen))
        return min(1.0, max(within, estimate if estimate > self.estimated[-1] else 0.0))

    def find_estimate(self, rate: float) -> float:
        """The estimate for which a rate is stated; less than 0, which no estimate is, if every rate is higher.

        >>> AlarmRates((0.0, 0.01, 0.1), (0.004, 0.02, 0.1)).find_estimate(0.012)
        0.005
        """
        if rate < self.seen[0]:
            return -1.0
        return (
            max(rate, self.estimated[-1]) if rate > self.seen[-1] else float(np.interp(rate, self.seen, self.estimated))
        )


AS_ESTIMATED = AlarmRates((0.0, 1.0), (0.0, 1.0))
"""Corrects nothing."""


@cache
def load_alarm_rates() -> AlarmRates:
    """The rates that ship with the package; `python -m training.pattern_rates` computes them."""
    return msgspec.json.decode((files("headgate.learn.patterns") / "alarm_rates.json").read_bytes(), type=AlarmRates)
