"""The short form of `python -m tests.same_verdict`: fewer days, stores and tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import headgate as hg
from tests.same_verdict.judge import judge_all

DAYS = 14
TABLES = ("orders", "visits", "accounts")


def judge_here(values: Any = "hidden") -> list[dict[str, str]]:
    return judge_all(hg.open_store("memory:", values=values), lambda table: table, DAYS, TABLES)


@pytest.fixture(scope="module")
def expected() -> list[dict[str, str]]:
    found = judge_here()
    assert len(found) == DAYS * len(TABLES)
    assert {each["action"] for each in found} == {"publish", "hold"}
    assert sum("clauses from" in each["program"] for each in found) >= len(TABLES) * 4
    return found


@pytest.mark.parametrize("values", ["hidden", "plain"])
def test_in_another_store(values: str, expected: list[dict[str, str]]) -> None:
    assert judge_here(values) == expected


def test_in_another_process(expected: list[dict[str, str]]) -> None:
    command = [sys.executable, "-m", "tests.same_verdict.judge", "--days", str(DAYS), "--tables", *TABLES]
    variables = {**os.environ, "PYTHONHASHSEED": "7"}
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == expected
