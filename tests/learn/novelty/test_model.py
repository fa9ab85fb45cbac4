"""How novel a batch is, against the paper's detector written out by hand, and what makes it so."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

import numpy as np
import pytest

import headgate as hg
from headgate.learn.novelty.features import MIN_NOVELTY_RUNS, PAPER_FEATURES
from headgate.learn.novelty.model import DEFAULT_NEIGHBOURS, MIN_USUAL_SCORE, Novelty, adapt_contamination
from headgate.learn.past import Past
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured, Outcome, Undefined
from tests.learn.histories import analysis, batch, orders, past_of

RUNS = 20
WITH: dict[str, dict[str, float]] = {
    "unit_change": {"factor": 100.0},
    "casing_change": {"share": 1.0},
    "increased_nulls": {"share": 0.5},
}


def learned(past: Past, **given: object) -> Novelty:
    found = Novelty.learn(past, **given)  # type: ignore[arg-type]
    assert isinstance(found, Novelty)
    return found


@cache
def model() -> Novelty:
    return learned(orders(RUNS))


@cache
def day(number: int, issue: str = "", column: str = "") -> dict[MetricKey, Outcome]:
    """What a day is judged by after the first twenty, whole or with one column broken."""
    found = hg.analyze(hg.inject_issue(batch(number), issue, column, **WITH[issue])) if issue else analysis(number)
    return orders(RUNS).outcomes(found)


def series(runs: int, features: int, seed: int = 7) -> Past:
    values = np.random.default_rng(seed).normal(100, 10, (runs, features))
    return past_of({f"sum(c{at})": values[:, at].tolist() for at in range(features)})


def row(past: Past, values: list[float]) -> dict[MetricKey, Outcome]:
    return {each.key: Measured(value) for each, value in zip(past.metrics, values, strict=True)}


# --- the paper's form


@pytest.mark.parametrize("runs", [8, 30])
def test_the_paper_s_form_is_the_detector_of_its_algorithm(runs: int) -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    past, new = series(runs, 12), [90.0 + at for at in range(12)]
    scaler = preprocessing.MinMaxScaler().fit(past.values)
    points = scaler.transform(past.values)
    tree = neighbors.BallTree(points)
    among = tree.query(points, DEFAULT_NEIGHBOURS + 1)[0][:, 1:].mean(axis=1)
    found = learned(past, form="paper", features=["sum"])
    assert found.threshold == pytest.approx(np.percentile(among, 99))
    assert found.score(row(past, new)) == pytest.approx(
        tree.query(scaler.transform([new]), DEFAULT_NEIGHBOURS)[0].mean()
    )


def test_a_constant_feature_of_the_paper_s_form_is_scaled_as_scikit_learn_scales_it() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    past = past_of({"sum(x)": [float(at) for at in range(9)], "sum(y)": [40.0] * 9})
    scaler = preprocessing.MinMaxScaler().fit(past.values)
    new = [4.0, 43.0]
    points, point = scaler.transform(past.values), scaler.transform([new])
    distances = np.sort(np.sqrt(((points - point) ** 2).sum(axis=1)))
    found = learned(past, form="paper", features=["sum"])
    assert found.score(row(past, new)) == pytest.approx(distances[:DEFAULT_NEIGHBOURS].mean())


def test_the_paper_s_form_takes_its_own_features_and_ours_all() -> None:
    assert {key.name for key in learned(orders(RUNS), form="paper").keys} <= set(PAPER_FEATURES)
    assert {key.name for key in model().keys} > {"ks_dist", "str_len", "size"}


# --- scores


def test_eight_runs_are_enough_and_seven_are_not() -> None:
    assert isinstance(Novelty.learn(orders(MIN_NOVELTY_RUNS)), Novelty)
    assert Novelty.learn(orders(MIN_NOVELTY_RUNS - 1)) == Undefined("7 accepted runs of 8 that it takes")


def test_nothing_is_learned_where_no_metric_is_in_all_of_the_newest_runs() -> None:
    past = past_of({"sum(x)": [*[1.0] * 9, math.nan]})
    assert isinstance(Novelty.learn(past), Undefined)


def test_good_days_are_nearly_as_near_as_days_usually_are() -> None:
    assert all(model().ratio(day(number)) < 1.2 for number in range(RUNS, 30))


@pytest.mark.parametrize(
    ("issue", "column"),
    [("unit_change", "price"), ("casing_change", "country"), ("increased_nulls", "code")],
)
def test_a_broken_column_is_far_and_is_named_first(issue: str, column: str) -> None:
    outcomes = day(25, issue, column)
    assert model().ratio(outcomes) > 1.5
    assert model().columns(outcomes)[0][0] == column
    assert model().contributions(outcomes)[0][0].columns == (column,)


def test_contributions_add_up_to_one_with_the_largest_first() -> None:
    found = model().contributions(day(25, "unit_change", "price"))
    shares = [share for _, share in found]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    assert sum(share for _, share in model().columns(day(25))) == pytest.approx(1.0)


def test_contributions_are_the_shares_of_the_squared_gaps_to_the_nearest() -> None:
    past = past_of({"sum(x)": [float(at % 2) for at in range(9)], "sum(y)": [float(at % 3) for at in range(9)]})
    found = learned(past, form="paper", features=["sum"], neighbours=9)
    outcomes = row(past, [3.0, 2.0])
    gaps = ((past.values - [3.0, 2.0]) / [1.0, 2.0]) ** 2
    expected = gaps.sum(axis=0) / gaps.sum()
    assert {str(key): share for key, share in found.contributions(outcomes)} == {
        "sum(x)": pytest.approx(expected[0]),
        "sum(y)": pytest.approx(expected[1]),
    }


def test_a_batch_like_its_neighbours_has_no_contributions() -> None:
    past = past_of({"sum(x)": [5.0] * 9})
    assert learned(past).contributions(row(past, [5.0])) == ()


def test_the_ratio_is_the_score_in_units_of_what_nine_runs_in_ten_do_not_exceed() -> None:
    past = series(30, 200)
    found = learned(past)
    assert found.usual == np.sort(found.scores)[26] > MIN_USUAL_SCORE
    assert found.runs_beyond_usual == 4
    outcomes = row(past, [120.0] * 200)
    assert found.ratio(outcomes) == pytest.approx(found.score(outcomes) / found.usual)


def test_a_run_is_measured_on_the_scale_of_the_others() -> None:
    """One run that jumps far sets no scale by which its jump is small."""
    values = [[10.0 + at % 3] * 20 for at in range(10)]
    values[4] = [1_000.0] * 20
    past = past_of({f"sum(c{at})": [line[at] for line in values] for at in range(20)})
    assert np.argmax(learned(past).scores) == 4
    assert learned(past).scores[4] > 3 * learned(past, form="paper", features=["sum"]).scores[4]


def test_one_feature_that_goes_far_counts_for_no_more_than_the_cap() -> None:
    past = series(30, 50)
    middle = past.values.mean(axis=0).tolist()
    far, farther = ([value, *middle[1:]] for value in (1e6, 1e12))
    assert learned(past).score(row(past, far)) == learned(past).score(row(past, farther))
    assert learned(past, form="paper", features=["sum"]).score(row(past, farther)) > 1e6


def test_a_table_that_never_varied_is_not_novel_at_the_least_change() -> None:
    past = past_of({"completeness(x)": [1.0] * 30, "sum(x)": [100.0] * 30})
    found = learned(past)
    assert found.ratio(row(past, [1.0, 100.0])) == 0.0
    assert found.ratio(row(past, [0.99, 100.0])) < 1
    assert found.ratio(row(past, [0.5, 100.0])) > 1


def test_a_metric_that_the_batch_lacks_contributes_nothing() -> None:
    outcomes = {key: outcome for key, outcome in day(25).items() if "price" not in key.columns}
    assert model().ratio(outcomes) == pytest.approx(model().ratio(day(25)), rel=0.25)
    assert "price" not in dict(model().columns(outcomes))


def test_what_is_undefined_or_failed_is_as_if_it_were_not_there() -> None:
    price = {key for key in day(25) if "price" in key.columns}
    for nothing in (Undefined("no values"), Failed("no such column")):
        outcomes = {key: nothing if key in price else outcome for key, outcome in day(25).items()}
        assert model().ratio(outcomes) == model().ratio({k: o for k, o in day(25).items() if k not in price})


def test_a_batch_without_any_of_the_metrics_has_no_novelty() -> None:
    assert isinstance(model().outcome({}), Undefined)
    assert model().ratio({}) == 0.0
    assert model().outcome(day(25)) == Measured(model().ratio(day(25)))


def test_runs_from_before_most_columns_came_are_left_out() -> None:
    past = series(20, 10)
    values = past.values.copy()
    values[:5, 1:] = math.nan
    assert len(learned(dataclasses.replace(past, values=values)).points) == 15


# --- contamination


def test_contamination_is_larger_for_shorter_histories_unless_it_is_the_paper_s() -> None:
    assert [learned(series(runs, 5)).contamination for runs in (8, 30, 200)] == [1 / 9, 1 / 31, 0.01]
    assert learned(series(8, 5), form="paper", features=["sum"]).contamination == 0.01
    assert adapt_contamination(0.5, 8) == 0.5


def test_the_threshold_of_a_short_history_lies_lower_for_it() -> None:
    found = learned(series(8, 5))
    assert found.threshold < np.percentile(found.scores, 99)


@pytest.mark.parametrize(
    "wrong", [{"neighbours": 0}, {"contamination": 1.0}, {"form": "other"}, {"aggregate": "smallest"}]
)
def test_misuse_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError, match=r"Write|There are"):
        Novelty.learn(orders(RUNS), **wrong)  # type: ignore[arg-type]
