"""Workers whose Python lacks the dependencies: the scan was tried again and bisected, and every batch was held."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attack.programs import make_bare_python, run_command, run_program
from tests.cli.lake import write_lake

pytestmark = pytest.mark.spark

JUDGES = """
spark, connect = start_both()
told = {}
for name, session in (("classic", spark), ("connect", connect)):
    counter = spark.sparkContext._jsc.sc().statusStore()
    before = counter.jobsList(None).size()
    told[name] = judge(session.range(0, 100, 1, 2).selectExpr("id", "id % 7 AS few", "CAST(id AS STRING) AS text"))
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    told[name]["jobs"] = counter.jobsList(None).size() - before
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_bare_python(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def judged(bare: str) -> dict[str, Any]:
    return run_program(JUDGES, PYSPARK_PYTHON=bare)


@pytest.mark.parametrize("session", ["classic", "connect"])
def test_nothing_is_recorded_and_the_error_names_the_python_and_its_modules(
    session: str, judged: dict[str, Any], bare: str
) -> None:
    found = judged[session]
    missing = "cannot import datasketches, msgspec, numpy, pyarrow."
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"EngineUnavailable: the Python of Spark's workers ({bare}, Python {version}) {missing}" in found["said"]
    assert ("PYSPARK_PYTHON" if session == "classic" else "addArtifact") in found["said"]
    assert found["runs"] == 0


@pytest.mark.parametrize("session", ["classic", "connect"])
def test_no_column_is_searched_for(session: str, judged: dict[str, Any]) -> None:
    assert judged[session]["jobs"] == 1  # the scan, whose task says what its worker lacks


def test_a_run_ends_at_the_first_batch_and_prints_no_stack(bare: str, tmp_path: Path) -> None:
    write_lake(tmp_path)
    done = run_command(tmp_path, bare, "run", "--set", "spark.master=local[2]")
    assert done.returncode == 3
    assert done.stderr.count("was not judged") == 1
    assert f"({bare}, " in done.stderr
    assert "\tat " not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.strip()]) <= 6, done.stderr
    assert "1 batch: 0 published, 0 held, 1 not judged" in done.stdout
    history = run_command(tmp_path, bare, "history", "orders")
    assert "2026" not in history.stdout


def test_two_v_show_the_stack(bare: str, tmp_path: Path) -> None:
    write_lake(tmp_path)
    done = run_command(tmp_path, bare, "run", "-vv", "--set", "spark.master=local[2]")
    assert done.returncode == 3
    assert "Traceback (most recent call last)" in done.stderr
    assert "ModuleNotFoundError: No module named" in done.stderr
