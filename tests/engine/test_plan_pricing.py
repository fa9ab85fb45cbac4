"""What a plan costs by given constants: what is shared counts once, what is left out is saved."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.engine.cost_estimate import JOB, READ, SHARED, TEST
from headgate.engine.fold_costs import NUMBERS, FoldCost, FoldCosts, ReadCost
from headgate.engine.plan import make_plan
from headgate.engine.plan_pricing import PlanPricing, Reading
from headgate.values.schema import Column, Kind, Schema

COSTS = FoldCosts(
    machine="",
    versions={},
    columns={
        "float": {
            "moments": FoldCost(own=1.0, shared=10.0, batch=1_000.0, size=100.0),
            "quantiles": FoldCost(own=4.0, shared=12.0, size=50.0),
            "groups": FoldCost(own=80.0, shared=30.0, growth=2.0, merge=5.0),
        },
        "boolean": {"size": FoldCost(own=0.5)},
    },
    reading={"tasks": {NUMBERS: ReadCost(7.0)}},
    jobs={"tasks": 0.25},
    predicate=3.0,
    filter=2.0,
)
ROWS = 1_000_000


def price_plan(*metrics: str, way: str = "memory", batch_rows: int = ROWS, labels: str = "ab") -> PlanPricing:
    schema = Schema(tuple(Column(label, Kind.FLOAT, "double") for label in labels))
    plan = make_plan(schema, metrics)
    return PlanPricing(plan, COSTS, ["float"] * len(plan.columns), ROWS, Reading(way, batch_rows), 24)


def list_nanoseconds(pricing: PlanPricing) -> dict[tuple[str, str], float]:
    return {(item.label, item.work): item.nanoseconds for item in pricing.items}


def test_what_states_share_counts_once_for_a_column() -> None:
    both = price_plan("mean(a)", "stddev(a)", "median(a)")
    assert list_nanoseconds(both) == {("a", "moments"): 1.0, ("a", "quantiles"): 4.0, ("a", SHARED): 12.0}
    assert next(item.metrics for item in both.items if item.work == "moments") == ("mean", "stddev")


def test_a_state_over_two_columns_costs_what_it_does_on_each() -> None:
    found = list_nanoseconds(price_plan("uniqueness(a,b)"))
    assert found == {("a, b", "groups"): 160.0, ("a", SHARED): 30.0, ("b", SHARED): 30.0}


def test_each_batch_costs_something_however_few_rows_it_has() -> None:
    one, many = (price_plan("mean(a)", batch_rows=rows).items for rows in (ROWS, 1_000))
    assert sum(item.seconds for item in one) == pytest.approx(0.011 + 0.001)
    assert sum(item.seconds for item in many) == pytest.approx(0.011 + 1.0)


def test_a_state_that_grows_is_merged_again_and_again() -> None:
    one, four = (price_plan("uniqueness(b)", batch_rows=ROWS // count).items for count in (1, 4))
    assert next(each.nanoseconds for each in four if each.metrics) == 80.0 + 2 * 5.0
    assert next(each.nanoseconds for each in one if each.metrics) == 80.0


def test_reading_and_the_job_are_parts_of_the_cost() -> None:
    items = {(item.label, item.work): item.seconds for item in price_plan("mean(a)", way="tasks").items}
    assert items["a", READ] == pytest.approx(0.007)
    assert items["", JOB] == 0.25


def test_rows_that_a_predicate_selects_are_views_of_their_own() -> None:
    found = list_nanoseconds(price_plan("mean(a)", 'mean(a) where "b > 0"'))
    assert found == {
        ("a", "moments"): 1.0,
        ("a", SHARED): 10.0,
        ("a where b > 0", "moments"): 1.0,
        ("a where b > 0", SHARED): 12.0,
        ("where b > 0", TEST): 3.0,
    }


def test_a_state_that_grows_with_the_rows_has_as_many_bytes() -> None:
    assert [item.bytes for item in price_plan("uniqueness(a)").items if item.metrics] == [2.0 * ROWS]


def test_the_size_reads_no_column() -> None:
    assert list_nanoseconds(price_plan("size()")) == {("", "size"): 0.5}


@pytest.mark.parametrize(
    ("metrics", "what", "nanoseconds", "is_column"),
    [
        (["mean(a)", "uniqueness(a)"], "uniqueness", 80 + 30 - 10, False),
        (["mean(a)", "uniqueness(a)", "mean(b)"], "a", 1 + 80 + 30, True),
        (["median(a)", "median(b)", "mean(a)", "mean(b)"], "a", 1 + 4 + 12, True),
    ],
)
def test_what_saves_the_most_is_named(metrics: list[str], what: str, nanoseconds: float, is_column: bool) -> None:
    saving: Any = price_plan(*metrics, batch_rows=1 << 62).find_saving()
    assert (saving.what, saving.is_column) == (what, is_column)
    assert saving.seconds == pytest.approx(nanoseconds * ROWS / 1e9, abs=0.002)  # a batch of moments takes 1 ms


def test_nothing_is_advised_where_nothing_stands_out() -> None:
    both = [f"{name}({label})" for label in "abcd" for name in ("mean", "median")]
    assert price_plan(*both, labels="abcd", batch_rows=ROWS // 2).find_saving() is None
    assert price_plan("mean(a)").find_saving() is None
