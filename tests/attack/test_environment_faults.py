"""Faults of the environment were taken for faults of the batch: it was recorded as unreadable, and held."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attack.programs import run_program

pytestmark = pytest.mark.spark

SESSION_GONE = """
import os, signal

def wait(batches):
    time.sleep(30)
    yield from batches

def kill_later():
    java = spark.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid()
    act_once_a_task_runs(spark, os.kill, java, signal.SIGKILL)

from pyspark.sql.connect.client.retries import DefaultPolicy
told = {}
spark, connect = start_both()
frame, remote = spark.range(0, 100, 1, 2), connect.range(0, 100, 1, 2)
told["connect before"] = judge(remote)
connect.client.set_retry_policies([DefaultPolicy(max_retries=1)])
slow = remote.mapInArrow(wait, remote.schema)
kill_later()
told["connect server killed"] = judge(slow)
told["connect server gone"] = judge(remote)
told["driver gone"] = judge(frame)
told["reader without driver"] = judge(lambda: spark.read.parquet("/nowhere"))
print(json.dumps(told))
sys.stdout.flush()
os._exit(0)
"""

STOPPED = """
def wait(batches):
    time.sleep(30)
    yield from batches

told = {}
spark = start()
frame = spark.range(0, 100, 1, 2)
stopping = act_once_a_task_runs(spark, spark.stop)
told["stopped while it scans"] = judge(frame.mapInArrow(wait, frame.schema))
stopping.join()
told["stopped before"] = judge(frame)
told["reader of a stopped session"] = judge(lambda: spark.range(3))
spark = start()
spark.sparkContext.pythonVer = "3.9"
told["other python"] = judge(spark.range(0, 100, 1, 2))
spark.stop()
spark = start()
frame = spark.range(0, 100, 1, 2)
act_once_a_task_runs(spark, spark.sparkContext.cancelAllJobs)
told["cancelled"] = judge(frame.mapInArrow(wait, frame.schema))
spark.stop()
print(json.dumps(told))
"""

# What the data can make a message say. A worker that really lacks a module is found out by a job without data.
FAULTS_OF_DATA = """
from pyspark.sql.functions import udf

def claim(number):
    raise ValueError("x\\nModuleNotFoundError: No module named 'numpy'\\n[PYTHON_VERSION_MISMATCH] no")

def import_missing(number):
    import no_such_module
    return number

told = {}
spark = start()
frame = spark.range(0, 100, 1, 2)
told["claimed module"] = judge(frame.withColumn("text", udf(claim, "string")("id")))
for words in ("java.io.IOException: No space left on device", "ExecutorLostFailure (executor 1) Reason: code 137"):
    told[words] = judge(frame.selectExpr("id", f"CAST(concat('{words}', id) AS INT) AS number"))
told["module of a function"] = judge(frame.withColumn("text", udf(import_missing, "string")("id")))
print(json.dumps(told))
"""

EXECUTORS_LOST = """
signal_name = sys.argv[2]

def end_executor(batches):
    import os, signal
    process = os.getppid()
    while "java" not in open(f"/proc/{process}/comm").read():
        process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
    os.kill(process, getattr(signal, signal_name))
    time.sleep(30)
    yield from batches

spark = start("local-cluster[1,1,1024]", spark_executor_memory="1g", spark_task_maxFailures="2")
frame = spark.range(0, 100, 1, 1)
print(json.dumps(judge(frame.mapInArrow(end_executor, frame.schema))))
spark.stop()
"""


@pytest.fixture(scope="module")
def gone() -> dict[str, Any]:
    return run_program(SESSION_GONE)


@pytest.fixture(scope="module")
def stopped() -> dict[str, Any]:
    return run_program(STOPPED)


@pytest.fixture(scope="module")
def by_data() -> dict[str, Any]:
    return run_program(FAULTS_OF_DATA)


def test_the_session_that_is_lost_was_well(gone: dict[str, Any]) -> None:
    assert (gone["connect before"]["said"], gone["connect before"]["runs"]) == ("pass publish", 1)


@pytest.mark.parametrize(
    "case", ["connect server killed", "connect server gone", "driver gone", "reader without driver"]
)
def test_a_server_or_driver_that_is_gone_records_nothing(case: str, gone: dict[str, Any]) -> None:
    assert gone[case]["said"].startswith("EngineUnavailable: the Spark session has ended, or its server is gone (")
    assert gone[case]["runs"] == 0


@pytest.mark.parametrize("case", ["stopped while it scans", "stopped before", "reader of a stopped session"])
def test_a_session_that_was_stopped_records_nothing(case: str, stopped: dict[str, Any]) -> None:
    assert stopped[case]["said"].startswith("EngineUnavailable: the Spark session has ended, or its server is gone (")
    assert stopped[case]["runs"] == 0


def test_workers_of_another_python_version_record_nothing(stopped: dict[str, Any]) -> None:
    said = stopped["other python"]["said"]
    assert said.startswith("EngineUnavailable: the Python of Spark's workers cannot be used: ")
    assert "3.9" in said
    assert "PYSPARK_PYTHON" in said
    assert stopped["other python"]["runs"] == 0


def test_a_job_that_was_cancelled_records_nothing(stopped: dict[str, Any]) -> None:
    assert stopped["cancelled"]["said"].startswith("EngineUnavailable: the Spark job was cancelled (")
    assert stopped["cancelled"]["runs"] == 0


def test_no_text_of_the_data_passes_for_a_fault_of_the_environment(by_data: dict[str, Any]) -> None:
    by_data = {case: found for case, found in by_data.items() if case != "module of a function"}
    assert {case: (found["said"], found["runs"]) for case, found in by_data.items()} == dict.fromkeys(
        by_data, ("error hold", 1)
    )


def test_a_module_that_a_function_of_the_caller_lacks_is_named(by_data: dict[str, Any]) -> None:
    assert "cannot import no_such_module." in by_data["module of a function"]["said"]
    assert by_data["module of a function"]["runs"] == 0


@pytest.mark.slow
def test_executors_that_are_killed_again_and_again_record_nothing() -> None:
    found = run_program(EXECUTORS_LOST, "SIGKILL")
    assert found["said"].startswith("EngineUnavailable: executors were lost again and again (")
    assert "code 137" in found["said"]
    assert found["runs"] == 0


@pytest.mark.slow
def test_executors_that_crash_are_a_fault_of_the_batch() -> None:
    found = run_program(EXECUTORS_LOST, "SIGABRT")
    assert (found["said"], found["runs"]) == ("error hold", 1)
