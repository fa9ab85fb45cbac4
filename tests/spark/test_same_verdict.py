"""A batch that Spark reads, split and shuffled, is judged as the local engine judges it, to the last limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headgate as hg
from tests.same_verdict.judge import judge_all, read_with_spark

DAYS = 14
TABLES = ("orders", "visits", "accounts")


@pytest.mark.parametrize("kind", ["spark", "connect"])
def test_programs_and_verdicts_are_those_of_the_local_engine(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    session: Any = request.getfixturevalue(kind)
    local = judge_all(hg.open_store("memory:"), lambda table: table, DAYS, TABLES)
    assert judge_all(hg.open_store("memory:"), read_with_spark(tmp_path, session), DAYS, TABLES) == local
    assert {each["action"] for each in local} == {"publish", "hold"}
