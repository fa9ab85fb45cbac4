"""Limits of time hold on slow machines, and still fail where the work is slow."""

from __future__ import annotations

import pytest

from tests import timing


def spend(seconds: list[float], monkeypatch: pytest.MonkeyPatch, slowness: float) -> float:
    """What is measured of work that takes so many seconds in each try, on a machine that is so slow."""
    taken = iter(seconds)
    monkeypatch.setattr(timing, "_measure_seconds", lambda work: next(taken))
    monkeypatch.setattr(timing, "measure_slowness", lambda: slowness)
    return timing.measure_least_seconds(lambda: None, 1.0)


@pytest.mark.parametrize(
    ("seconds", "slowness", "measured"),
    [([0.9], 5.0, 0.9), ([1.6, 0.8], 1.0, 0.8), ([1.6], 2.0, 0.8), ([3.0, 2.8, 2.6, 2.4], 2.0, 1.2)],
)
def test_the_least_of_four_tries_counts(
    monkeypatch: pytest.MonkeyPatch, seconds: list[float], slowness: float, measured: float
) -> None:
    assert spend(seconds, monkeypatch, slowness) == pytest.approx(measured)


def test_no_machine_makes_a_limit_tighter() -> None:
    assert timing.measure_slowness() >= 1.0
