"""The program starts quickly: what a call does not need is not imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
HEAVY = ("pyspark", "pyarrow", "numpy", "pydantic", "pandas", "polars", "rich", "jinja2", "yaml", "sqlglot", "msgspec")

LOOK = """
import contextlib, io, json, sys
sys.argv = ["headgate", *{words}]
from headgate.cli.app import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""


def imported(*words: str, of: Sequence[str] = HEAVY) -> set[str]:
    """Which of these modules a call imports."""
    command = [sys.executable, "-c", LOOK.format(words=list(words), heavy=tuple(of))]
    found = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(SOURCE)}, check=True)
    return set(json.loads(found.stdout))


@pytest.mark.parametrize("word", ["--help", "--version", "--json-schema"])
def test_the_program_itself_imports_nothing_heavy(word: str) -> None:
    assert imported(word) == set()


@pytest.mark.parametrize("words", [("run", "--help"), ("index", "build", "--help")])
def test_the_help_of_a_command_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert imported(*words) <= {"pydantic"}, "typer converts options with it, where it is installed"


def test_a_file_is_profiled_without_spark_and_without_templates(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    assert imported("profile", str(tmp_path / "a.csv"), of=("pyspark", "jinja2", "pyarrow")) == {"pyarrow"}
