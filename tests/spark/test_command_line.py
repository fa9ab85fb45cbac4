"""The command line over Spark: a batch is judged, and looked at, by a session that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.lake import BROKEN, GOOD, document, write_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_batch_is_judged_by_the_session_that_is_active(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_lake(tmp_path))
    engine = ("--set", "datasets.orders.engine=spark")
    found = document("run", "orders", "--partition", BROKEN, *engine)
    assert found["exit_code"] == 1
    assert found["batches"][0]["rows"] == 118
    rows = document("rows", "orders", BROKEN, "--limit", "2", *engine)
    assert (rows["total"], len(rows["rows"])) == (3, 2)
    assert {row["values"]["country"] for row in rows["rows"]} == {"XX"}
    assert document("profile", "orders", "--partition", GOOD, *engine)["profile"]["rows"] == 117
