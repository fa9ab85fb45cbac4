"""`headgate history`: the list of runs, and one metric over them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
