"""The settings of a Spark session that knows Iceberg and Delta tables, on this machine alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS = os.environ.get("HEADGATE_TABLE_JARS", "")
"""Paths of the jars of Iceberg and Delta, with commas between them; `.ci/tables` fetches them."""
CATALOGUE = os.environ.get("HEADGATE_TABLE_CATALOGUE", "hadoop")
"""Where the names of Iceberg tables are: in folders (hadoop), in SQLite (jdbc), behind a server (rest)."""


def build_session(warehouse: Path, rest: str = "") -> SparkSession.Builder:
    """A session with the Iceberg catalogue `lake`, and with Delta tables in its own catalogue.

    `rest` is the address of a REST catalogue.
    """
    from pyspark.sql import SparkSession

    extensions = (
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.delta.sql.DeltaSparkSessionExtension"
    )
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", JARS)
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.extensions", extensions)
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.warehouse.dir", str(warehouse / "delta"))
        .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lake.type", CATALOGUE)
        .config("spark.sql.catalog.lake.warehouse", str(warehouse / "iceberg"))
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.databricks.delta.snapshotPartitions", "1")
    )
    if CATALOGUE == "jdbc":
        builder = builder.config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{warehouse}/names.db")
    if CATALOGUE == "rest":
        builder = builder.config("spark.sql.catalog.lake.uri", rest)
    return builder
