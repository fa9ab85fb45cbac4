"""Results of recorded runs as rows of three flat tables."""

from __future__ import annotations

from typing import Any

import pytest

import headgate as hg
from headgate.gate.results import CAUSES, METRICS, VERDICTS, list_results
from headgate.values.outcome import Measured
from tests.gate.orders import dearer, named, orders

DAYS = 12


def make_gate() -> hg.Gate:
    gate = hg.Gate("orders", store=hg.open_store("memory:"), learn=["history"])
    for day in range(DAYS):
        gate.judge(orders(day), named(day))
    gate.judge(dearer(orders(DAYS)), named(DAYS))
    return gate


def read(gate: hg.Gate, known: dict[tuple[str, int], int] | None = None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"verdicts": [], "metrics": [], "causes": []}
    for results in list_results(gate, known or {}):
        for name, columns, rows in zip(found, (VERDICTS, METRICS, CAUSES), results, strict=True):
            found[name] += [dict(zip(columns, row, strict=True)) for row in rows]
    return found


def test_every_run_has_a_verdict_with_its_metrics_and_causes() -> None:
    gate = make_gate()
    found = read(gate)
    assert [each["partition"] for each in found["verdicts"]] == [named(day) for day in range(DAYS + 1)]
    last, verdict = found["verdicts"][-1], gate.explain(named(DAYS))
    assert (last["status"], last["action"], last["decision"], last["decided_by"]) == ("fail", "hold", "held", "gate")
    assert last["headline"] == verdict.headline
    assert last["rows"] == len(orders(DAYS))
    assert last["causes"] == len(verdict.causes) == len(found["causes"])
    assert last["budget"] == 0.01
    first = found["causes"][0]
    assert (first["position"], first["title"], first["columns"]) == (1, verdict.causes[0].title, "price")
    outcomes = {str(key): each.value for key, each in verdict.run.outcomes.items() if isinstance(each, Measured)}
    metrics = {each["metric"]: each["value"] for each in found["metrics"] if each["partition"] == named(DAYS)}
    assert metrics == {key: value for key, value in outcomes.items() if isinstance(value, float)}
    mean = next(each for each in found["metrics"] if each["metric"] == "mean(price)")
    assert (mean["name"], mean["columns"]) == ("mean", "price")


def test_only_what_has_changed_is_listed() -> None:
    gate = make_gate()
    known = {(each["partition"], each["revision"]): each["sequence"] for each in read(gate)["verdicts"]}
    assert read(gate, known) == {"verdicts": [], "metrics": [], "causes": []}
    gate.accept(named(DAYS), note="a new tariff", who="ann")
    found = read(gate, known)
    assert [(each["partition"], each["decision"], each["decided_by"], each["note"]) for each in found["verdicts"]] == [
        (named(DAYS), "accepted", "ann", "a new tariff")
    ]
    assert found["verdicts"][0]["sequence"] == gate.store.head("orders")
    assert found["verdicts"][0]["decided_at"] > found["verdicts"][0]["judged_at"]
    assert (found["metrics"], found["causes"]) == ([], []), "a decision changes none of them"


def test_a_decision_that_comes_while_results_are_read_is_listed_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = make_gate()
    read_rulings = gate.store.rulings

    def decide_meanwhile(*given: Any, **options: Any) -> Any:
        found = read_rulings(*given, **options)
        monkeypatch.undo()
        gate.accept(named(DAYS), who="ann")
        return found

    monkeypatch.setattr(gate.store, "rulings", decide_meanwhile)
    first = read(gate)["verdicts"]
    assert (first[-1]["decision"], first[-1]["decided_by"]) == ("held", "gate")
    known = {(each["partition"], each["revision"]): each["sequence"] for each in first}
    assert [(each["decision"], each["decided_by"]) for each in read(gate, known)["verdicts"]] == [("accepted", "ann")]


def test_many_runs_are_read_in_parts_in_the_order_of_their_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.gate.results._AT_ONCE", 5)
    parts = list(list_results(make_gate()))
    assert [len(each.verdicts) for each in parts] == [5, 5, 3]
    sequences = [row[list(VERDICTS).index("sequence")] for each in parts for row in each.verdicts]
    assert sequences == sorted(sequences)
