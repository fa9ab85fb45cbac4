"""The server side of every system: one question a line on stdin, one answer a line on stdout.

It runs in the environment of the system, so it needs nothing but Spark and the standard library.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

import pyspark
from pyspark.sql import DataFrame, SparkSession

Request = dict[str, Any]
Step = Callable[[int], dict[str, Any]]
Prepare = Callable[[SparkSession, Request], Step]
FIRST_LINES = 12


class CannotDo(Exception):
    """A sentence that says what the system has no way to do."""


def serve(
    workloads: Mapping[str, Prepare],
    cannot: Mapping[str, str],
    packages: tuple[str, ...] = (),
    settings: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
) -> None:
    """Answer until stdin ends. Settings of the session may also be arguments of the program: `name=value`.

    Args:
        workloads: For each workload that the system can do, what prepares it outside of the measured time and gives
            the step that is measured.
        cannot: For each other workload, why not.
        packages: Distributions whose versions are told.
        settings: Further settings of the Spark session, such as a jar.
        versions: Versions that no distribution tells.
    """
    answers = _keep_stdout()
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    spark = open_session({**(settings or {}), **given})
    server = _Server(spark, workloads, cannot, packages, versions or {})
    for line in sys.stdin:
        answers.write(json.dumps(server.answer(json.loads(line))) + "\n")
        answers.flush()
    spark.stop()


def open_session(settings: Mapping[str, str]) -> SparkSession:
    """The same session for all: Spark's defaults, the given cores and memory, nothing shown."""
    cores, memory = os.environ["PEERS_CORES"], os.environ["PEERS_MEMORY"]
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.driver.memory", memory)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000")
        # what is counted is read from the store that the pages of Spark would be drawn from
        .config("spark.ui.retainedJobs", "20000")
        .config("spark.ui.retainedStages", "20000")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def open_table(spark: SparkSession, request: Request) -> DataFrame:
    """The table, its schema already read: that is one small job, and part of no step."""
    return spark.read.parquet(*request["paths"])


def prepare_scan(spark: SparkSession, request: Request) -> Step:
    """Spark reads the table into its noop sink."""
    frame = open_table(spark, request)

    def scan(_: int) -> dict[str, Any]:
        frame.write.format("noop").mode("overwrite").save()
        return {}

    return scan


def count_rows(rows: DataFrame) -> int:
    """Write all columns of the rows to the noop sink and count them on the way."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    seen = Observation()
    rows.observe(seen, sf.count(sf.lit(1)).alias("rows")).write.format("noop").mode("overwrite").save()
    return int(seen.get["rows"])


class _Server:
    def __init__(
        self,
        spark: SparkSession,
        workloads: Mapping[str, Prepare],
        cannot: Mapping[str, str],
        packages: tuple[str, ...],
        versions: Mapping[str, str],
    ) -> None:
        self._versions = versions
        self._spark, self._workloads, self._cannot, self._packages = spark, workloads, cannot, packages
        self._step: Step | None = None
        self._counted = SparkCounts(spark)

    def describe(self) -> dict[str, Any]:
        found = {"python": sys.version.split()[0], "spark": pyspark.__version__, **self._versions}
        for name in self._packages:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "not installed"
        java = self._spark._jvm.java.lang.System.getProperty("java.version")
        return {"versions": found | {"java": java}}

    def answer(self, question: Request) -> dict[str, Any]:
        try:
            match question["do"]:
                case "hello":
                    return self.describe()
                case "prepare":
                    return self._prepare(question)
                case "run":
                    return self._run(int(question["round"]))
                case "count":
                    return self._count()
        except CannotDo as reason:
            return {"cannot": str(reason)}
        except Exception as error:
            traceback.print_exc()
            return {"error": _first_lines(error)}
        return {"error": f"what is {question['do']}?"}

    def _prepare(self, request: Request) -> dict[str, Any]:
        workload = request["workload"]
        if workload not in self._workloads:
            raise CannotDo(self._cannot[workload])
        self._step = self._workloads[workload](self._spark, request)
        self._counted.begin()
        return {"ok": True}

    def _run(self, at: int) -> dict[str, Any]:
        assert self._step
        began = time.perf_counter()
        found = self._step(at)
        return {"wall": time.perf_counter() - began, **found}

    def _count(self) -> dict[str, Any]:
        """Jobs and input of the step before; then the caches are emptied, so that no step finds another one's."""
        counts = self._counted.since()
        self._spark.catalog.clearCache()
        self._counted.begin()
        return counts


class SparkCounts:
    """Jobs, stages and input of the tables since a moment, from Spark's own store of what it did."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext._jsc.sc()
        self._gateway = spark.sparkContext._gateway
        self._jobs, self._stage = 0, -1
        self.begin()

    def begin(self) -> None:
        self._context.listenerBus().waitUntilEmpty()
        self._jobs = self._context.dagScheduler().numTotalJobs()
        self._stage = max((stage.stageId() for stage in self._stages()), default=self._stage)

    def since(self) -> dict[str, Any]:
        self._context.listenerBus().waitUntilEmpty()
        stages = [stage for stage in self._stages() if stage.stageId() > self._stage]
        return {
            "jobs": self._context.dagScheduler().numTotalJobs() - self._jobs,
            "stages": sum(stage.status().name() == "COMPLETE" for stage in stages),
            "input_records": sum(stage.inputRecords() for stage in stages),
            "input_bytes": sum(stage.inputBytes() for stage in stages),
        }

    def _stages(self) -> list[Any]:
        """From the newest to the oldest that is not counted yet, as the list grows with every round."""
        jvm = self._gateway.jvm
        none = self._gateway.new_array(jvm.double, 0)
        empty = jvm.java.util.ArrayList()
        found = self._context.statusStore().stageList(empty, False, False, none, empty)
        stages = []
        for at in range(found.size()):
            stage = found.apply(at)
            if stage.stageId() <= self._stage:
                break
            stages.append(stage)
        return stages


def _keep_stdout() -> Any:
    """The line to the benchmark; what libraries print goes to stderr, which is the log."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()][:FIRST_LINES]
    return f"{type(error).__name__}: {' '.join(lines)}"[:800]


def scratch_folder(name: str) -> Path:
    """A folder for what a system keeps between steps, below the working directory of its process."""
    folder = Path.cwd() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
