"""One JVM for all Spark tests: a classic session, a Connect session beside it, and a counter of the jobs of both."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.jobs import Jobs, count_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
# Before Spark starts: its Python workers import headgate, and functions of test modules, by these.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

# Without pyspark the other tests still run.
collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]

CountJobs = Callable[[], AbstractContextManager[Jobs]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs a JVM."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.spark)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def connect_port() -> int:
    return free_port()


@pytest.fixture(scope="session")
def spark(connect_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic session whose JVM also serves Connect."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("headgate-tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "Asia/Kolkata")  # nothing measured may depend on it
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
        .config("spark.connect.grpc.binding.address", "127.0.0.1")
        .config("spark.connect.grpc.binding.port", str(connect_port))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")  # tests that break jobs on purpose print pages otherwise
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connect(spark: SparkSession, connect_port: int) -> Iterator[Any]:
    """A Connect session served by the JVM of `spark`."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(f"sc://127.0.0.1:{connect_port}").create()
    yield session
    session.stop()


@pytest.fixture
def jobs(spark: SparkSession) -> CountJobs:
    """`with jobs() as started: ...` leaves in the list the description of each job, of any session, started inside."""
    return partial(count_jobs, spark)
