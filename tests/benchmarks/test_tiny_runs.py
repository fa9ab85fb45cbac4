"""Benchmarks on made-up tables run at a tiny size, so that none is found broken on the day it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.engine import earlier_commit, spark_settings
from benchmarks.gate import drift, feed_recall, good_batches, recall, simple_faults, speed
from benchmarks.history.feeds import Feed
from benchmarks.peers.peer_process import PeerFailed
from benchmarks.rarity import simulated
from headgate.learn.pooled_rates import load_pooled_rates
from tests.gate.orders import named, orders


def test_made_up_tables_are_judged_at_each_length_and_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "RUNS", (7, 8))
    cells = simulated.simulate("jumping", 3, True, 2)
    assert len(cells) == 2 * len(simulated.BUDGETS)
    assert {each.judged for each in cells} == {2 * simulated.NEXT}
    judged, held = simulated.simulate_wild(0.05, 1)
    assert 0 < held < judged == 800


def test_faults_of_a_simulated_table_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "RUNS", (7,))
    rows = recall.judge_table(200, 0)
    held = {row["fault"]: row["held"] for row in rows if row["fault"]}
    assert held["price x100"]
    assert held.keys() == recall.FAULTS.keys()
    assert "price x100" in recall.tabulate(rows)


def test_drift_of_a_simulated_table_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "GOOD_DAYS", 10)
    monkeypatch.setattr(drift, "DRIFT_DAYS", 2)
    assert all(row["case"] == "no drift" for row in drift.judge_table("no drift", 0))
    assert "no drift" in drift.tabulate([])


def test_simple_faults_are_held_and_good_batches_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Feed("made", "up", good_batches.Path())
    monkeypatch.setattr(feed_recall, "RUNS", (7, 14))
    monkeypatch.setattr(feed_recall, "list_good_batches", lambda *_: [(named(day), orders(day)) for day in range(15)])
    monkeypatch.setattr(good_batches, "tails_for", lambda _: load_pooled_rates())
    rows = simple_faults.judge_feed(feed, 0.01)
    last = {row["fault"]: row["held"] for row in rows if row["runs"] == 14}
    assert not last.pop("")
    assert last["a renamed column"]
    assert last["the batch before again"]
    assert last["every row twice"]
    assert sum(last.values()) >= len(last) - 1
    assert "| every row twice | " in simple_faults.tabulate(rows)


def test_the_speed_of_a_gate_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"COLUMNS": 5, "ROWS": 30, "RUNS": 2, "ROUNDS": 1, "BACKTESTED": 6, "BACKTESTS": 1}
    for name, size in sizes.items():
        monkeypatch.setattr(speed, name, size)
    found = speed.measured()
    assert found["rounds"]["backtest of 6 runs"] == 1
    assert found["milliseconds"].keys() == found["cpu_milliseconds"].keys()


def test_two_versions_of_the_local_engine_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier_commit.data, "FOLDER", tmp_path)
    monkeypatch.setattr(earlier_commit, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(earlier_commit, "unpack_source", lambda _: earlier_commit.ROOT / "src")
    found = earlier_commit.compare_commits("today", (earlier_commit.Case(100, 10, 1),), 1)
    assert found["cases"]["100 x 10"]["ratio"] > 0


def test_a_setting_with_which_spark_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __enter__(self) -> Failing:
            return self

        def __exit__(self, *_: object) -> None: ...

        def ask(self, *_: object) -> dict[str, str]:
            return {"error": "no such setting"}

    monkeypatch.setattr(spark_settings.data, "FOLDER", tmp_path)
    monkeypatch.setattr(spark_settings, "_serve", lambda _: Failing())
    with pytest.raises(PeerFailed, match="no such setting"):
        spark_settings.compare_settings(10, 1)
