"""A shell completes the names of datasets, cheaply, and whatever the file looks like."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headgate.cli.options import complete_dataset, complete_source
from tests.cli.lake import CONFIG

SOURCE = Path(__file__).resolve().parents[2] / "src"


def context(config: str | None = None) -> Any:
    return SimpleNamespace(params={"config": config})


def test_the_datasets_of_the_file_are_offered(lake: Path) -> None:
    Path("headgate.yml").write_text(CONFIG + '\n  # a comment\n  "order lines":\n    source: {path: x}\nalerts: []\n')
    assert complete_dataset(context(), "") == ["orders", "order lines"]
    assert complete_dataset(context(), "order ") == ["order lines"]
    assert complete_dataset(context("nowhere.yml"), "") == []


def test_a_variable_may_name_the_file(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("headgate.yml").rename("other.yml")
    monkeypatch.setenv("HEADGATE_CONFIG", "other.yml")
    assert complete_dataset(context(), "o") == ["orders"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"datasets: 7", b"datasets:\n\torders:\n", b"[" * 10_000])
def test_no_file_can_make_it_raise(lake: Path, content: bytes) -> None:
    Path("headgate.yml").write_bytes(content)
    assert isinstance(complete_dataset(context(), ""), list)
    Path("headgate.yml").unlink()
    Path("headgate.yml").mkdir()
    assert complete_dataset(context(), "") == []


def test_files_and_datasets_are_offered_where_both_fit(lake: Path) -> None:
    assert complete_source(context(), "") == ["orders", "headgate.yml", "lake/"]
    assert complete_source(context(), "lake/") == ["lake/orders/"]
    assert complete_source(context(), "nowhere/") == []


def test_a_shell_gets_its_answer(lake: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "_HEADGATE_COMPLETE": "complete_bash",
        "COMP_WORDS": "headgate explain o",
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_TESTING": "True",
    }
    command = [sys.executable, "-m", "headgate"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=lake, env=environment, check=False)
    assert found.stdout.split() == ["orders"]
