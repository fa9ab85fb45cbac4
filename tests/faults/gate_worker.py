"""F2 through the gate, in a Spark session of its own: a Python worker dies in every try to read one column."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from headgate.checks.check import Check
from headgate.gate.gate import Gate
from headgate.gate.publish.folders import Folders
from headgate.store.open import open_store


def main(root: Path) -> None:
    frame = deadly(session())
    store, folders = open_store(f"file://{root}/history"), Folders(root / "lake")
    told = {}
    for column in ("fatal", "id"):
        check = Check("orders").is_complete(column)
        folders.staging_path(column).mkdir()
        verdict = Gate("orders", store=store, checks=check, learn=(), publisher=folders).judge(frame, column)
        told[column] = [verdict.status.value, verdict.action.value, verdict.decision, column in folders.paths()]
    print(json.dumps(told))


def session() -> Any:
    from pyspark.sql import SparkSession

    made = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    made = made.config("spark.driver.bindAddress", "127.0.0.1").config("spark.ui.enabled", "false")
    spark = made.config("spark.driver.memory", "1g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def deadly(spark: Any) -> Any:
    """Orders whose column `fatal` ends the worker that computes it, in the middle of the batch."""
    from pyspark.sql.functions import udf

    def end(number: int) -> int:
        import os

        if number == 60:
            os._exit(1)
        return number

    return spark.range(0, 100, 1, 2).withColumn("fatal", udf(end, "long")("id"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
