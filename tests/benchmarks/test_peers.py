"""The benchmark of peers without the peers: tables, accounts of processes, truth of the answers, results, page."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.engine import data
from benchmarks.peers import agreement, checks, page, rounds, tables
from benchmarks.peers.environments import SYSTEMS, read_header
from benchmarks.peers.machine import describe_machine
from benchmarks.peers.peer_process import PeerFailed, PeerProcess
from benchmarks.peers.reference import answer_checks, count_failing_rows
from benchmarks.peers.rounds import Plan, measure_pair
from benchmarks.peers.store import keep_cell, read_results
from benchmarks.peers.summary import list_errors, list_pairs, list_reasons
from benchmarks.peers.workloads import CHECKS_20, PROFILE, Cell, list_cells
from benchmarks.process_tree import MemoryWatch, cpu_seconds, read_tree

# A system that needs no Spark: it is busy in a child, answers what it is told to answer, and counts two jobs.
SERVER = """
import json, subprocess, sys
answer, busy = json.loads(sys.argv[1]), sys.argv[2]
spin = "import time\\nwhile time.process_time() < {}: pass".format(busy)
for line in sys.stdin:
    question = json.loads(line)
    if question["do"] == "run":
        if answer.get("hang"):
            import time
            time.sleep(60)
        subprocess.run([sys.executable, "-c", spin], check=True)
        told = {"wall": 0.5, **answer}
    elif question["do"] == "count":
        told = {"jobs": 2, "stages": 2, "input_records": 2 * 400, "input_bytes": 10}
    elif question["do"] == "hello":
        told = {"versions": {"python": "3"}}
    else:
        told = {"cannot": answer["cannot"]} if "cannot" in answer else {"ok": True}
    print(json.dumps(told), flush=True)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "FOLDER", tmp_path / "mixed")
    monkeypatch.setattr(tables, "FOLDER", tmp_path / "tables")
    monkeypatch.setattr(rounds, "SCRATCH", tmp_path / "scratch")


def start_fake(folder: Path, answer: dict[str, Any], busy: float = 0.05) -> PeerProcess:
    import json

    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "server.py"
    script.write_text(SERVER)
    return PeerProcess(Path(sys.executable), script, folder, (json.dumps(answer), str(busy)))


def spin(seconds: float) -> subprocess.Popen[bytes]:
    """A process whose child is busy for so many CPU seconds."""
    child = f"import time\nwhile time.process_time() < {seconds}: pass"
    parent = (
        f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {child!r}])\n"
        "print(1, flush=True)\ntime.sleep(60)"
    )
    return subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)


def test_cpu_seconds_count_a_child_while_it_runs_and_after_it_ended() -> None:
    process = spin(1.0)
    try:
        assert process.stdout
        deadline = time.monotonic() + 60
        while cpu_seconds(process.pid) < 0.5 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(read_tree(process.pid)) == 2  # the child is still busy
        process.stdout.readline()
        assert len(read_tree(process.pid)) == 1
        assert 1.0 <= cpu_seconds(process.pid) < 3.0
        assert sum(each.own_ticks for each in read_tree(process.pid)) / os.sysconf("SC_CLK_TCK") < 1.0
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


def test_memory_of_a_child_is_in_the_peak_of_its_tree() -> None:
    child = "import time; held = bytearray(80_000_000); print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        process.stdout.readline()
        with MemoryWatch(os.getpid(), every_seconds=0.01) as watch:
            time.sleep(0.1)
        assert watch.peak.worker > 80
        assert watch.peak.pss > watch.peak.driver + 80
        assert watch.peak.rss > watch.peak.pss * 0.5
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_every_cell_has_a_table_and_a_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    flights = tables.mixed_table(40, 4)  # the real ones are not everywhere
    monkeypatch.setattr("benchmarks.peers.workloads.flights_table", lambda rows: flights)
    cells = [cell for cell in list_cells(quick=True) if cell.table is not flights]
    assert len({cell.key for cell in cells}) == len(cells) > 15
    for cell in cells:
        assert sum(pq.read_metadata(f).num_rows for p in cell.table.paths for f in Path(p).glob("*.parquet")) == (
            cell.table.rows
        )
        truth = agreement.find_truth(cell)
        if "answers" in truth:
            passed = [answer["passed"] for answer in truth["answers"].values()]
            assert len(passed) == len(cell.checks)
            assert 0 < sum(passed) < len(passed)


def test_the_truth_of_a_small_table_is_what_one_counts_by_hand(tmp_path: Path) -> None:
    import pyarrow as pa

    pq.write_table(pa.table({"n": [1, 2, 2, None], "s": ["a", "bb", None, "x"]}), tmp_path / "part.parquet")
    table = tables.Table("by hand", 4, 2, (str(tmp_path),))
    asked = checks.number(
        [
            checks.complete("n", 0.7),
            checks.unique("n", 0.9),
            checks.in_range("n", 1, 1, 0.9),
            checks.pattern("s", "^[ab]+$", 0.9),
            checks.at_most("max_length", "s", 2),
            checks.between("mean", "n", 1, 2),
        ]
    )
    truth = answer_checks(table, asked)
    assert [answer["passed"] for answer in truth.values()] == [True, False, False, False, True, True]
    assert truth["c000"]["values"] == [0.75]
    assert truth["c001"]["values"] == [0.25, 1 / 3]  # of the rows, of the values
    assert truth["c005"]["values"] == [pytest.approx(5 / 3)]
    assert count_failing_rows(table, asked[2:4]) == 3  # a null breaks neither
    assert count_failing_rows(table, asked[:1]) == 1


def test_a_wrong_answer_is_told() -> None:
    cell = Cell(CHECKS_20, tables.mixed_table(400, 40))
    truth = agreement.find_truth(cell)
    answers = [
        {"id": key, "passed": true["passed"], "value": true["values"][0]} for key, true in truth["answers"].items()
    ]
    assert agreement.compare(cell, truth, {"answers": answers})["wrong"] == []
    answers[0]["passed"] = False
    answers[1]["value"] = 0.5
    answers[2] = {"id": answers[2]["id"], "passed": None, "cannot": "has no minimum"}
    told = agreement.compare(cell, truth, {"answers": answers})
    assert told["wrong"] == ["rows() fails, where it passes", "complete(n0) is 0.5, where it is 1"]
    assert (told["asked"], told["answered"], told["cannot"]) == (20, 19, ["min(n0): has no minimum"])


def test_a_wrong_profile_is_told_and_a_figure_left_out_is_not() -> None:
    cell = Cell(PROFILE, tables.mixed_table(400, 4))
    truth = agreement.find_truth(cell)
    told = {name: dict(figures) for name, figures in truth["profile"].items()}
    told["n0"].pop("mean")
    told["n0"]["max"] += 1
    found = agreement.compare(cell, truth, {"profile": told})
    assert found["wrong"] == ["max(n0) is 10, where it is 9"]
    assert found["answered"] == found["asked"] - 1


def test_two_processes_take_turns_and_the_page_has_their_figures(tmp_path: Path) -> None:
    cell = Cell(CHECKS_20, tables.mixed_table(400, 40))
    truth = agreement.find_truth(cell)
    answers = [{"id": key, "passed": true["passed"]} for key, true in truth["answers"].items()]
    commands = {
        "headgate": lambda folder: start_fake(folder, {"answers": answers}, 0.1),
        "bare": lambda folder: start_fake(folder, {"answers": answers[:-1]}, 0.3),
    }
    pair: dict[str, Any] = measure_pair(commands, cell.request(), Plan(warm=1, rounds=2, limit=60))
    for told in pair.values():
        assert len(told["rounds"]) == 2
        assert told["cold"]["jobs"] == 2
        told["agreement"] = agreement.compare(cell, truth, told)
        del told["answers"]
    results = tmp_path / "results.json"
    keep_cell(results, cell, "bare", pair, Plan(), describe_machine())
    refused = {"headgate": {}, "cuallee": {"cannot": "cuallee has no such thing."}}
    keep_cell(results, cell, "cuallee", refused, Plan(), describe_machine())
    failed = {"headgate": {}, "soda": {"error": "no answer within the limit of 600 seconds"}}
    keep_cell(results, cell, "soda", failed, Plan(), describe_machine())
    found = read_results(results)
    (measured,) = list_pairs(found)
    assert 0.25 < measured.spread("bare", "cpu").median < 3.0
    assert measured.ratio("cpu").median > 1.0
    assert measured.readings("bare") == 2.0
    assert list_reasons(found) == {"cuallee": {"cuallee has no such thing.": ["checks-20"]}}
    assert [error[0] for error in list_errors(found)] == ["soda"]
    page.write(found, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| Spark alone | 19 of 20 |" in text
    assert str(measured.ratio("cpu")) in text
    assert "| cuallee | checks-20 | cuallee has no such thing. |" in text
    assert "no answer within the limit" in text


def test_a_pair_measured_again_replaces_its_figures_and_no_others(tmp_path: Path) -> None:
    cell = Cell(CHECKS_20, tables.mixed_table(400, 40))
    results = tmp_path / "results.json"
    for peer, error in (("bare", "first"), ("deequ", "kept"), ("bare", "second")):
        keep_cell(results, cell, peer, {peer: {"error": error}}, Plan(), {"load": 1.0})
    assert [error for _, _, error in list_errors(read_results(results))] == ["second", "kept"]


def test_a_page_without_results_says_so(tmp_path: Path) -> None:
    page.write({"cells": {}}, tmp_path / "page.md")
    assert "No results are committed yet." in (tmp_path / "page.md").read_text()


def test_a_peer_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    process = start_fake(tmp_path / "slow", {"hang": True})
    with pytest.raises(PeerFailed, match=r"no answer within the limit of 0\.5 seconds"):
        process.measure({"do": "run", "round": 0}, 0.5)
    assert read_tree(process.pid) == []


def test_a_peer_that_cannot_is_told_and_not_measured(tmp_path: Path) -> None:
    commands = {
        "headgate": lambda folder: start_fake(folder, {}),
        "cuallee": lambda folder: start_fake(folder, {"cannot": "It has none."}),
    }
    pair = measure_pair(commands, {"do": "prepare"}, Plan(warm=1, rounds=1, limit=60))
    assert pair["cuallee"]["cannot"] == "It has none."
    assert "rounds" not in pair["headgate"]


def test_a_peer_that_ends_tells_its_last_words(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("import sys\nsys.exit('no such module')")
    with PeerProcess(Path(sys.executable), script, tmp_path) as process, pytest.raises(PeerFailed, match="no such"):
        process.ask({"do": "hello"}, 30)


def test_every_system_says_what_it_needs_and_has_a_name() -> None:
    names = {file.stem.removeprefix("with_") for file in SYSTEMS.glob("with_*.py")}
    assert names == set(page.NAMES)
    for name in names:
        header = read_header(SYSTEMS / f"with_{name}.py")
        assert "pyspark==" in header
        assert 'requires-python = "==3.11.*"' in header


def test_a_pair_that_takes_long_has_fewer_rounds(tmp_path: Path) -> None:
    patient, hasty = Plan(warm=3, rounds=2, limit=60), Plan(warm=3, rounds=2, limit=60, warm_seconds=0, seconds=0)
    assert [patient.is_warm_up(at, 1.0) for at in range(4)] == [True, True, True, False]
    assert [hasty.is_warm_up(at, 1.0) for at in range(4)] == [True, False, False, False]
    for plan, measured in ((patient, 2), (hasty, 1)):
        commands = {name: lambda folder: start_fake(folder, {"answers": {}}) for name in ("headgate", "bare")}
        pair = measure_pair(commands, {"do": "prepare"}, plan)
        assert [len(told["rounds"]) for told in pair.values()] == [measured, measured]
        assert all(told["cold"] for told in pair.values())


def test_only_two_systems_are_measured_on_the_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.peers.workloads.flights_table", lambda rows: tables.mixed_table(40, 4))
    for_all = {cell.key for cell in list_cells(quick=True) if cell.is_for_all}
    assert "checks-20 on 4,000 x 40" in for_all
    assert not any("x 500" in key or "x 200" in key or "parts" in key for key in for_all)
