"""A Spark session with the jars of the table formats, classic or Connect. Without the jars, these tests are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.conftest import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS = os.environ.get("HEADGATE_TABLE_JARS", "")
"""Paths of the jars of Iceberg and Delta, with commas between them."""
THROUGH_CONNECT = os.environ.get("HEADGATE_TABLE_SESSION") == "connect"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.spark)
            if not JARS:
                item.add_marker(pytest.mark.skip("HEADGATE_TABLE_JARS names no jars; .ci/tables fetches them"))


@pytest.fixture(scope="session")
def connect_port() -> int:
    return free_port()


@pytest.fixture(scope="session")
def classic(tmp_path_factory: pytest.TempPathFactory, connect_port: int) -> Iterator[SparkSession]:
    """The session of the JVM, which also serves Connect if it is asked for."""
    from pyspark.sql import SparkSession

    warehouse = tmp_path_factory.mktemp("warehouse")
    extensions = (
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.delta.sql.DeltaSparkSessionExtension"
    )
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", JARS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.extensions", extensions)
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.warehouse.dir", str(warehouse / "delta"))
        .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lake.type", "hadoop")
        .config("spark.sql.catalog.lake.warehouse", str(warehouse))
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.databricks.delta.snapshotPartitions", "1")
    )
    if THROUGH_CONNECT:
        builder = (
            builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
            .config("spark.connect.grpc.binding.address", "127.0.0.1")
            .config("spark.connect.grpc.binding.port", str(connect_port))
        )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark(classic: SparkSession, connect_port: int) -> Iterator[SparkSession]:
    """The session that tables are read and written with."""
    if not THROUGH_CONNECT:
        yield classic
        return
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(f"sc://127.0.0.1:{connect_port}").create()
    yield session
    session.stop()
