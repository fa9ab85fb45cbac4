"""Long work shows how far it has come, to those who watch, and to nobody else."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from headgate.cli.context import CommandContext
from headgate.cli.progress_bar import format_progress, show_progress_bar
from headgate.engine.analyze import analyze
from headgate.engine.local import ROWS
from headgate.engine.progress import Progress
from tests.cli.lake import called


def test_a_table_tells_its_rows_as_they_are_folded() -> None:
    seen: list[Progress] = []
    analyze(pa.table({"x": range(2 * ROWS + 5)}), progress=seen.append)
    assert [each.rows for each in seen] == [ROWS, 2 * ROWS, 2 * ROWS + 5]
    assert {each.total for each in seen} == {2 * ROWS + 5}


def test_parquet_files_know_their_rows_before_they_are_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": range(1_000)}), tmp_path / "a.parquet")
    seen: list[Progress] = []
    analyze(ds.dataset(tmp_path / "a.parquet"), progress=seen.append)
    assert seen[-1] == Progress(1_000, 1_000, rows=1_000)


def test_of_text_files_the_rows_are_not_counted_first(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    seen: list[Progress] = []
    analyze(ds.dataset(tmp_path / "a.csv", format="csv"), progress=seen.append)
    assert seen[-1] == Progress(2, 0, rows=2)


def test_a_listener_that_raises_costs_no_scan() -> None:
    def broken(_: Progress) -> None:
        raise RuntimeError("not now")

    assert len(analyze(pa.table({"x": [1]}), progress=broken)) > 0


@pytest.mark.parametrize(
    ("progress", "seconds", "words"),
    [
        (Progress(3, 8, stage="stage 1 of 2"), 2.0, "stage 1 of 2, 3 of 8 tasks, 1.5 tasks/s"),
        (
            Progress(3, 8, bytes=40_000_000, stage="stage 1 of 2"),
            2.0,
            "stage 1 of 2, 3 of 8 tasks, 1.5 tasks/s, 40 MB, 20 MB/s",
        ),
        (Progress(0, 8, stage="stage 1 of 2"), 2.0, "stage 1 of 2, 0 of 8 tasks"),
        (Progress(500, 1_000, rows=500), 0.1, "scanning, 500 rows"),
        (Progress(500_000, 0, rows=500_000), 2.0, "scanning, 500,000 rows, 250,000 rows/s"),
    ],
)
def test_stage_rows_and_rate_are_told(progress: Progress, seconds: float, words: str) -> None:
    assert format_progress(progress, seconds) == words


def test_a_bar_is_drawn_on_a_terminal_and_gone_after_it() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with show_progress_bar(console, "orders [red]x[/red]", "learning") as report:
        report(Progress(500, 1_000, rows=500))
    drawn = out.getvalue()
    assert "[red]x[/red]" in drawn, "a name is no markup"
    assert "scanning, 500 rows" in drawn
    assert drawn.rstrip().endswith("\x1b[2K"), "the line is erased"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("color", [True, None], ids=["colours are forced", "plain"])
def test_nobody_is_told_where_there_is_no_terminal(color: bool | None) -> None:
    call = CommandContext("profile")
    call.__dict__["err"] = Console(file=io.StringIO(), force_terminal=color)
    with call.show_progress("x") as report:
        assert report is None


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_shows_no_progress(quiet: bool) -> None:
    call = CommandContext("profile", quiet=quiet)
    call.__dict__["err"] = Console(file=Terminal(), force_terminal=True)
    with call.show_progress("x") as report:
        assert (report is None) == quiet


def test_standard_error_is_empty_without_a_terminal(lake: Path) -> None:
    assert called("profile", "lake/orders").stderr == ""
