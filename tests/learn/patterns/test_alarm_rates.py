"""The correction of stated rates of pattern rules."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.patterns.alarm_rates import AS_ESTIMATED, AlarmRates, load_alarm_rates
from headgate.learn.patterns.settings import InferenceSettings

RATES = AlarmRates((0.0, 0.01, 0.1), (0.004, 0.02, 0.1))


@pytest.mark.parametrize("rate", [0.004, 0.01, 0.02, 0.05, 0.1, 0.4, 0.9])
def test_a_rate_is_stated_for_the_estimate_that_it_leads_to(rate: float) -> None:
    assert RATES.correct(RATES.find_estimate(rate)) == pytest.approx(rate)


def test_no_rule_states_less_than_the_lowest_rate() -> None:
    assert RATES.find_estimate(0.003) < 0
    assert RATES.correct(0.0) == 0.004


def test_no_rate_is_above_one() -> None:
    assert RATES.correct(3.0) == 1.0


def test_nothing_is_corrected_of_the_paper_or_when_asked() -> None:
    assert InferenceSettings.of("fmdv-vh").find_alarm_rate(0.02) == 0.02
    assert InferenceSettings.of("headgate", alarm_rates=AS_ESTIMATED).find_alarm_rate(0.02) == pytest.approx(0.02)


def test_the_rates_of_the_package_rise() -> None:
    rates = load_alarm_rates()
    assert (np.diff(rates.estimated) > 0).all()
    assert (np.diff(rates.seen) > 0).all()
    assert len(rates.estimated) == len(rates.seen) >= 5
    assert rates.correct(0.005) > 0.005
