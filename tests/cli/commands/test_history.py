"""`headgate history`: the list of runs, and one metric over them."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import headgate as hg
from tests.cli.lake import BROKEN, CONFIG, GOOD, called, document, write_day


def test_runs_are_listed_with_what_was_wrong(judged: Path) -> None:
    lines = called("history", "orders", "--last", "2").stdout.splitlines()
    assert lines[0].split() == ["batch", "status", "decision", "rows", "causes"]
    assert lines[2].split()[:3] == [BROKEN, "fail", "held"]
    assert "is_contained_in(country" in lines[2]
    assert lines[3].split()[:3] == [GOOD, "pass", "published"]


def test_batches_that_wait_are_counted_below_the_runs(judged: Path) -> None:
    waiting = f"1 batch waits for a decision: {BROKEN}."
    assert waiting in called("history", "orders", "--last", "1").stdout.splitlines()
    called("reject", "orders", BROKEN, "--note", "wrong")
    assert "for a decision" not in called("history", "orders").stdout


def test_a_ruling_is_shown_with_its_note(judged: Path) -> None:
    called("accept", "orders", BROKEN, "--note", "a new market", "--who", "ann")
    assert "ann: a new market" in called("history", "orders").stdout
    assert "Accepted by ann: a new market" in called("explain", "orders", BROKEN).stdout
    assert document("history", "orders")["runs"][8]["note"] == "a new market"


def test_a_metric_is_shown_over_the_runs(judged: Path) -> None:
    lines = called("history", "orders", "--metric", "mean(price)").stdout.splitlines()
    assert lines[0].startswith("mean(price) in 10 runs, ")
    assert len(lines[1]) == 10
    assert lines[2] == " " * 8 + "x"
    points = document("history", "orders", "--metric", "mean(price)")["series"]
    assert [each["partition"] for each in points][-1] == GOOD
    assert (points[0]["low"], points[0]["high"], points[0]["status"]) == (1.0, 40.0, "pass")


def test_bars_that_are_too_many_for_a_line_go_on_in_the_next(judged: Path) -> None:
    result = called("history", "orders", "--metric", "mean(price)", env={"FORCE_COLOR": "1", "COLUMNS": "6"})
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in result.stdout.splitlines()]
    bars = [line for line in lines if line and set(line) <= set("▁▂▃▄▅▆▇█")]
    assert [len(line) for line in bars] == [6, 4]
    assert lines[lines.index(bars[1]) + 1] == "  x"


def test_a_metric_that_failed_is_marked(judged: Path) -> None:
    Path("headgate.yml").write_text(CONFIG.replace("[1, 40]", "[1, 2]"))
    write_day(judged, 10)
    called("run")
    lines = called("history", "orders", "--metric", "mean(price)", "--last", "3").stdout.splitlines()
    assert lines[2] == "x !"
    assert lines[-1].split()[-2:] == ["failed", "published"]
    assert document("history", "orders", "--metric", "mean(price)")["series"][-1]["status"] == "fail"


def test_a_metric_that_no_run_has_names_the_nearest(judged: Path) -> None:
    result = called("history", "orders", "--metric", "mean(prise)")
    assert result.exit_code == 2
    assert "Did you mean 'mean(price)'?" in result.stderr


def test_a_dataset_without_runs_says_so(lake: Path) -> None:
    assert called("history", "orders").stdout == "orders has no recorded run.\n"


def test_a_list_of_runs_reads_no_states(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.store import record

    monkeypatch.setattr(record, "open_states", lambda *_: pytest.fail("states were decoded"))
    assert called("history", "orders").exit_code == 0
    assert called("history", "orders", "--metric", "mean(price)").exit_code == 0


WINDOWS = 36  # of half an hour


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset that a stream judges; three windows of it failed."""
    monkeypatch.chdir(tmp_path)
    Path("headgate.yml").write_text("store: sqlite:///dq.db\ndatasets:\n  clicks: {source: elsewhere, mode: observe}\n")
    check = hg.Check("clicks").is_non_negative("price")
    with hg.Project.open("headgate.yml") as project:
        gate = hg.Gate("clicks", store=project.store, checks=check, learn=[], mode="observe")
        for at in range(WINDOWS):
            rows = pa.table({"price": [-1.0 if at in (30, 31, 32) else 1.0] * (100 + at)})
            gate.judge(rows, f"2026-11-18T{at // 2:02}:{at % 2 * 30:02}")


def test_windows_with_one_outcome_are_a_line(windows: None) -> None:
    lines = called("history", "clicks").stdout.splitlines()
    assert [" ".join(line.split())[:62] for line in lines[2:5]] == [
        "2026-11-18T00:00 to 14:30, 30 runs pass published 100 to 129",
        "2026-11-18T15:00 to 16:00, 3 runs fail observed 130 to 132 is_",
        "2026-11-18T16:30 to 17:30, 3 runs pass published 133 to 135",
    ]
    assert len(document("history", "clicks")["runs"]) == WINDOWS
    assert len(document("history", "clicks", "--last", "5")["runs"]) == 5


def test_what_is_judged_elsewhere_has_a_history_and_no_rows(windows: None) -> None:
    assert called("run").stdout == "clicks: is judged elsewhere.\n"
    assert "it is judged elsewhere; the newest run is 2026-11-18T17:30" in called("doctor").stdout
    assert "are not published into a table" in called("split", "clicks", "2026-11-18T15:00").output
    called("accept", "clicks", "2026-11-18T15:00", "--note", "refunds")
    assert "Accepted by" in called("explain", "clicks", "2026-11-18T15:00").stdout


def test_without_a_run_a_dataset_that_is_judged_elsewhere_is_doubted(windows: None) -> None:
    Path("dq.db").unlink()
    said = called("doctor").stdout
    assert "it is judged elsewhere, and has no run" in said
