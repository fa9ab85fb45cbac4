"""What the pages say of constraints, and the stub that editors read, is so."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

import pytest

import headgate as hg
from headgate.checks.constraint import constraints

ROOT = Path(__file__).resolve().parents[2]
CALL = re.compile(r"`(\.[a-z_]+\(.*?\))`")


def deequ_calls() -> list[str]:
    table = (ROOT / "docs" / "deequ.md").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if line.startswith("| ") and "---" not in line]
    return [call for line in lines for call in CALL.findall(line.rsplit(" | ", 1)[1])]


@pytest.mark.parametrize("call", deequ_calls())
def test_every_call_of_the_deequ_page_makes_a_rule(call: str) -> None:
    check = eval(f'hg.Check("t"){call}', {"hg": hg, "datetime": datetime})
    assert len(check.rules) == 1


def test_the_deequ_page_has_every_constraint_of_the_vocabulary() -> None:
    named = set(re.findall(r"\.([a-z_]+)\(", " ".join(deequ_calls())))
    declared = {name for name, each in constraints().items() if each.metric is None}
    assert declared - named == {"metric"}


USES = """
import headgate.checks.check as checks

good = checks.Check("a").has_mean("p", between=(1, 2)).is_unique("a", "b", at_least=0.9, holds=bool)
good.has_no_anomalies("size()", "online_normal()", level="warn").has_size(lambda rows: rows > 5).is_fresh("t", "2d")
checks.Check("a").has_mean("p", betwen=(1, 2))
checks.Check("a").has_meen("p")
checks.Check("a").is_fresh("t", "2d", at_least=3)
"""


def test_the_stub_tells_right_calls_from_wrong_ones(tmp_path: Path) -> None:
    path = tmp_path / "uses.py"
    path.write_text(USES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    command += ["--explicit-package-bases", f"--cache-dir={tmp_path}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"MYPYPATH": str(ROOT / "src")})
    found = [line.partition(" error: ")[0].split(":")[-2] for line in done.stdout.splitlines() if " error: " in line]
    assert found == ["6", "7", "8"], done.stdout + done.stderr
