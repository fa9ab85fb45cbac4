"""What the history tells: runs, metrics, verdicts, rows, rulings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headgate.cli.commands import rulings
from tests.cli.lake import BROKEN, CONFIG, GOOD, NEW, called, document, write_day


def test_runs_are_listed_with_what_was_wrong(judged: Path) -> None:
    lines = called("history", "orders", "--last", "2").stdout.splitlines()
    assert lines[0].split() == ["batch", "status", "decision", "rows", "causes"]
    assert lines[2].split()[:3] == [BROKEN, "fail", "held"]
    assert "is_contained_in(country" in lines[2]
    assert lines[3].split()[:3] == [GOOD, "pass", "published"]


def test_a_ruling_is_told_with_its_note(judged: Path) -> None:
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


def test_rows_that_are_to_blame_are_shown_with_the_reason(judged: Path) -> None:
    lines = called("rows", "orders", BROKEN, "--column", "id", "--column", "country").stdout.splitlines()
    assert lines[0] == f"orders {BROKEN}: 3 rows break something"
    assert lines[1].startswith("  a is_contained_in(country")
    assert lines[3].split() == ["id", "country", "breaks"]
    assert [line.split()[1:] for line in lines[5:]] == [["XX", "a"]] * 3


def test_a_column_that_is_not_there_is_told_with_the_nearest(judged: Path) -> None:
    result = called("rows", "orders", BROKEN, "--column", "contry")
    assert result.exit_code == 2
    assert "Did you mean 'country'?" in result.stderr


def test_rows_of_a_batch_that_waits_are_found_by_the_checks(judged: Path) -> None:
    write_day(judged, 10, broken=True)
    assert document("rows", "orders", NEW, "--limit", "2")["total"] == 3


def test_a_batch_without_bad_rows_says_so(judged: Path) -> None:
    assert called("rows", "orders", GOOD).stdout == f"orders {GOOD}: no single row is to blame.\n"


@pytest.mark.parametrize(
    ("act", "decision", "action"),
    [
        ("accept", "accepted", "publish"),
        ("reject", "rejected", "hold"),
        ("release", "released", "publish"),
        ("discard", "discarded", "hold"),
    ],
)
def test_a_persons_word_is_recorded(judged: Path, act: str, decision: str, action: str) -> None:
    result = called(act, "orders", BROKEN, "--note", "because", "--who", "ann")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"orders {BROKEN} was {decision} by ann (because).")
    verdict = document("explain", "orders", BROKEN)["verdict"]
    assert (verdict["decision"], verdict["action"]) == (decision, action)


def test_who_is_the_login_unless_it_is_said(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "bea")
    assert document("reject", "orders", BROKEN)["ruling"]["who"] == "bea"


def test_a_machine_without_logins_has_an_unknown_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(rulings.getpass, "getuser", nobody)
    assert rulings.find_login_name() == "unknown"


@pytest.mark.parametrize("command", ["explain", "accept", "report"])
def test_a_batch_that_is_not_there_is_told_with_what_is(judged: Path, command: str) -> None:
    result = called(command, "orders", "2026-01-99")
    assert result.exit_code == 2
    assert "orders has no run of 2026-01-99" in result.stderr
    assert GOOD in result.stderr
    assert "headgate history orders" in result.stderr


def test_a_batch_that_waits_is_told_to_be_run(judged: Path) -> None:
    write_day(judged, 10)
    result = called("explain", "orders", NEW)
    assert result.exit_code == 2
    assert f"headgate run orders --partition {NEW}" in result.stderr


def test_pages_are_written_from_the_history_alone(judged: Path) -> None:
    for page in (judged / "pages").rglob("*.html"):
        page.unlink()
    assert called("report").stdout == f"{judged / 'pages' / 'index.html'}\n"
    assert called("report", "orders", BROKEN, "--output", "one.html").stdout == "one.html\n"
    assert called("report", "orders", "-o", "set.html").exit_code == 0
    assert called("report", "-o", "all.html").exit_code == 0
    assert BROKEN in Path("one.html").read_text()
    assert {each.name for each in (judged / "pages").iterdir()} == {"index.html", "orders.html", "orders"}


def test_rows_are_in_a_report_only_if_values_may_be_shown(judged: Path) -> None:
    called("report", "orders", BROKEN, "-o", "hidden.html")
    called("report", "orders", BROKEN, "-o", "shown.html", "--set", "datasets.orders.show_values=true")
    assert ">XX<" not in Path("hidden.html").read_text()
    assert ">XX<" in Path("shown.html").read_text()


def test_a_backtest_prints_its_budgets(judged: Path) -> None:
    result = called("backtest", "orders", "--budget", "0.05", "--spots", "0")
    assert result.exit_code == 0
    assert "10 batches replayed" in result.stdout


def test_a_budget_that_is_no_share_is_told_in_words_of_the_shell(judged: Path) -> None:
    result = called("backtest", "orders", "--budget", "3")
    assert result.exit_code == 2
    assert result.stderr.endswith("Write --budget 0.01.\n")


def test_a_list_of_runs_reads_no_states(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.store import record

    monkeypatch.setattr(record, "open_states", lambda *_: pytest.fail("states were decoded"))
    assert called("history", "orders").exit_code == 0
    assert called("history", "orders", "--metric", "mean(price)").exit_code == 0
