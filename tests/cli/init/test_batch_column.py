"""A growing file is divided into batches by the column of its days."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.project.project import Project
from tests.cli.init.files import run_headgate, write_growing_file


def test_the_batches_of_a_file_that_grows_are_the_days_in_it() -> None:
    write_growing_file("day")
    assert "3 batches, 2026-11-01 to 2026-11-03" in run_headgate("init", "stock.parquet").output
    with Project.open() as project:
        stock = project.dataset("stock")
        assert stock.settings.source.where == "day = '{partition}'"
        assert stock.waiting() == ("2026-11-01", "2026-11-02", "2026-11-03")
    run_headgate("run")


@pytest.mark.parametrize(("name", "days"), [("birthday", 3), ("day", 1)])
def test_a_file_that_does_not_say_its_days_is_run_by_a_name(name: str, days: int) -> None:
    write_growing_file(name, days)
    said = run_headgate("init", "stock.parquet").output
    assert "type   headgate run stock --partition 2026-11-14" in said
    assert "where: \"day = '{partition}'\"" in Path("headgate.yml").read_text()
    assert "where: \"day = '{partition}'\"" in run_headgate("run", code=2).stderr
    run_headgate("run", "stock", "--partition", "2026-11-14")
