"""Faults of the environment and of the batch, told apart by their texts.

Texts of lost executors, full disks, missing interpreters, object stores and stopped contexts are as Spark 3.5 or 4.3
said them.
The texts of YARN, Kubernetes, Hadoop tokens, heartbeats, cancelled jobs and Connect 3.5 are written by hand.
"""

from __future__ import annotations

import enum
from typing import Any

import pytest

from headgate.engine.spark_faults import find_fault, fits_smaller_batches, is_session_lost, raise_faults
from headgate.values.errors import EngineUnavailable

CALL = "An error occurred while calling o50.collectToPython.\n: "
TASK = (
    "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
    "Lost task 0.3 in stage 0.0 (TID 3) (127.0.0.1 executor 3): "
)
STACK = "\n\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:4568)\n"
LOST = "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: "


class Status(enum.Enum):
    INTERNAL = 1
    UNAVAILABLE = 2
    UNAUTHENTICATED = 3
    CANCELLED = 4


def make_error(name: str, text: str, condition: str | None = None, status: Status | None = None) -> Exception:
    """An exception of a class of this full name, with the methods that pyspark's have."""
    module, _, plain = name.rpartition(".")
    methods: dict[str, Any] = {"__module__": module}
    if module.startswith("pyspark"):
        methods["getErrorClass"] = lambda self: condition
    if status is not None:
        methods["getGrpcStatusCode" if module.startswith("pyspark") else "code"] = lambda self: status
    made: Exception = type(plain, (Exception,), methods)(text)
    return made


def from_java(text: str) -> Exception:
    return make_error("py4j.protocol.Py4JJavaError", f"{CALL}org.apache.spark.SparkException: {text}{STACK}")


def from_connect(text: str, status: Status = Status.INTERNAL, condition: str | None = None) -> Exception:
    return make_error("pyspark.errors.exceptions.connect.SparkException", text + STACK, condition, status)


def from_old_connect(text: str) -> Exception:
    name = "pyspark.errors.exceptions.connect.SparkConnectGrpcException"
    return make_error(name, f"(org.apache.spark.SparkException) {text}{STACK}")


@pytest.mark.parametrize("make", [from_java, from_connect, from_old_connect])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Job 0 cancelled because SparkContext was shut down", "the Spark session has ended"),
        ("[SPARK_JOB_CANCELLED] Job 7 cancelled part of group x", "the Spark job was cancelled (SPARK_JOB_CANCELLED)"),
        ("Job 7 cancelled as part of cancellation of all jobs", "the Spark job was cancelled (Job 7 cancelled"),
        (f"{TASK}{LOST}Command exited with code 137", "executors were lost again and again"),
        (f"{TASK}{LOST}Command exited with code 52", "executors were lost again and again"),
        (f"{TASK}{LOST}Container from a bad node: c1. Exit status: 143. Diagnostics: x", "executors were lost"),
        (f"{TASK}{LOST}The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM)", "executors"),
        (f"{TASK}{LOST}Executor heartbeat timed out after 125000 ms", "executors were lost again and again"),
        (f"{TASK}java.io.IOException: No space left on device", "Spark has no disk space left (No space left"),
        (f"{TASK}java.io.FileNotFoundException: /tmp/temp_shuffle_1 (No space left on device)", "no disk space left"),
        (f'{TASK}java.io.IOException: Cannot run program "/nowhere/python3": error=2', "cannot be started (Cannot run"),
        (f"{TASK}org.apache.spark.SparkException: \nError from python worker:\n  Traceback", "cannot be started"),
        (f"{TASK}org.apache.hadoop.security.token.SecretManager$InvalidToken: token expired", "refuses this user"),
        (f"{TASK}java.net.ConnectException: getFileStatus on s3a://lake/x: refused", "cannot reach the files"),
        (f"{TASK}org.apache.hadoop.fs.s3a.AWSClientIOException: open s3a://lake/x: broken", "cannot reach the files"),
    ],
)
def test_what_spark_says_of_its_environment_is_recognised(make: Any, text: str, message: str) -> None:
    fault = find_fault(make(text))
    assert isinstance(fault, EngineUnavailable)
    assert message in str(fault)
    assert "\n" not in str(fault)
    assert fault.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("java.net.ConnectException: getFileStatus on s3a://lake/x: Connection refused", "cannot reach the files"),
        ("java.nio.file.AccessDeniedException: s3a://lake/x: NoAwsCredentialsException", "cannot reach the files"),
        (
            "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3A missing",
            "lacks the jars",
        ),
    ],
)
def test_what_hadoop_says_of_an_object_store_is_recognised(text: str, message: str) -> None:
    fault = find_fault(make_error("py4j.protocol.Py4JJavaError", f"{CALL}{text}{STACK}"))
    assert isinstance(fault, EngineUnavailable)
    assert message in str(fault)


def test_a_file_of_this_machine_that_may_not_be_read_is_a_fault_of_the_batch() -> None:
    text = "java.nio.file.AccessDeniedException: /lake/x"
    assert find_fault(make_error("py4j.protocol.Py4JJavaError", f"{CALL}{text}{STACK}")) is None


@pytest.mark.parametrize(
    "condition",
    ["SESSION_OR_CONTEXT_NOT_EXISTS", "NO_ACTIVE_SESSION", "INVALID_HANDLE.SESSION_CLOSED", "OPERATION_CANCELED"],
)
def test_a_condition_is_recognised_however_it_is_given(condition: str) -> None:
    name = "pyspark.errors.exceptions.connect.SparkConnectGrpcException"
    for error in (make_error(name, "words", condition), make_error(name, f"[{condition}] words")):
        assert f"({condition})" in str(find_fault(error))


@pytest.mark.parametrize(
    ("status", "message"),
    [(Status.UNAVAILABLE, "its server is gone"), (Status.CANCELLED, "is gone"), (Status.UNAUTHENTICATED, "refuses")],
)
def test_a_status_of_grpc_is_recognised_also_behind_the_error_of_connect(status: Status, message: str) -> None:
    name = "pyspark.errors.exceptions.connect.SparkConnectGrpcException"
    assert message in str(find_fault(make_error(name, "words", status=status)))
    old = make_error(name, "words")
    old.__context__ = make_error("grpc._channel._MultiThreadedRendezvous", "words", status=status)
    assert f"{message}" in str(find_fault(old))


@pytest.mark.parametrize("make", [from_java, from_connect, from_old_connect])
@pytest.mark.parametrize(
    "text",
    [
        f"{TASK}{LOST}Command exited with code 134",
        f"{TASK}{LOST}Command exited with code 139",
        f"{TASK}org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
        f"{TASK}java.io.FileNotFoundException: File file:/lake/part-0.parquet does not exist",
        f"{TASK}org.apache.hadoop.security.AccessControlException: Permission denied: user=ann",
        f"{TASK}org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value "
        "'java.io.IOException: No space left on device' of the type STRING cannot be cast",
        "[CAST_INVALID_INPUT] The value 'Job 0 cancelled because SparkContext was shut down' cannot be cast",
        f"{TASK}java.lang.RuntimeException: {TASK}java.io.IOException: No space left on device",
        "[PATH_NOT_FOUND] Path does not exist: file:/lake/No space left on device",
    ],
)
def test_a_fault_of_the_batch_is_none_of_the_environment(make: Any, text: str) -> None:
    assert find_fault(make(text)) is None


def test_errors_of_other_libraries_are_none_of_spark() -> None:
    assert find_fault(OSError(28, "No space left on device")) is None
    assert find_fault(ConnectionRefusedError(111, "Connection refused")) is None
    assert find_fault(AttributeError("'NoneType' object has no attribute 'sc'")) is None


def test_only_lost_executors_are_tried_again_with_smaller_batches() -> None:
    assert fits_smaller_batches(from_java(f"{TASK}{LOST}Command exited with code 137"))
    assert not fits_smaller_batches(from_java(f"{TASK}java.io.IOException: No space left on device"))
    assert not fits_smaller_batches(ValueError("x"))


def test_a_session_is_lost_only_where_spark_says_so() -> None:
    assert is_session_lost(from_connect("words", Status.UNAVAILABLE))
    assert not is_session_lost(from_connect(f"{TASK}{LOST}Command exited with code 137"))


def test_other_exceptions_pass_and_faults_keep_their_cause() -> None:
    with pytest.raises(ValueError, match="mine"), raise_faults():
        raise ValueError("mine")
    with pytest.raises(EngineUnavailable) as caught, raise_faults():
        raise from_connect("words", Status.UNAVAILABLE)
    assert type(caught.value.__cause__).__name__ == "SparkException"
    with pytest.raises(EngineUnavailable, match="mine"), raise_faults():
        raise EngineUnavailable("mine")
