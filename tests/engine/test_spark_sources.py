"""The Python of workers on this machine. Sessions and tables are tested in `tests/spark/test_project.py`."""

from __future__ import annotations

import os
import sys

import pytest

from headgate.engine.spark_sources import _use_own_python


def test_workers_here_have_the_python_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with _use_own_python(True):
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert "PYSPARK_PYTHON" not in os.environ


def test_workers_elsewhere_have_a_python_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with _use_own_python(False):
        assert "PYSPARK_PYTHON" not in os.environ


def test_a_python_that_the_environment_names_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    with _use_own_python(True):
        assert os.environ["PYSPARK_PYTHON"] == "/opt/python"
    assert os.environ["PYSPARK_PYTHON"] == "/opt/python"
