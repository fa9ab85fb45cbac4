"""The detectors of the novelty benchmark, held against scikit-learn and against points whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from benchmarks.novelty.candidates import CANDIDATES, Scores, average_neighbours, labels, local_outliers
from benchmarks.novelty.curves import average_knn, headgates_novelty
from benchmarks.novelty.protocol import Confusion
from benchmarks.novelty.vectors import Vectors
from headgate.learn.metric_traits import traits_of
from headgate.learn.novelty.features import PAPER_FEATURES
from headgate.learn.novelty.model import Novelty
from headgate.learn.past import Past
from headgate.values.key import MetricKey

FAR = 40.0


def usual(count: int, seed: int = 0, width: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).normal(10.0, 1.0, (count, width))


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_batch_far_from_all_scores_above_usual_ones(name):
    past = usual(40)
    scores = CANDIDATES[name](past, np.vstack([usual(5, seed=1), np.full(6, FAR)]))
    assert scores.tests[5] > scores.tests[:5].max()
    assert len(scores.history) == len(past)


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_shortest_history_and_missing_numbers_are_no_trouble(name):
    past, now = usual(8), usual(2, seed=1)
    past[:, 0], now[1, 2], past[3, 4] = np.nan, np.nan, np.nan
    assert labels(CANDIDATES[name], past, now).shape == (2,)


def test_average_neighbours_are_those_of_scikit_learn():
    past, now = usual(30), usual(4, seed=1)
    near = NearestNeighbors(n_neighbors=5).fit(past)
    found = average_neighbours(past, now)
    assert found.history == pytest.approx(near.kneighbors()[0].mean(axis=1))
    assert found.tests == pytest.approx(near.kneighbors(now)[0].mean(axis=1))


def test_local_outliers_are_those_of_scikit_learn():
    past, now = usual(50), usual(4, seed=1)
    model = LocalOutlierFactor(n_neighbors=20, novelty=True).fit(past)
    found = local_outliers(past, now)
    assert found.history == pytest.approx(-model.negative_outlier_factor_)
    assert found.tests == pytest.approx(-model.score_samples(now))


def test_an_outlier_is_beyond_the_percentile_that_contamination_leaves():
    found = Scores(np.arange(101.0), np.array([98.9, 99.1]))
    assert found.outliers(contamination=0.01).tolist() == [False, True]


def vectors(values: np.ndarray) -> Vectors:
    keys = [MetricKey(name, (column,)) for column in ("a", "b") for name in ("completeness", "mean", "stddev")]
    return Vectors(tuple(map(str, range(len(values)))), tuple(keys), values)


def test_the_learner_in_the_papers_form_labels_as_the_plain_reference_does():
    runs = usual(40)
    tests = np.vstack([usual(30, seed=1), usual(30, seed=2) * 1.5])
    for count in (8, 20, 40):
        past = Past(tuple(map(str, range(count))), tuple(map(traits_of, vectors(runs).keys)), runs[:count], (), {})
        model = Novelty.learn(past, features=PAPER_FEATURES, form="paper")
        learned = model.scores_of(model.features.scale_rows(tests)) > model.threshold
        plain = average_knn(vectors(runs), count, tests)
        assert learned.tolist() == plain.tolist()
        assert 0 < plain.sum() < len(plain)


def test_headgates_form_flags_what_is_far_and_passes_what_is_usual():
    flags = headgates_novelty(vectors(usual(40)), 40, np.vstack([usual(1, seed=3), np.full(6, FAR)]))
    assert flags.tolist() == [False, True]


def test_flagging_everything_is_worth_as_much_as_flagging_nothing():
    assert Confusion.of([(True, True)] * 5).auc == Confusion.of([(False, False)] * 5).auc == 0.5
