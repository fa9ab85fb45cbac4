"""Settings of inference: their checks, their defaults, and the scorers of each method."""

from __future__ import annotations

import pytest

from headgate.learn.patterns.alarm_rates import load_alarm_rates
from headgate.learn.patterns.scoring import ByBacktest, ByCoverage, ByImpurity, critical_share
from headgate.learn.patterns.settings import InferenceSettings
from headgate.values.errors import MisuseError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "fmdv-x"}, "fmdv-v"),
        ({"method": "fmdv", "limit": 1.5}, "limit is 1.5"),
        ({"method": "fmdv", "coverage": 0}, "at least 1"),
        ({"method": "fmdv", "tolerance": -0.1}, "tolerance"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        InferenceSettings.of(**given)


def test_a_significance_of_zero_is_refused() -> None:
    with pytest.raises(MisuseError, match="significance of 0"):
        InferenceSettings.of("headgate", significance=0.0)


def test_what_is_not_given_keeps_the_default_of_the_method() -> None:
    assert InferenceSettings.of("headgate", limit=None) == InferenceSettings()
    assert InferenceSettings.of("fmdv", coverage=9).limit < InferenceSettings().limit
    assert InferenceSettings.of("fmdv", coverage=9).coverage == 9


@pytest.mark.parametrize(
    ("method", "vertical", "horizontal"),
    [
        ("fmdv", False, False),
        ("fmdv-v", True, False),
        ("fmdv-h", False, True),
        ("fmdv-vh", True, True),
        ("tag", False, True),
        ("headgate", True, True),
    ],
)
def test_a_method_cuts_in_the_directions_of_its_name(method: str, vertical: bool, horizontal: bool) -> None:
    settings = InferenceSettings.of(method)
    assert (settings.cuts_vertically, settings.cuts_horizontally) == (vertical, horizontal)


def test_the_methods_of_the_paper_have_one_scorer() -> None:
    assert list(InferenceSettings.of("fmdv-vh").scorers(100, 10)) == [(ByImpurity(0.1, 5), 0.0)]
    assert list(InferenceSettings.of("tag").scorers(100, 10)) == [(ByCoverage(0.1, 5), 0.0)]


def test_headgate_tries_larger_tolerated_shares_after_the_critical_one() -> None:
    limit = load_alarm_rates().find_estimate(InferenceSettings().limit)
    strict, *others = InferenceSettings().scorers(1_000, 10)
    assert strict == (ByBacktest(limit, 5, critical_share(1_000, 0.01), 10), 0.0)
    assert others == [(ByBacktest(limit, 5, share, 10), share) for share in (0.05, 0.4)]
    assert len(list(InferenceSettings().scorers(10, 10))) == 1  # the test on few values tolerates more than 40%
