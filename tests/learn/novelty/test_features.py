"""Which measures make up the vector of a run, and on what scale they are compared."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.learn.novelty.features import (
    MIN_NOVELTY_RUNS,
    NOISE_FLOOR,
    PAPER_FEATURES,
    Features,
    leave_one_out_widths,
    natural_size,
)
from headgate.learn.past import Past
from headgate.metrics.base.registry import metrics
from headgate.values.schema import Kind
from tests.learn.histories import orders, past_of, traits

RUNS = 10
RISING = [float(at) for at in range(RUNS)]


def features(past: Past, names: tuple[str, ...] | None = None, noise_floor: float = NOISE_FLOOR) -> dict[str, float]:
    """The width of each feature by its metric."""
    found = Features.of(past.values, past.metrics, names, noise_floor)
    return {str(past.metrics[at].key): float(width) for at, width in zip(found.indices, found.width, strict=True)}


def test_every_statistic_of_the_paper_is_a_metric() -> None:
    assert set(PAPER_FEATURES) <= set(metrics())


def test_the_paper_s_features_are_its_own_and_ours_are_all() -> None:
    assert {each.key.name for each in orders().metrics} > {
        name.split("(")[0] for name in features(orders(), PAPER_FEATURES)
    }
    assert {name.split("(")[0] for name in features(orders(), PAPER_FEATURES)} == set(PAPER_FEATURES) - {
        "index_of_peculiarity"
    }
    assert "ks_dist(price)" in features(orders())


def test_the_past_of_a_feature_lies_within_0_and_1() -> None:
    found = Features.of(orders().values, orders().metrics)
    points = found.scale_rows(orders().values)
    assert np.nanmin(points) >= 0
    assert np.nanmax(points) <= 1


def test_without_a_grain_a_feature_that_varied_fills_the_unit_exactly() -> None:
    past = past_of({"sum(x)": RISING})
    points = Features.of(past.values, past.metrics, noise_floor=0.0).scale_rows(past.values)
    assert (points.min(), points.max()) == (0.0, 1.0)


def test_a_constant_feature_has_a_hundredth_of_its_natural_size_as_its_width() -> None:
    past = past_of({"completeness(x)": [0.5] * RUNS, "sum(x)": [300.0] * RUNS})
    assert features(past) == {"completeness(x)": pytest.approx(0.01), "sum(x)": pytest.approx(3.0)}


def test_a_constant_feature_of_the_paper_s_form_is_compared_as_it_is() -> None:
    past = past_of({"completeness(x)": [0.5] * RUNS, "sum(x)": [300.0] * RUNS})
    assert features(past, noise_floor=0.0) == {"completeness(x)": 1.0, "sum(x)": 1.0}


def test_a_feature_that_is_always_0_has_a_width_too() -> None:
    assert features(past_of({"sum(x)": [0.0] * RUNS})) == {"sum(x)": pytest.approx(0.01)}


def test_the_grain_of_a_moment_is_a_day_whatever_the_century() -> None:
    past = past_of({"max(at)": [1.7e9] * RUNS}, Kind.TIMESTAMP)
    assert features(past) == {"max(at)": pytest.approx(86_400.0)}


def test_the_natural_size_of_a_mean_near_0_is_the_deviation_of_its_column() -> None:
    past = past_of({"mean(x)": [0.01] * RUNS, "stddev(x)": [20.0] * RUNS, "mean(y)": [3.0] * RUNS})
    assert natural_size(past.values, past.metrics).tolist() == [20.0, 20.0, 3.0]


def test_a_feature_is_used_only_if_all_of_the_newest_runs_have_it() -> None:
    gone = [*RISING[:-1], math.nan]
    late = [math.nan] * (RUNS - MIN_NOVELTY_RUNS) + RISING[:MIN_NOVELTY_RUNS]
    too_late = [math.nan] * (RUNS - MIN_NOVELTY_RUNS + 1) + RISING[: MIN_NOVELTY_RUNS - 1]
    past = past_of({"sum(gone)": gone, "sum(late)": late, "sum(too_late)": too_late, "sum(endless)": [math.inf] * RUNS})
    assert set(features(past)) == {"sum(late)"}


def test_metrics_of_two_columns_or_of_some_rows_are_no_features() -> None:
    past = past_of({"correlation(x, y)": RISING, 'mean(x) where "y > 1"': RISING, "approx_quantile(x, q=0.9)": RISING})
    assert features(past) == {}


def test_left_out_widths_are_those_of_the_others() -> None:
    points = np.random.default_rng(1).random((12, 7))
    noise_floor = np.full(7, 0.01)
    for at, found in enumerate(leave_one_out_widths(points, noise_floor)):
        others = np.delete(points, at, axis=0)
        assert found == pytest.approx(np.hypot(np.ptp(others, axis=0), noise_floor))


def test_left_out_widths_know_ties_and_gaps() -> None:
    points = np.array([[1.0, math.nan], [1.0, 0.2], [0.0, 0.9], [0.5, 0.3]])
    assert leave_one_out_widths(points, np.zeros(2)).tolist() == pytest.approx(
        np.array([[1.0, 0.7], [1.0, 0.6], [0.5, 0.1], [1.0, 0.7]])
    )


def test_a_measure_that_is_far_too_large_has_a_width() -> None:
    found = Features.of(np.array([[-1e308]] * 5 + [[1e308]] * 5), [traits("sum(x)")])
    assert np.isfinite(found.width).all()
