"""A Spark session with the jars of the table formats, classic or Connect. Without the jars, these tests are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integrations.tables.rest_catalogue import serve_catalogue
from tests.integrations.tables.session import CATALOGUE, JARS, build_session
from tests.spark.conftest import free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session")
def rest(warehouse: Path) -> Iterator[str]:
    """The address of a REST catalogue, if it is asked for."""
    if CATALOGUE != "rest":
        yield ""
        return
    with serve_catalogue(warehouse / "iceberg") as address:
        yield address


@pytest.fixture(scope="session")
def classic(warehouse: Path, rest: str, connect_port: int) -> Iterator[SparkSession]:
    """The session of the JVM, which also serves Connect if it is asked for."""
    builder = build_session(warehouse, rest)
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
