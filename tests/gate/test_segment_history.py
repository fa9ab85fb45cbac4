"""States of segments are kept with every run, and tell a fault of one segment from how it always was."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.engine.analyze import analyze
from headgate.gate.gate import Gate
from headgate.learn.segment_history import MOST_SEGMENTS, list_segment_metrics, name_segment
from headgate.metrics.base.registry import default_metrics
from headgate.metrics.states.counts import MatchCount
from headgate.store.memory import MemoryStore
from headgate.values.key import MetricKey

DAYS, ROWS = 14, 2_000
CARRIERS = ("AA", "DL", "EV", "UA")
FAR = {"AA": 1.0, "DL": 1.9, "EV": 0.6, "UA": 1.2}
MISSING = {"AA": 0.01, "DL": 0.6, "EV": 0.02, "UA": 0.01}  # DL seldom tells its delays


def name_day(day: int) -> str:
    return f"2026-03-{day + 1:02}"


def fly(day: int) -> pa.Table:
    random = np.random.default_rng([3, day])
    carrier = random.choice(CARRIERS, ROWS)
    distance = np.round(1_000 * np.vectorize(FAR.get)(carrier) * random.lognormal(0, 0.25, ROWS))
    missing = random.random(ROWS) < np.vectorize(MISSING.get)(carrier)
    return pa.table(
        {
            "carrier": carrier.tolist(),
            "distance": distance,
            "delay": pa.array(random.normal(10, 5, ROWS).round(1), mask=missing),
            "flights": pa.array([["a"]] * ROWS),
        }
    )


def open_gate(hide: bool, segments: tuple[str, ...] = ("carrier",)) -> Gate:
    gate = Gate("flights", store=MemoryStore(hide=hide), segments=segments)
    for day in range(DAYS):
        verdict = gate.judge(fly(day), name_day(day))
        if not verdict.passed:
            gate.accept(name_day(day))
    return gate


def lose_delays(table: pa.Table, carrier: str) -> pa.Table:
    values = pc.if_else(pc.equal(table["carrier"], carrier), None, table["delay"])
    return table.set_column(2, "delay", values)


@pytest.mark.parametrize("hide", [True, False])
def test_states_of_segments_are_kept_without_their_names_where_values_are_hidden(hide: bool) -> None:
    gate = open_gate(hide)
    (newest,) = gate.store.last("flights", 1)
    states = gate.store.run(newest).states
    kept = {key: state for key, state in states.items() if key.where is not None}
    assert {key.columns for key in kept} == {("distance",), ("delay",), ("flights",), ("flights.size()",)}
    assert len({key.where for key in kept}) == len(CARRIERS)
    assert any("EV" in str(key.where) for key in kept) != hide
    rows = [state.seen for key, state in kept.items() if key.columns == ("delay",) and isinstance(state, MatchCount)]
    assert sum(rows) == ROWS
    past = gate.learned(before=name_day(DAYS)).past
    assert past is not None
    merged = [state.seen for state in past.segments.values() if isinstance(state, MatchCount)]
    assert sum(merged) == 4 * DAYS * ROWS


@pytest.mark.parametrize("hide", [True, False])
def test_nulls_of_one_segment_are_told_from_those_that_another_always_has(hide: bool) -> None:
    gate = open_gate(hide)
    verdict = gate.judge(lose_delays(fly(DAYS), "EV"), name_day(DAYS))
    assert verdict.diagnoses[0].fault == "nulls"
    ((column, value),) = verdict.diagnoses[0].segment
    assert column == "carrier"
    assert hide or value == "EV"


@pytest.mark.parametrize("hide", [True, False])
def test_a_factor_of_one_segment_is_found_only_by_its_history_where_segments_differ(hide: bool) -> None:
    batch = fly(DAYS)
    scaled = pc.if_else(pc.equal(batch["carrier"], "UA"), pc.multiply(batch["distance"], 1.609), batch["distance"])
    batch = batch.set_column(1, "distance", scaled)
    with_history = open_gate(hide).judge(batch, name_day(DAYS))
    assert "distance looks multiplied by 1.609 (kilometres for miles) in all rows" in with_history.headline
    ((column, value),) = with_history.diagnoses[0].segment
    assert column == "carrier"
    assert hide or value == "UA"
    without = open_gate(hide, segments=()).judge(batch, name_day(DAYS))
    assert "multiplied by 1.609" not in without.headline


def test_segments_that_cannot_be_measured_are_left_out() -> None:
    schema = analyze(fly(0), ["size()"]).schema
    assert list_segment_metrics(schema, ["gone", "distance", "flights"]) == []
    wanted = {str(metric.key) for by, metric in list_segment_metrics(schema, ["carrier"]) if by == ("carrier",)}
    assert "median(distance)" in wanted
    assert "completeness(flights)" in wanted
    gate = Gate("flights", store=MemoryStore(), segments=("gone",))
    assert gate.judge(fly(0), name_day(0)).passed


def test_an_analysis_is_judged_without_segments() -> None:
    gate = open_gate(hide=False)
    batch = fly(DAYS)
    schema = analyze(batch, ["size()"]).schema
    assert gate.judge(analyze(batch, [*default_metrics(schema), "size()"]), name_day(DAYS)).passed


def test_only_the_largest_segments_are_kept() -> None:
    gate = Gate("flights", store=MemoryStore(hide=False), segments=("n",))
    numbers = np.repeat(np.arange(MOST_SEGMENTS + 50), 2)
    numbers = np.concatenate([numbers, np.full(9, 220)])
    gate.judge(pa.table({"n": numbers, "v": numbers * 1.0}), "2026-03-01")
    (newest,) = gate.store.last("flights", 1, only=None)
    wheres = {key.where for key in gate.store.run(newest).states if key.where}
    assert len(wheres) == MOST_SEGMENTS
    assert name_segment("n", "220") in wheres
    assert MetricKey("quantiles", ("v",), (), name_segment("n", "220")) in gate.store.run(newest).states
