"""Workers whose Python lacks the dependencies: `headgate doctor` found nothing wrong, and batches were held later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attack.programs import make_bare_python, run_command
from tests.cli.lake import write_lake

pytestmark = pytest.mark.spark


def test_doctor_names_the_python_of_the_workers_and_the_modules_that_it_lacks(tmp_path: Path) -> None:
    bare = make_bare_python(tmp_path / "bare")
    write_lake(tmp_path / "lake")
    words = ("doctor", "--set", "spark.master=local[2]", "--output-json", "-")
    done = run_command(tmp_path / "lake", bare, *words)
    assert done.returncode == 3, done.stderr[-3_000:]
    problems = [each for each in json.loads(done.stdout)["findings"] if each["status"] == "problem"]
    assert [each["name"] for each in problems] == ["Spark workers"]
    assert f"({bare}, Python 3." in problems[0]["says"]
    assert problems[0]["says"].endswith("cannot import datasketches, msgspec, numpy, pyarrow.")
    assert "PYSPARK_PYTHON" in problems[0]["hint"]
    assert "\tat " not in done.stderr
