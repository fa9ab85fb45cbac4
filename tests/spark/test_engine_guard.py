"""A scan on Spark costs no more CPU than the limits of `benchmarks/engine/guard.py` beside a plain scan."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.engine import guard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_default_metrics_cost_little_beside_a_plain_scan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.data, "FOLDER", tmp_path)
    assert guard.is_within_limits(partial(guard.measure_spark, spark))
