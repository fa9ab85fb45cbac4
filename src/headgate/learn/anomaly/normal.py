"""Shares code between the detectors that allow a number of standard deviations around a mean.

Tested by `tests/learn/anomaly/test_normal_detectors.py`.
"""

from __future__ import annotations

from typing import Protocol

from headgate.learn.anomaly.parameters import check_real, check_sides, check_whole
from headgate.learn.anomaly.series import Ends, Floats, extrapolate_next, scale_of


class Normal(Protocol):
    """The parameters that these detectors share."""

    @property
    def deviations(self) -> float: ...
    @property
    def lower(self) -> bool: ...
    @property
    def upper(self) -> bool: ...
    @property
    def difference(self) -> int: ...
    @property
    def warm_up(self) -> int: ...


def check_normal(owner: Normal) -> None:
    check_real(owner, "deviations", above=0.0)
    check_sides(owner)
    check_whole(owner, "difference", least=0)
    check_whole(owner, "warm_up", least=2)


def normal_ends(owner: Normal, history: Floats, mean: float, deviation: float) -> Ends:
    """The ends mean +- deviations * deviation of the differences, added to the value with a difference of zero."""
    start = extrapolate_next(history, owner.difference)
    reach = owner.deviations * deviation
    return Ends(
        start + mean - reach if owner.lower else None,
        start + mean + reach if owner.upper else None,
        scale_of(history, owner.difference),
    )
