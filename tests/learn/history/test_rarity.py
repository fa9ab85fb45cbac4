"""How rare the values, the columns and the parts of a batch are, and which metrics are told as the reason."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.learn.history.rarity import NOTABLE, Rarities, find_log_surprise, find_reach, make_rarity_key
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.learn.past import Past
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part, RarityMemory
from headgate.values.schema import Kind, Schema
from tests.learn.histories import analysis, batch, orders, past_of

MEAN, PRICE = MetricKey("mean", ("price",)), make_rarity_key("price")


@cache
def rarities() -> Rarities:
    return Rarities.of(orders(), load_pooled_rates())


def outcomes(**given: float) -> dict[MetricKey, Outcome]:
    """Those of a good batch, with other values of some metrics of the price."""
    return orders().outcomes(analysis(30)) | {
        MetricKey(name, ("price",)): Measured(each) for name, each in given.items()
    }


def rarity_of(column: str = "price", **given: float) -> float:
    found = rarities().measure_outcomes(outcomes(**given))[make_rarity_key(column)]
    assert isinstance(found, Measured)
    assert isinstance(found.value, float)
    return found.value


def test_a_value_farther_away_is_rarer_and_other_columns_are_not() -> None:
    assert rarity_of() < rarity_of(mean=40.0) < rarity_of(mean=4e4)
    assert rarity_of("country", mean=4e4) == rarity_of("country")


def test_several_metrics_of_a_column_are_rarer_than_one() -> None:
    assert rarity_of(mean=60.0) < rarity_of(mean=60.0, median=60.0) < rarity_of(mean=60.0, median=60.0, sum=1e5)


def test_an_extreme_that_varies_does_not_count() -> None:
    assert rarity_of(max=1e6) == rarity_of()
    assert rarity_of(stddev=1e6) == rarity_of()


def test_what_the_table_did_before_is_less_rare() -> None:
    surprise = float(np.nanmax(rarities().forecast.surprise(rarities().arrange(outcomes(mean=60.0)))))
    memory = RarityMemory(30.0, surprises={str(MEAN): ((surprise, 1),) * 5})
    again = Rarities.of(orders(), load_pooled_rates(), memory)
    at = next(at for at, each in enumerate(orders().metrics) if each.key == MEAN)
    values = again.arrange(outcomes(mean=60.0))
    assert again.measure(values)[at] < 0.8 * rarities().measure(values)[at]


def test_a_new_column_is_not_taken_for_one_that_was_calm_for_years() -> None:
    past = orders()
    older = Schema(tuple(column for column in past.schema.columns if column.label != "price"))
    grown = replace(past, schemas=(older,) * 20 + past.schemas[20:])
    known, unknown = (Rarities.of(each, load_pooled_rates(), RarityMemory(400.0)) for each in (past, grown))
    young = Rarities.of(past, load_pooled_rates(), RarityMemory(float(len(past) - 20)))
    for at, each in enumerate(past.metrics):
        expected = young if each.column == "price" else known
        np.testing.assert_array_equal(unknown.rates[at], expected.rates[at])
    assert (unknown.rates >= known.rates).all()
    assert (unknown.rates > known.rates).any()


def test_metrics_that_are_not_learned_from_do_not_count() -> None:
    without = Rarities.of(orders(), load_pooled_rates(), is_learned=lambda key: key.columns != ("price",))
    assert make_rarity_key("price") not in without.measure_outcomes(outcomes())
    assert make_rarity_key("country") in without.measure_outcomes(outcomes())


def test_a_column_of_which_nothing_was_measured_has_no_rarity() -> None:
    known = {key: each for key, each in outcomes().items() if key.columns != ("price",)}
    assert isinstance(rarities().measure_outcomes(known)[PRICE], Undefined)


def test_the_parts_of_a_batch() -> None:
    good, half = (
        rarities().measure_batch(orders().outcomes(hg.analyze(each))) for each in (batch(30), batch(30).slice(0, 90))
    )
    assert good.parts.keys() == set(Part)
    assert half.parts[Part.ROWS] > 2 * good.parts[Part.ROWS]
    assert half.parts[Part.BASICS] == good.parts[Part.BASICS]
    assert str(MetricKey("size")) in half.surprises


def test_limits_of_surprises_are_logarithms() -> None:
    assert find_reach(find_log_surprise(12.0)) == pytest.approx(12.0)


def test_a_short_past_has_no_rarities_that_count() -> None:
    short = Rarities.of(past_of({"mean(x)": [1.0, 2.0, 3.0]}), load_pooled_rates())
    assert short.measure_batch({MetricKey("mean", ("x",)): Measured(1e9)}).parts[Part.COLUMNS] == 0.0
    assert short.memory == NOTHING_REMEMBERED
    assert NOTABLE > 0


numbers = st.one_of(st.sampled_from([0.0, 0.1, math.nan, math.inf, 5e-324]), st.floats(-9, 9), st.floats(-1e100, 1e100))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(numbers, min_size=7, max_size=30),
    st.sampled_from(["completeness(x)", "ks_dist(x)", "size()", "mean(x)", "max(x)"]),
    numbers,
)
def test_nothing_that_is_not_a_number_ever_becomes_a_threshold(values: list[float], name: str, value: float) -> None:
    past = past_of({name: values}, Kind.FLOAT)
    found = Rarities.of(past, load_pooled_rates())
    key = past.metrics[0].key
    rare = found.measure_batch({key: Measured(value)} if math.isfinite(value) else {})
    assert all(math.isfinite(each) and each >= 0 for each in rare.parts.values())
    ranges = UsualRanges(found)
    for usual in (ranges.find_at(0), ranges.find_at(0, value)):
        if usual is not None:
            predicate = usual.expectation.predicate
            ends = [end for end in (predicate.floor, predicate.ceiling) if end is not None]
            assert ends
            assert all(map(math.isfinite, ends))


def test_a_past_without_metrics_is_never_rare() -> None:
    empty = Past(("1",), (), np.zeros((1, 0)), orders().schemas[:1], {})
    found = Rarities.of(empty, load_pooled_rates())
    assert found.measure_outcomes({}) == {}
    assert found.measure_batch({}).parts == dict.fromkeys(Part, 0.0)
