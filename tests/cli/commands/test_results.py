"""`headgate results`, and what a run does if results cannot be written; tables are tested with Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headgate.integrations.results import ResultTables
from headgate.values.errors import PublishError
from tests.cli.lake import CONFIG, called, document


def test_without_results_in_the_file_there_is_nothing_to_write(judged: Path) -> None:
    refused = called("results")
    assert refused.exit_code == 2
    assert "the file has no results:" in refused.stderr
    assert "tables: lake.dq.headgate" in refused.stderr


def test_results_are_written_by_dataset(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (judged / "headgate.yml").write_text(f"{CONFIG}results: {{to: delta, tables: dq.headgate}}\n")
    monkeypatch.setattr(ResultTables, "update", lambda tables, gate: len(gate.store.revisions(gate.dataset)))
    assert document("results")["written"] == {"orders": 10}
    assert called("results", "orders").stdout == "10 runs written to dq.headgate_verdicts.\n"


def test_a_run_whose_results_cannot_be_written_says_so_and_decides_all(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIG.replace("- is_contained_in: country\n        values: [DE, FR, US]\n      ", "")
    (lake / "headgate.yml").write_text(f"{config}results: {{to: delta, tables: dq.headgate}}\n")

    def fail(tables: ResultTables, gate: Any) -> int:
        raise PublishError("dq.headgate: no such catalogue.", "Create it.")

    monkeypatch.setattr(ResultTables, "update", fail)
    done = called("run", "orders", "--fail-on", "never")
    assert done.exit_code == 4
    assert "the results of orders were not written" in done.stderr
    assert "no such catalogue" in done.stderr
    assert document("history", "orders")["runs"]
