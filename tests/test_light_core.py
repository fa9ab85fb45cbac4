"""The core without the libraries of its extras, as a cluster has it: each process runs where they are absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
BLOCK = """
import sys
ABSENT = {"pydantic", "typer", "rich", "jinja2", "yaml", "pandas", "scipy", "click", "sqlalchemy", "pyspark"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""
TABLE = """
import pyarrow as pa
import headgate as hg
table = pa.table({"id": [1, 2, 3], "price": [2.0, None, 4.5], "country": ["de", "fr", "fr"]})
"""
WORK = {
    "analyze": "print(hg.analyze(table).page().html()[:4], hg.analyze(table)[hg.Completeness('price')])",
    "verify": "print(hg.verify(table, hg.Check('orders').is_complete('price')).explain())",
    "rows": "print(hg.verify(table, hg.Check('orders').is_complete('price')).rows(table).num_rows)",
    "profile": "print(hg.profile(table))",
    "suggest": "print(hg.suggest(table).to_python())",
    "gate": """
gate = hg.Gate("orders", store=hg.open_store("memory://"))
for day in range(1, 10):
    print(gate.judge(table, f"2026-11-{day:02}"))
print(gate.backtest())
""",
    "files": """
import tempfile
gate = hg.Gate("orders", store=hg.open_store("file://" + tempfile.mkdtemp()))
print(gate.judge(table, "2026-11-01"))
""",
}
MISSING = {
    "hg.Project": "a project needs pydantic.",
    "hg.Report": "a report needs Jinja2.",
    "hg.Check('orders').is_complete('id').to_yaml()": "checks in YAML need PyYAML.",
    "hg.Check.from_yaml('[{is_complete: id}]')": "checks in YAML need PyYAML.",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    words = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**words, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_the_core_works_alone(work: str) -> None:
    done = run(f"{BLOCK}{TABLE}{work}\nprint(sorted(ABSENT & sys.modules.keys()))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n[]\n")


@pytest.mark.parametrize(("call", "message"), MISSING.items(), ids=MISSING.keys())
def test_what_needs_the_extra_says_so(call: str, message: str) -> None:
    done = run(f"{BLOCK}{TABLE}{call}")
    assert done.stderr.splitlines()[-1] == f'headgate.values.errors.MisuseError: {message} pip install "headgate[cli]"'


def test_the_program_says_what_to_install() -> None:
    done = run(f"{BLOCK}from headgate.__main__ import main\nmain()")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'the command line needs typer. pip install "headgate[cli]"\n'


def test_an_older_pydantic_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "pydantic.py").write_text("VERSION = '1.10.6'\n", encoding="utf-8")
    done = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport headgate as hg\nhg.Project")
    assert "MisuseError: a project needs pydantic 2; 1.10.6 is installed." in done.stderr


def test_analyze_loads_none_of_them_where_they_are_installed() -> None:
    """pandas is not among them: pyarrow loads it for arrays of Python values, if it is installed."""
    names = "{'pydantic', 'typer', 'rich', 'jinja2', 'yaml', 'scipy', 'sqlalchemy', 'pyspark'}"
    assert run(f"import sys\n{TABLE}hg.analyze(table)\nprint({names} & sys.modules.keys())").stdout == "set()\n"
