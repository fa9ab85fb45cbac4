"""Distances to the nearest, against a ball tree and against what is written out by hand."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.novelty.neighbours import Aggregate, aggregate_nearest, leave_one_out_scores, pairwise_gaps

Floats = npt.NDArray[np.float64]
OF = {Aggregate.MEAN: np.mean, Aggregate.LARGEST: np.max, Aggregate.MEDIAN: np.median}


def points(runs: int, features: int, seed: int = 0) -> Floats:
    return np.random.default_rng([seed, runs, features]).random((runs, features))


def by_hand(past: Floats, point: Floats, count: int, how: Aggregate) -> float:
    distances = sorted(math.dist(point.tolist(), other.tolist()) for other in past)
    return float(OF[how](distances[:count]))


@pytest.mark.parametrize(("runs", "features"), [(8, 3), (30, 50), (100, 500)])
@pytest.mark.parametrize("how", list(Aggregate))
def test_distances_are_those_of_scikit_learn_s_ball_tree(runs: int, features: int, how: Aggregate) -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    past, new = points(runs, features), points(4, features, seed=1)
    tree = neighbors.BallTree(past)
    among = OF[how](tree.query(past, 6)[0][:, 1:], axis=1)
    assert leave_one_out_scores(past, 5, how) == pytest.approx(among, rel=1e-12)
    assert aggregate_nearest(pairwise_gaps(new, past).distances, 5, how) == pytest.approx(
        OF[how](tree.query(new, 5)[0], axis=1), rel=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 12), st.integers(1, 6), st.integers(1, 8), st.sampled_from(list(Aggregate)), st.integers(0, 10**6)
)
def test_each_run_is_compared_with_all_others_and_not_with_itself(
    runs: int, features: int, count: int, how: Aggregate, seed: int
) -> None:
    past = points(runs, features, seed)
    found = leave_one_out_scores(past, count, how)
    for at, point in enumerate(past):
        assert found[at] == pytest.approx(by_hand(np.delete(past, at, axis=0), point, count, how))


def test_equal_runs_are_at_no_distance_at_all() -> None:
    past = np.repeat(points(2, 400), 10, axis=0)
    assert leave_one_out_scores(past, 5).tolist() == [0.0] * 20


def test_a_gap_counts_for_no_more_than_the_cap() -> None:
    found = pairwise_gaps(np.array([[100.0, 3.0]]), np.zeros((1, 2)), cap=5.0).distances
    assert found[0, 0] == pytest.approx(math.hypot(5, 3))


def test_each_run_may_be_measured_in_units_of_its_own() -> None:
    past, units = points(9, 4), 0.5 + points(9, 4, seed=3)
    found = leave_one_out_scores(past, 3, widths=units, cap=0.7)
    for at, unit in enumerate(units):
        gaps = np.minimum(np.abs(np.delete(past, at, axis=0) - past[at]) / unit, 0.7)
        assert found[at] == pytest.approx(np.sort(np.sqrt((gaps**2).sum(axis=1)))[:3].mean())


def test_a_missing_feature_lies_as_far_apart_as_the_others_do_on_average() -> None:
    whole = pairwise_gaps(np.array([[1.0, 1.0, 1.0]]), np.zeros((1, 3))).distances
    partly = pairwise_gaps(np.array([[1.0, math.nan, 1.0]]), np.zeros((1, 3))).distances
    assert partly == pytest.approx(whole)


def test_missing_features_bring_no_run_nearer() -> None:
    past = points(20, 30)
    some = past.copy()
    some[:5, :10] = math.nan
    among = leave_one_out_scores(some, 5)
    assert among[:5] == pytest.approx(leave_one_out_scores(past, 5)[:5], rel=0.2)


def test_points_that_share_no_feature_are_infinitely_far_apart() -> None:
    assert pairwise_gaps(np.array([[math.nan, 1.0]]), np.array([[1.0, math.nan]])).distances.tolist() == [[math.inf]]


def test_huge_gaps_stay_numbers() -> None:
    assert np.isfinite(pairwise_gaps(np.array([[1e300] * 9]), np.zeros((1, 9))).distances).all()
