"""Distances of two states: what holds for all of them, and how near they are to the exact distance."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.engine.analyze import analyze
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.cohen_d import CohenD
from headgate.metrics.distances.distance import Distance
from headgate.metrics.distances.emd import Emd
from headgate.metrics.distances.js_div import JsDiv
from headgate.metrics.distances.ks_dist import KsDist
from headgate.metrics.distances.new_values import FORGOTTEN
from headgate.metrics.distances.numbers import pair_bins
from headgate.metrics.distances.registry import distance, distances, distances_for
from headgate.metrics.distances.unchanged import NOT_KEPT, Unchanged
from headgate.metrics.distances.value_kl_div import ValueKlDiv
from headgate.metrics.distances.value_l1 import ValueL1
from headgate.metrics.distances.value_l_inf import ValueLInf
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles
from headgate.stats.distances import (
    EmpiricalDistribution,
    Gaps,
    chi_squared,
    cosine,
    earth_mover,
    jensen_shannon,
    kolmogorov_smirnov,
    kullback_leibler,
    l1,
    l_infinity,
)
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Undefined
from headgate.values.schema import Kind

NUMERIC = ["cohen_d", "emd", "js_div", "kl_div", "ks_dist"]
LABELS = ["chi_squared", "cosine", "js_div", "kl_div", "l1", "l_inf"]
EXACT = {"chi_squared": chi_squared, "cosine": cosine, "js_div": jensen_shannon}
EXACT |= {"kl_div": kullback_leibler, "l1": l1, "l_inf": l_infinity}

OURS = ("unchanged", "new_values", "new_patterns")
every = pytest.mark.parametrize("name", sorted(distances()))
of_labels = pytest.mark.parametrize("name", [name for name in sorted(distances()) if "_" in name and name[0] in "vp"])

floats = st.lists(st.floats(-1e9, 1e9) | st.integers(-3, 3).map(float), min_size=1, max_size=400)
words = st.lists(st.sampled_from("abcdefghij") | st.integers(0, 2_000).map(str), min_size=1, max_size=50)


def of_floats(kind: type[Distance[Any]], values: list[float] | npt.NDArray[np.float64]) -> Any:
    return (Moments if kind is CohenD else Quantiles).of(np.sort(np.asarray(values, np.float64)))


def of_words(values: list[str], capacity: int = 512, patterns: bool = False) -> Frequencies:
    counted = Counter(values)
    names = list(counted)
    counts = np.fromiter(counted.values(), np.int64, len(names))
    return Frequencies.of(counts, lambda at: [names[each] for each in at], capacity, patterns)


def state_of(kind: type[Distance[Any]], seed: int, size: int) -> Any:
    rng = np.random.default_rng(seed)
    if kind.state is Frequencies:
        return of_words([str(each) for each in rng.zipf(1.6, size)], 64)
    return of_floats(kind, rng.normal(size=size))


def value(outcome: Any) -> float:
    assert isinstance(outcome, Measured), outcome
    assert isinstance(outcome.value, float)
    return outcome.value


# --- all of them


def test_they_are_those_of_the_paper_and_three_more() -> None:
    assert sorted(distances()) == sorted(
        [*NUMERIC, *(f"{of}_{each}" for of in ("value", "pattern") for each in LABELS), *OURS]
    )


def test_no_distance_has_the_name_of_a_metric() -> None:
    assert not set(distances()) & set(metrics())


def test_a_kind_of_column_has_the_distances_that_accept_it() -> None:
    assert {each.name for each in distances_for(Kind.STRING)} == set(distances()) - set(NUMERIC)
    assert {each.name for each in distances_for(Kind.DATE)} >= set(NUMERIC)
    assert not [each for each in distances_for(Kind.INTEGER) if each.name.startswith("pattern_")]
    assert distances_for(Kind.OTHER) == ()


def test_two_distances_of_one_name_are_refused() -> None:
    class Other(Emd, frozen=True):
        name = "emd"

    with pytest.raises(MisuseError, match="two distances are named 'emd'"):
        distance(Other)
    assert distances()["emd"] is Emd


@every
def test_the_state_is_one_that_a_metric_of_the_column_folds(name: str) -> None:
    each = distances()[name]("price")
    assert each.key == MetricKey(name, ("price",))
    assert str(each) == f"{name}(price)"
    readers = [metric for metric in metrics().values() if metric.folded == each.folded and metric.default]
    assert all(metric.state is each.state for metric in readers)
    folding = frozenset[Kind]().union(*(metric.default for metric in readers))
    assert each.accepts <= folding, "a profile lacks the state"


@every
@pytest.mark.parametrize("size", [1, 30, 5_000])
def test_a_state_is_at_no_distance_from_itself(name: str, size: int) -> None:
    kind = distances()[name]
    state = state_of(kind, 0, size)
    if kind.of_all and state.lost:
        assert kind("x").between(state, state) == Undefined(FORGOTTEN)
        return
    if name == "unchanged" and state.lost:
        assert kind("x").between(state, state) == Undefined(NOT_KEPT)
        return
    none = 1.0 if name == "unchanged" else 0.0
    assert value(kind("x").between(state, state)) == pytest.approx(none, abs=1e-12)


@every
@pytest.mark.parametrize("seed", range(5))
def test_distances_are_symmetric_where_they_say_so_and_within_their_ends(name: str, seed: int) -> None:
    kind = distances()[name]
    # of more values some are not kept, and nothing is called new or unchanged
    sizes = (30, 20) if kind.of_all or name == "unchanged" else (3_000, 700)
    now, before = state_of(kind, seed, sizes[0]), state_of(kind, seed + 100, sizes[1])
    there, back = value(kind("x").between(now, before)), value(kind("x").between(before, now))
    assert (0 < there <= kind.most) is (name != "unchanged")
    assert (there == pytest.approx(back, rel=1e-9)) is kind.symmetric


@every
def test_a_batch_without_values_has_no_distance(name: str) -> None:
    each = distances()[name]("x")
    empty, some = each.state(), state_of(type(each), 0, 10)
    assert each.between(empty, some) == Undefined("no values in the new batch")
    assert each.between(some, empty) == Undefined("no values in the earlier batch")
    assert each.between(empty, empty) == Undefined("no values in the new batch")
    assert each.error(empty, some) == each.error(some, empty) == math.inf


@every
def test_the_states_of_an_analysis_are_read(name: str) -> None:
    each = distances()[name]("x")
    numbers = name in NUMERIC
    days = [[1.0, 2.0, 2.0], [2.0, 9.0, 90.0]] if numbers else [["a", "b-1", "b-1"], ["c", "c", "7"]]
    read = [metric("x") for metric in metrics().values() if metric.folded == each.folded and metric.default]
    states = [analyze(pa.table({"x": day}), read[:1]).states[each.state_key] for day in days]
    assert (value(each.between(*states)) > 0) is (name != "unchanged")


def test_a_change_among_values_that_are_not_kept_is_not_called_none() -> None:
    """One value of 600 different ones changed: neither summary keeps it."""
    before, now = of_words([str(each) for each in range(600)]), of_words([str(each) for each in range(1, 601)])
    assert before.lost
    assert now.lost
    assert Unchanged("x").between(now, before) == Undefined(NOT_KEPT)
    assert Unchanged("x").error(now, before) == math.inf
    few = of_words(["a", "b"])
    assert Unchanged("x").between(few, before) == Unchanged("x").between(before, few) == Measured(0.0)
    assert Unchanged("x").error(few, before) == 0.0


# --- numbers


@given(floats, floats)
def test_few_numbers_give_the_exact_distance(one: list[float], two: list[float]) -> None:
    now, before = Quantiles.of(np.array(one[:150])), Quantiles.of(np.array(two[:150]))
    exact = EmpiricalDistribution.of(one[:150]), EmpiricalDistribution.of(two[:150])
    ends = exact[1].bin_ends()
    assert value(Emd("x").between(now, before)) == pytest.approx(earth_mover(Gaps.between(*exact)), rel=1e-9, abs=1e-9)
    assert value(KsDist("x").between(now, before)) == pytest.approx(kolmogorov_smirnov(Gaps.between(*exact)), abs=1e-12)
    binned = [each.count_in_bins(ends) for each in exact]
    assert value(JsDiv("x").between(now, before)) == pytest.approx(jensen_shannon(*binned), abs=1e-9)
    assert Emd("x").error(now, before) == KsDist("x").error(now, before) == JsDiv("x").error(now, before) == 0.0


def _columns(seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Two batches of one kind: normal, log-normal, or whole numbers with many ties."""
    rng = np.random.default_rng(seed)
    sizes = (10 ** rng.uniform(2, 4.7, 2)).astype(int)
    shift = rng.uniform(0, 0.5)
    match seed % 3:
        case 0:
            return rng.normal(shift, 1, sizes[0]), rng.normal(0, 1, sizes[1])
        case 1:
            return rng.lognormal(shift, 1, sizes[0]), rng.lognormal(0, 1, sizes[1])
        case _:
            return rng.poisson(5 + shift, sizes[0]).astype(float), rng.poisson(5, sizes[1]).astype(float)


def test_distances_of_sketches_are_within_their_stated_error_of_the_exact_ones() -> None:
    used: dict[str, list[float]] = {"emd": [], "ks_dist": [], "js_div": []}
    for seed in range(150):
        one, two = _columns(seed)
        now, before = Quantiles.of(one), Quantiles.of(two)
        exact = EmpiricalDistribution.of(one), EmpiricalDistribution.of(two)
        ends = pair_bins(now, before).before.bin_ends
        truths = {
            Emd("x"): earth_mover(Gaps.between(*exact)),
            KsDist("x"): kolmogorov_smirnov(Gaps.between(*exact)),
            JsDiv("x"): jensen_shannon(*(each.count_in_bins(ends) for each in exact)),
        }
        for each, truth in truths.items():
            off = abs(value(each.between(now, before)) - truth)
            used[each.name].append(off / (each.error(now, before) + 1e-9))
    assert max(map(max, used.values())) <= 1.0
    # and no bound is so wide that it says nothing
    assert max(used["emd"]) > 0.02
    assert max(used["ks_dist"]) > 0.02


@pytest.mark.parametrize("name", NUMERIC)
def test_a_shift_by_two_deviations_is_farther_than_by_one(name: str) -> None:
    kind = distances()[name]
    rng = np.random.default_rng(7)
    before = of_floats(kind, rng.normal(0, 1, 5_000))
    near, far = (of_floats(kind, rng.normal(shift, 1, 5_000)) for shift in (1, 2))
    assert value(kind("x").between(near, before)) < 0.8 * value(kind("x").between(far, before))


def test_cohens_d_of_constants_that_differ_is_undefined() -> None:
    one, two, same = (Moments.of(np.full(size, number)) for size, number in ((5, 1.0), (9, 2.0), (7, 1.0)))
    assert CohenD("x").between(one, same) == Measured(0.0)
    assert CohenD("x").between(one, two) == Undefined("the numbers have no finite deviation to measure by")


def test_a_distance_too_large_for_a_double_is_undefined() -> None:
    most = np.finfo(np.float64).max
    states = [Quantiles.of(np.array([each])) for each in (-most, most)]
    assert Emd("x").between(*states) == Undefined("the distance is too large for a double")
    assert KsDist("x").between(*states) == Measured(1.0)


def test_an_unmoved_constant_is_told_from_one_that_moved_down() -> None:
    five, four = Quantiles.of(np.full(9, 5.0)), Quantiles.of(np.full(9, 4.0))
    assert JsDiv("x").between(five, five) == Measured(0.0)
    assert value(JsDiv("x").between(four, five)) == pytest.approx(1.0)


# --- labels


def _exact(name: str, one: list[str], two: list[str]) -> float:
    labels = sorted({*one, *two})
    counts = [[Counter(each)[label] for label in labels] for each in (one, two)]
    given = [[*each, 0] for each in counts] if name.endswith("kl_div") else counts
    return EXACT[name.split("_", 1)[1]](*given)


@of_labels
@given(words, words)
def test_few_labels_give_the_exact_distance(name: str, one: list[str], two: list[str]) -> None:
    each = distances()[name]("x")
    now, before = of_words(one), of_words(two)
    assert value(each.between(now, before)) == pytest.approx(_exact(name, one, two), abs=1e-9)
    assert each.error(now, before) == 0.0


@of_labels
@given(st.lists(st.integers(0, 300), min_size=20, max_size=600), st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_many_labels_give_a_distance_within_its_stated_error(
    name: str, values: list[int], seed: int, capacity: int
) -> None:
    rng = np.random.default_rng(seed)
    one = [str(each) for each in values] + [str(each) for each in rng.zipf(1.5, 200)]
    two = [str(each) for each in rng.choice(values, len(values) // 2)] + [str(each) for each in rng.zipf(1.3, 300)]
    each = distances()[name]("x")
    now, before = of_words(one, capacity), of_words(two, capacity)
    outcome = each.between(now, before)
    if isinstance(outcome, Measured):
        assert abs(value(outcome) - _exact(name, one, two)) <= each.error(now, before) + 1e-9


@of_labels
def test_distances_under_one_secret_are_those_of_the_plain_labels(name: str) -> None:
    each = distances()[name]("x")
    now, before = state_of(type(each), 1, 800), state_of(type(each), 2, 800)
    plain = value(each.between(now, before))
    assert value(each.between(now.hide_values(b"one"), before.hide_values(b"one"))) == pytest.approx(plain, rel=1e-9)


@of_labels
def test_labels_under_different_secrets_have_no_distance(name: str) -> None:
    each = distances()[name]("x")
    now, before = state_of(type(each), 1, 800), state_of(type(each), 2, 800)
    why = Undefined("the labels of the two batches are hidden under different secrets")
    assert each.between(now.hide_values(b"one"), before.hide_values(b"two")) == why
    assert each.between(now.hide_values(b"one"), before) == why
    assert each.error(now.hide_values(b"one"), before) == math.inf


def test_patterns_stay_comparable_when_values_are_hidden() -> None:
    each = distances()["pattern_l1"]("x")
    now, before = of_words(["9-9", "A"], 128, patterns=True), of_words(["9-9", "9"], 128, patterns=True)
    assert each.between(now.hide_values(b"one"), before) == Measured(1.0)


@of_labels
def test_batches_of_nothing_but_rare_labels_do_not_seem_equal(name: str) -> None:
    each = distances()[name]("x")
    now, before = (of_words([str(at) for at in range(start, start + 50)], 10) for start in (0, 500))
    outcome = each.between(now, before)
    if name.endswith("l_inf"):
        assert outcome == Measured(0.0)
        assert each.error(now, before) == pytest.approx(1 / 50)
    else:
        assert outcome == Undefined("no value of these batches is frequent enough to be told from the others")


def test_what_was_lost_is_one_label_more() -> None:
    now = of_words(["a"] * 60 + [str(at) for at in range(40)], 5)
    before = of_words(["a"] * 100, 5)
    assert now.lost == 1
    assert value(ValueL1("x").between(now, before)) == pytest.approx(0.41 + 0.41)
    assert value(ValueLInf("x").between(now, before)) == pytest.approx(0.41)
    assert ValueL1("x").error(now, before) == pytest.approx(2 * 0.41)
    assert ValueLInf("x").error(now, before) == pytest.approx(0.01)
    assert ValueKlDiv("x").error(now, before) == math.inf
