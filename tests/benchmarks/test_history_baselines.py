"""Every other method of the history benchmark, on histories whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstwobign, spearmanr
from sklearn.ensemble import IsolationForest

from benchmarks.history.baselines.every import METHODS
from benchmarks.history.baselines.isolation import isolation
from benchmarks.history.baselines.kolmogorov import log_significance
from benchmarks.history.baselines.method import Series, table_scores
from benchmarks.history.cases import BROKEN, LENGTH, Window
from benchmarks.history.columns import NUMERIC
from benchmarks.history.protocol import curve, judged, point, recall_at, recall_by_issue, scores

NAMES = (
    *("size", "completeness", "min", "max", "mean", "unique_ratio"),
    *("approx_count_distinct", "ks_dist", "js_div", "value_chi_squared", "value_l_inf"),
)
BY_NAME = {method.name: method for method in METHODS}


def usual_runs(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centre = np.array([1000.0, 0.9, 0.0, 50.0, 25.0, 0.05, 40.0, 0.02, 0.002, 0.01, 0.005])
    spread = np.array([10.0, 0.005, 0.0, 1.0, 0.5, 0.002, 0.0, 0.005, 0.0005, 0.002, 0.001])
    return centre + spread * rng.uniform(-1, 1, (count, len(centre)))


def strange_run() -> np.ndarray:
    return np.array([[100.0, 0.3, -5.0, 5000.0, 900.0, 0.6, 90.0, 0.8, 0.7, 1.5, 0.8]])


def window(injected: np.ndarray) -> Window:
    clean = usual_runs(LENGTH)
    clean[0, 7:] = np.nan  # the first run has none before it
    issues = tuple(f"unit_change(factor={at})" for at in range(len(injected)))
    partitions = tuple(map(str, range(LENGTH)))
    changed = np.ones(len(injected), np.bool_)
    return Window("made/up", "price", NUMERIC, partitions, NAMES, clean, issues, injected, changed)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_strange_batch_scores_above_usual_ones(method):
    found = method.scores(usual_runs(30), np.concatenate([usual_runs(5, seed=1), strange_run()]), NAMES)
    assert np.isfinite(found).all()
    assert found[5] > found[:5].max()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_missing_numbers_are_no_trouble(method):
    history, tests = usual_runs(30), np.concatenate([usual_runs(2, seed=1), strange_run()])
    history[:, 4] = np.nan
    history[0, 7:] = np.nan
    tests[:2, 2:5] = np.nan
    assert np.isfinite(method.scores(history, tests, NAMES)).all()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_history_that_never_moved_is_no_trouble(method):
    history = np.repeat(usual_runs(1), 30, axis=0)
    found = method.scores(history, np.concatenate([history[:1], strange_run()]), NAMES)
    assert np.isfinite(found).all()
    assert method.name == "isolation forest" or found[1] > found[0]


def test_a_metric_that_never_moved_is_strange_as_soon_as_it_moves():
    tests = usual_runs(1, seed=1)
    tests[0, 2] = 1e-3
    assert BY_NAME["MAD"].scores(usual_runs(30), tests, NAMES)[0] > 1e3


def test_deequ_rules_count_what_is_broken():
    tests = usual_runs(30)[-1:].copy()
    assert BY_NAME["Deequ rules"].scores(usual_runs(30), tests, NAMES)[0] == 0
    tests[0, 1], tests[0, 2] = 0.5, -1.0  # less complete; below the least, and negative
    assert BY_NAME["Deequ rules"].scores(usual_runs(30), tests, NAMES)[0] == 3


def test_tfdv_rules_are_in_units_of_the_threshold():
    tests = usual_runs(1)
    tests[0, 8] = 0.03
    assert BY_NAME["TFDV rules"].scores(usual_runs(30), tests, NAMES)[0] == pytest.approx(3)


def test_the_forest_ranks_as_scikit_learns():
    rng = np.random.default_rng(1)
    past, now = rng.normal(size=(30, 8)), rng.normal(size=(40, 8)) * rng.uniform(0.5, 4, (40, 1))
    theirs = -IsolationForest(n_estimators=300, max_samples=30, random_state=0).fit(past).score_samples(now)
    ours = isolation(past, now, rng, trees=300)
    assert spearmanr(ours, theirs).statistic > 0.95
    assert np.abs(ours - theirs).max() < 0.05


def test_kolmogorovs_limit_is_scipys_and_does_not_underflow():
    z = np.array([0.1, 0.3, 0.7, 0.999, 1.0, 1.5, 3.0])
    assert np.exp(log_significance(z)) == pytest.approx(kstwobign.sf(z), rel=1e-9)
    assert log_significance(np.array([1000.0]))[0] == pytest.approx(-2e6, rel=1e-5)


def test_a_tables_score_is_that_of_its_strangest_column():
    history = usual_runs(30)
    tests = np.concatenate([usual_runs(1, seed=1), strange_run()])
    columns = [Series(NUMERIC, NAMES, history, rows) for rows in (tests, tests[::-1])]
    method = BY_NAME["z-score"]
    alone = method.scores(history, tests, NAMES)
    assert table_scores(method, columns).tolist() == [alone.max()] * 2
    assert not len(table_scores(BY_NAME["KS"], [Series("categorical", NAMES, history, tests)]))


def test_each_clean_run_is_judged_by_the_runs_before_it():
    seen = []

    class Watcher:
        name, groups, usual, every = "watcher", frozenset({NUMERIC}), 1.0, 1

        def scores(self, history, tests, names):
            seen.append((len(history), history[-1, 0], tests[0, 0]))
            return np.zeros(len(tests))

    made = window(strange_run())
    clean, broken = scores(Watcher(), made, history=7)
    assert (len(clean), len(broken)) == (LENGTH - BROKEN, 1)
    assert seen == [(7, made.clean[at - 1, 0], made.clean[at, 0]) for at in range(BROKEN, LENGTH)]


def test_precision_counts_alarms_on_clean_runs_and_recall_those_on_issues():
    found = judged(BY_NAME["z-score"], [window(np.concatenate([strange_run()] * 3))])
    assert point(found, 50.0)[1:] == (1.0, 1.0, 0.0)
    assert point(found, 0.0).precision == pytest.approx(3 / 33)
    assert point(found, np.inf)[1:] == (1.0, 0.0, 0.0)
    assert recall_at(found, 0.99).recall == 1.0
    assert recall_by_issue(found, 50.0) == {"unit_change": 1.0}


def test_a_run_that_stands_for_three_weighs_three():
    found = judged(BY_NAME["isolation forest"], [window(strange_run())])
    assert len(found.clean) == 10
    assert point(found, 0.0).precision == pytest.approx(1 / 31)
    assert not len(found.of("categorical").clean)


def test_a_curve_goes_through_the_points_of_its_thresholds():
    rng = np.random.default_rng(2)
    injected = usual_runs(40, seed=3) + rng.uniform(0, 2, (40, 1)) * usual_runs(30).std(axis=0)
    found = judged(BY_NAME["z-score"], [window(injected)])
    points = curve(found)
    assert len(points) > 5
    assert all(each == pytest.approx(point(found, each.threshold)) for each in points)
    assert [each.recall for each in points] == sorted(each.recall for each in points)
    best = recall_at(found, 0.8)
    assert best.precision >= 0.8
    assert all(each.recall <= best.recall for each in points if each.precision >= 0.8)
