"""What holds of every series detector, found through the registry."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.anomaly import detector as registry
from headgate.learn.anomaly.absolute_change import AbsoluteChange
from headgate.learn.anomaly.batch_normal import BatchNormal
from headgate.learn.anomaly.detector import Detector, detector, detector_from_key, detectors
from headgate.learn.anomaly.holt_winters import HoltWinters
from headgate.learn.anomaly.online_normal import OnlineNormal
from headgate.learn.anomaly.relative_change import RelativeChange
from headgate.learn.anomaly.series import Ends, Floats
from headgate.learn.anomaly.threshold import Threshold
from headgate.values.errors import HeadgateError, MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between
from tests.learn.anomaly.examples import CHEAP, SMOOTHING, series

ALL = (*CHEAP, *SMOOTHING)
amounts = st.one_of(st.none(), st.floats(0.0, 1e9), st.integers(0, 100))
sides = st.sampled_from([(True, True), (True, False), (False, True)])


def check_band(each: Detector, past: list[float]) -> None:
    band = each.band(past)
    if isinstance(band, Between):
        ends = [end for end in (band.low, band.high) if end is not None]
        assert ends
        assert all(math.isfinite(end) for end in ends)
    else:
        assert isinstance(band, Undefined)
        assert band.why


@settings(max_examples=200)
@given(st.sampled_from(CHEAP), series)
def test_an_end_of_a_band_is_finite_or_missing(each: Detector, past: list[float]) -> None:
    check_band(each, past)


@settings(max_examples=40)
@given(st.sampled_from(SMOOTHING), series)
def test_an_end_of_a_smoothed_band_is_finite_or_missing(each: Detector, past: list[float]) -> None:
    check_band(each, past)


def check_flags(each: Detector, values: list[float], cut: int) -> None:
    flagged = each.find_anomalies(values)
    assert each.find_anomalies(values[:cut]) == tuple(at for at in flagged if at < cut)
    for at in flagged:
        band = each.band(values[:at])
        assert isinstance(band, Between)
        assert not band.holds(values[at])


@settings(max_examples=100)
@given(st.sampled_from(CHEAP), series, st.integers(0, 40))
def test_a_value_is_judged_by_the_values_before_it_only(each: Detector, values: list[float], cut: int) -> None:
    check_flags(each, values, cut)


@settings(max_examples=5)
@given(st.sampled_from(SMOOTHING), st.lists(st.floats(-9.0, 9.0), max_size=22), st.integers(0, 22))
def test_a_smoothed_value_is_judged_by_the_values_before_it_only(each: Detector, values: list[float], cut: int) -> None:
    check_flags(each, values, cut)


@settings(max_examples=100)
@given(st.sampled_from(CHEAP), series)
def test_missing_values_are_neither_flagged_nor_counted(each: Detector, values: list[float]) -> None:
    assert not any(math.isnan(values[at]) for at in each.find_anomalies(values))
    skips = not isinstance(each, RelativeChange)  # there a place is a distance back, so that weekdays stay in step
    if skips:
        assert each.band(values) == each.band([value for value in values if math.isfinite(value)])


@pytest.mark.parametrize("each", ALL, ids=str)
def test_the_text_of_a_detector_names_it_again(each: Detector) -> None:
    assert detector_from_key(str(each.key)) == each
    assert detector_from_key(each.key) == each
    assert MetricKey.parse(str(each.key)) == each.key


@settings(max_examples=50)
@given(amounts, amounts, sides, st.integers(2, 9))
def test_parameters_survive_the_round_trip(
    low: float | None, high: float | None, side: tuple[bool, bool], count: int
) -> None:
    made: list[Detector] = [
        OnlineNormal(deviations=1.0 + (low or 0.0), lower=side[0], upper=side[1], difference=count, warm_up=count),
        BatchNormal(deviations=1.0 + (low or 0.0), window=count, lower=side[0], upper=side[1]),
        HoltWinters(period=count, trend=side[0], confidence=1.0 - 0.5**count),
    ]
    if low is not None or high is not None:
        made.append(AbsoluteChange(low, high, order=count))
    if low is not None and high is not None:
        made.append(RelativeChange(min(low, high), max(low, high), order=count))
    for each in made:
        assert detector_from_key(str(each.key)) == each


@pytest.mark.parametrize(
    ("each", "text"),
    [
        (OnlineNormal(), "online_normal(deviations=3.0)"),
        (OnlineNormal(4, upper=False), "online_normal(deviations=4.0, upper=false)"),
        (BatchNormal(window=30), "batch_normal(deviations=3.0, window=30)"),
        (HoltWinters(), "holt_winters(confidence=0.99)"),
        (HoltWinters(7), "holt_winters(period=7, confidence=0.99)"),
        (Threshold(high=1), "threshold(high=1.0)"),
        (AbsoluteChange(most_down=5), "absolute_change(most_down=5.0)"),
        (RelativeChange(0.9, 1.1, order=7), "relative_change(least=0.9, most=1.1, order=7)"),
    ],
)
def test_a_detector_prints_as_people_write_it(each: Detector, text: str) -> None:
    assert str(each) == text


def test_defaults_are_part_of_stored_names_and_stay() -> None:
    """A change here changes what stored keys mean."""
    assert OnlineNormal() == OnlineNormal(3.0, True, True, True, 0, 5)
    assert BatchNormal() == BatchNormal(3.0, None, True, True, 0, 5)
    assert HoltWinters() == HoltWinters(None, True, 0.99, True, True)
    assert AbsoluteChange(most_up=1.0) == AbsoluteChange(None, 1.0, 1)
    assert RelativeChange(most=1.0) == RelativeChange(None, 1.0, 1)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("online_norml(deviations=3.0)", "Did you mean 'online_normal'?"),
        ("online_normal(deviation=3.0)", "Did you mean 'deviations'?"),
        ("online_normal(price)", "Write online_normal(parameter=value)."),
        ('online_normal() where "a = 1"', "Write online_normal(parameter=value)."),
        ("threshold(low=1, low=2)", "once"),
        ('online_normal(deviations="3")', "Write a number above 0."),
        ("holt_winters(confidence=1.0)", "Write a number above 0 and below 1."),
    ],
)
def test_a_key_that_names_no_detector_is_refused_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(MisuseError) as trouble:
        detector_from_key(text)
    assert hint in trouble.value.hint


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Threshold, {}),
        (Threshold, {"low": 2.0, "high": 1.0}),
        (Threshold, {"low": math.nan}),
        (Threshold, {"high": math.inf}),
        (Threshold, {"high": 10**400}),
        (AbsoluteChange, {}),
        (AbsoluteChange, {"most_down": -1.0}),
        (AbsoluteChange, {"most_up": 1.0, "order": 0}),
        (RelativeChange, {}),
        (RelativeChange, {"least": -0.1, "most": 0.1}),
        (RelativeChange, {"least": 1.1, "most": 0.9}),
        (RelativeChange, {"least": 0.9, "order": 1.5}),
        (OnlineNormal, {"deviations": 0.0}),
        (OnlineNormal, {"deviations": None}),
        (OnlineNormal, {"deviations": True}),
        (OnlineNormal, {"lower": False, "upper": False}),
        (OnlineNormal, {"ignore_anomalies": 1}),
        (OnlineNormal, {"difference": -1}),
        (OnlineNormal, {"warm_up": 1}),
        (BatchNormal, {"window": 1}),
        (HoltWinters, {"period": 0}),
        (HoltWinters, {"period": True}),
        (HoltWinters, {"confidence": 1.0}),
        (HoltWinters, {"trend": "add"}),
    ],
)
def test_a_wrong_parameter_is_refused_at_construction(kind: type[Detector], wrong: dict[str, Any]) -> None:
    with pytest.raises(HeadgateError) as trouble:
        kind(**wrong)
    assert kind.name in str(trouble.value)
    assert trouble.value.hint


@pytest.mark.parametrize("past", [[[1.0], [2.0]], ["a"], 3.0], ids=str)
def test_what_is_no_series_is_refused(past: Any) -> None:
    with pytest.raises(MisuseError, match="a series"):
        OnlineNormal().band(past)


@pytest.mark.parametrize("each", ALL, ids=str)
def test_too_little_history_says_how_much_is_needed(each: Detector) -> None:
    band = each.band([])
    if isinstance(each, Threshold):
        assert band == Between(-1.0, 1.0)
    else:
        assert isinstance(band, Undefined)
        needed = int(band.why.split()[1])
        assert band.why.endswith("there are 0")
        assert isinstance(each.band([1.0 + 0.01 * at**2 for at in range(needed)]), Between)
        assert isinstance(each.band([1.0] * (needed - 1)), Undefined)


@pytest.mark.parametrize("value", [0.1, 1e9 / 3.0, -2.0 / 3.0, 0.0, 1e-300, 1e300])
@pytest.mark.parametrize(
    "each", [OnlineNormal(), BatchNormal(), BatchNormal(window=3), HoltWinters(), OnlineNormal(difference=1)], ids=str
)
def test_a_constant_series_allows_its_value_and_rounding_but_nothing_else(each: Detector, value: float) -> None:
    band = each.band([value] * 30)
    assert isinstance(band, Between)
    assert band.holds(value)
    assert band.holds(np.nextafter(value, math.inf)) or value == 0.0
    assert band.holds(np.nextafter(value, -math.inf)) or value == 0.0
    assert not band.holds(value * (1.0 + 1e-12) + (value == 0.0) * 1e-300)
    assert not band.holds(value * (1.0 - 1e-12) - (value == 0.0) * 1e-300)


def test_a_detector_of_ones_own_registers_and_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(detectors()))

    @detector
    class Highest(Detector, frozen=True):
        """Not above the largest so far."""

        margin: float = 0.0
        name: ClassVar = "highest"

        def ends(self, values: Floats) -> Ends | Undefined:
            return Ends(None, float(np.nanmax(values)) + self.margin) if len(values) else Undefined("no past")

    assert detector_from_key("highest(margin=1.0)") == Highest(1.0)
    assert Highest().find_anomalies([1.0, 2.0, 2.0, 1.0, 3.0]) == (1, 4)
    assert list(detectors()) == sorted(detectors())


def test_a_name_that_cannot_be_stored_or_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", dict(detectors()))

    class Shouting(Detector, frozen=True):
        name: ClassVar = "Shouting"

    class Second(Detector, frozen=True):
        name: ClassVar = "threshold"

    for wrong in (Shouting, Second):
        with pytest.raises(MisuseError):
            detector(wrong)


def test_importing_detectors_imports_neither_statsmodels_nor_scipy() -> None:
    code = (
        "import sys; import headgate.learn.anomaly; from headgate.learn.anomaly.detector import detectors; "
        "detectors()['online_normal']().band([1.0] * 9); sys.exit(bool({'statsmodels', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0
