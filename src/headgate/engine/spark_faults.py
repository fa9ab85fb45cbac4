"""Tells a fault of the environment from a fault of the batch, by what Spark says of it.

A fault of the environment (no session, no executor, no disk, no module) would meet every batch. It is raised as
`EngineUnavailable`: nothing is recorded. What is not in `FAULTS` and no fault of the workers is a fault of the batch.

A message may quote the data. So it is read only where Spark itself begins it, and what a Python worker says is never
believed: a job without data (`spark_workers`) says whether the workers lack a module.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.engine.spark_workers import NEEDED, WorkerPython, has_ended, inspect_workers, is_connect, read_report
from headgate.values.errors import EngineUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Fault(NamedTuple):
    """One fault of the environment: what is wrong, what to do, and how Spark 3.5 to 4.3 and Connect report it.

    `conditions` are Spark's error conditions, also with a subcondition; `statuses` those of gRPC. `said` are classes of
    exceptions, in Python or Java, each with a pattern for the beginning of its message, for what has no condition.
    """

    message: str
    hint: str
    conditions: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    fits_smaller_batches: bool = False


# Codes with which an executor ends for want of memory or disk, or because its cluster ends it. Other codes, such as 134
# and 139, are those of a crash, which the data may cause.
_EXIT_CODES = "52|53|56|137|143|-100|-102|-103|-104"
_NO_CODE = r"(?!.*\b(?:code|status)\b:? ?-?\d)"

SESSION_LOST = Fault(
    "the Spark session has ended, or its server is gone",
    "Start Spark again, and judge the batch again.",
    conditions=(
        "SESSION_OR_CONTEXT_NOT_EXISTS",
        "NO_ACTIVE_SESSION",
        "NO_ACTIVE_OR_DEFAULT_SESSION",
        "INVALID_HANDLE",
        "JAVA_GATEWAY_EXITED",
        "SPARK_CONNECT_ILLEGAL_STATE",
    ),
    statuses=("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"),
    said=(
        ("py4j.protocol.Py4JNetworkError", ""),
        ("org.apache.spark.SparkException", r"Job \S+ cancelled because SparkContext was shut down"),
        ("java.lang.IllegalStateException", r"(?:Cannot call methods on a stopped|SparkContext has been shut)"),
    ),
)
FAULTS = (
    SESSION_LOST,
    Fault(
        "the Spark job was cancelled",
        "Judge the batch again.",
        conditions=("SPARK_JOB_CANCELLED", "OPERATION_CANCELED"),
        said=(("org.apache.spark.SparkException", r"Job \S+ cancelled"),),
    ),
    Fault(
        "the cluster refuses this user",
        "Look at the token or the keytab of the session, and judge the batch again.",
        statuses=("UNAUTHENTICATED", "PERMISSION_DENIED"),
        said=(
            ("org.apache.hadoop.security.token.SecretManager$InvalidToken", ""),
            ("javax.security.sasl.SaslException", ""),
            ("org.apache.hadoop.yarn.exceptions.YarnException", ""),
            ("io.fabric8.kubernetes.client.KubernetesClientException", ""),
        ),
    ),
    Fault(
        "Spark cannot reach the files, or may not read them",
        "Check the address, the network, and the credentials of the session (spark.hadoop.fs.s3a.*).",
        said=(
            ("java.net.ConnectException", ""),
            ("java.net.NoRouteToHostException", ""),
            ("java.net.SocketTimeoutException", ""),
            ("java.net.UnknownHostException", ""),
            ("java.nio.file.AccessDeniedException", r"[a-z0-9]+://"),
            ("org.apache.hadoop.fs.s3a.AWSClientIOException", ""),
            ("org.apache.hadoop.fs.s3a.AWSServiceThrottledException", ""),
            ("org.apache.hadoop.fs.s3a.AWSStatus500Exception", ""),
            ("org.apache.hadoop.net.ConnectTimeoutException", ""),
        ),
    ),
    Fault(
        "Spark lacks the jars of this file system",
        "For s3a://, set spark.jars.packages to org.apache.hadoop:hadoop-aws:3.4.2, in the version of Spark's Hadoop.",
        said=(
            ("java.lang.RuntimeException", r"java\.lang\.ClassNotFoundException: Class org\.apache\.hadoop\.fs\."),
            ("org.apache.hadoop.fs.UnsupportedFileSystemException", "No FileSystem for scheme"),
        ),
    ),
    Fault(
        "executors were lost again and again",
        "Give them more memory (spark.executor.memory, spark.executor.memoryOverhead), or look at the cluster's log.",
        said=(
            ("ExecutorLostFailure", rf".*\b(?:code|status)\b:? ?(?:{_EXIT_CODES})\b"),
            ("ExecutorLostFailure", _NO_CODE),
            ("org.apache.spark.SparkException", r"Job aborted[^\n]* has failed the maximum allowable number of times"),
        ),
        fits_smaller_batches=True,
    ),
    Fault(
        "Spark has no disk space left",
        "Make room in spark.local.dir of the executors, or name another folder there.",
        said=(
            ("java.io.IOException", r"(?:No space left on device|Disk quota exceeded)"),
            ("java.io.FileNotFoundException", r"[^\n]+ \(No space left on device\)\n"),
        ),
    ),
    Fault(
        "the Python of Spark's workers cannot be started",
        "Set PYSPARK_PYTHON, or spark.pyspark.python of spark-submit, to a Python that every executor has.",
        said=(
            ("java.io.IOException", r'Cannot run program "'),
            ("org.apache.spark.SparkException", r"Error from python worker:"),
        ),
    ),
    Fault(
        "a package that Spark needs is missing here, or too old",
        "pip install 'headgate[spark]', or 'headgate[connect]' for a remote server.",
        conditions=("PACKAGE_NOT_INSTALLED", "UNSUPPORTED_PACKAGE_VERSION"),
    ),
)

_CLASSIC_HINT = (
    "Install headgate for it; or set PYSPARK_PYTHON, or spark.pyspark.python of spark-submit, to a Python that has it; "
    "or send an environment along with --archives."
)
_CONNECT_HINT = (
    "Install headgate for it on the server; or send an environment along: "
    'spark.addArtifact("env.tar.gz#env", archive=True), and spark.sql.execution.pyspark.python=env/bin/python.'
)
_MISSING = re.compile(r"No module named '([\w.]+)'")
_PYTHON_TROUBLE = re.compile(r"^(?:\w+\.)*(?:ModuleNotFoundError|ImportError)\b|PYTHON_VERSION_MISMATCH", re.MULTILINE)
_MISMATCH = re.compile(r"\[PYTHON_VERSION_MISMATCH\] ([^\n]+)")
_JAVA_CALL = re.compile(r"\s*An error occurred while calling \S+\n: ")
_JAVA_CLASS = re.compile(r"\(?((?:[a-z]\w*\.)+[A-Z][\w$]*)\)?:? ?")  # in brackets on Connect 3.5
_CONDITION = re.compile(r"\s*\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\] ?")
_TASK = re.compile(r"Job aborted due to stage failure: [^\n]*?\(TID \d+\) \([^)\n]*\): ([\w.$]+)(?:: )?")
_PYTHON_ERROR = re.compile(r"^Traceback .*\n(?:[ \t].*\n)+(\S.*)$", re.MULTILINE)


class _Report(NamedTuple):
    """What an exception says of itself: the condition and the status if it has them, its class, and its message."""

    condition: str
    status: str
    kind: str
    words: str


def find_fault(error: BaseException) -> EngineUnavailable | None:
    """The fault of the environment that an exception reports; None if it may be one of the batch."""
    if isinstance(error, EngineUnavailable):
        return error
    fault, evidence = _recognise(error)
    return None if fault is None else EngineUnavailable(f"{fault.message} ({evidence}).", hint=fault.hint)


def raise_fault(error: Exception, spark: SparkSession | None = None) -> None:
    """Raise `EngineUnavailable` if the exception reports a fault of the environment.

    With a session, its workers are checked if one of them says that it lacks a module.
    """
    fault = find_fault(error)
    if fault is error:
        raise error
    if fault is not None:
        raise fault from error
    worker = None if spark is None else read_report(error)
    if spark is not None and worker is not None:
        raise EngineUnavailable(describe_missing(worker), hint=_choose_hint(spark)) from error
    if spark is not None and type(error).__name__ == "PythonException" and _PYTHON_TROUBLE.search(str(error)):
        check_workers(spark, missing_module(error))


@contextmanager
def raise_faults() -> Iterator[None]:
    """Raise `EngineUnavailable` for a fault of the environment inside the block; other exceptions pass."""
    try:
        yield
    except Exception as error:
        raise_fault(error)
        raise


def check_workers(spark: SparkSession, module: str = "") -> list[WorkerPython]:
    """The Pythons of the workers, by a job that reads no data. Raises `EngineUnavailable` if they cannot run a scan.

    With a module, they must have that one too.
    """
    hint = _choose_hint(spark)
    try:
        workers = inspect_workers(spark, (*NEEDED, module) if module else NEEDED)
    except Exception as error:
        raise_fault(error)
        if has_ended(spark):  # a task of a session that is being stopped fails in any way
            raise EngineUnavailable(f"{SESSION_LOST.message} ({type(error).__name__}).", SESSION_LOST.hint) from error
        mismatch = _MISMATCH.search(str(error))
        why = mismatch[1] if mismatch else f"a task without data fails too: {summarize_error(error)}"
        raise EngineUnavailable(f"the Python of Spark's workers cannot be used: {why}", hint=hint) from error
    if workers[0].missing:
        raise EngineUnavailable(describe_missing(workers[0]), hint=hint)
    return workers


def _choose_hint(spark: SparkSession) -> str:
    return _CONNECT_HINT if is_connect(spark) else _CLASSIC_HINT


def describe_missing(worker: WorkerPython) -> str:
    """Which modules a worker lacks.

    >>> describe_missing(WorkerPython("/usr/bin/python3", "3.11.2", ("numpy", "pyarrow")))
    "the Python of Spark's workers (/usr/bin/python3, Python 3.11.2) cannot import numpy, pyarrow."
    """
    return f"the Python of Spark's workers ({worker}) cannot import {', '.join(worker.missing)}."


def fits_smaller_batches(error: Exception) -> bool:
    """Whether the job may pass with smaller Arrow batches, though its fault is one of the environment."""
    fault, _ = _recognise(error)
    return fault is not None and fault.fits_smaller_batches


def is_session_lost(error: Exception) -> bool:
    fault, _ = _recognise(error)
    return fault is SESSION_LOST


def missing_module(error: Exception) -> str:
    """The module that a worker could not import; empty if the error is another one."""
    match = _MISSING.search(str(error))
    return match.group(1) if match else ""


def summarize_error(error: BaseException) -> str:
    """The error in one line; for an error in a Python worker or in Java, the line that names it."""
    text = _JAVA_CALL.sub("", str(error).strip())
    lines = _PYTHON_ERROR.findall(text)[-1:] or text.splitlines()[:1] or [type(error).__name__]
    return str(lines[0])[:500]


def _recognise(error: BaseException) -> tuple[Fault | None, str]:
    """The fault that an exception, or one that pyspark made it from, reports; and what it is recognised by."""
    for each in (error, error.__cause__, error.__context__):
        if each is not None and _is_session_gone(each):
            return SESSION_LOST, f"{type(each).__name__}: {summarize_error(each)}"
        if each is not None and _is_of_spark(each):
            report = _read_report(each)
            for fault in FAULTS:
                if evidence := _find_evidence(fault, report):
                    return fault, evidence
    return None, ""


def _find_evidence(fault: Fault, report: _Report) -> str:
    if report.condition:
        known = any(report.condition == name or report.condition.startswith(f"{name}.") for name in fault.conditions)
        return report.condition if known else ""
    if report.status in fault.statuses:
        return f"gRPC status {report.status}"
    said = any(kind == report.kind and re.match(start, report.words) for kind, start in fault.said)
    return (report.words or report.kind).splitlines()[0][:200].rstrip(".") if said else ""


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc")


def _is_session_gone(error: BaseException) -> bool:
    """Whether pyspark itself stumbled over a JVM that is gone or a context that was stopped: it has no error for it."""
    module = _raising_module(error)
    if module.startswith("py4j.") and isinstance(error, ConnectionError | EOFError):
        return True
    pyspark = sys.modules.get("pyspark")
    if pyspark is None or not module.startswith("pyspark.") or module.startswith("pyspark.sql.connect"):
        return False
    return isinstance(error, AttributeError | RuntimeError) and pyspark.SparkContext._active_spark_context is None


def _raising_module(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))


def _read_report(error: BaseException) -> _Report:
    kind, words = f"{type(error).__module__}.{type(error).__qualname__}", _JAVA_CALL.sub("", str(error))
    condition = _condition_of(error)
    if java := _JAVA_CLASS.match(words):
        kind, words = java[1], words[java.end() :]
    if kind.rpartition(".")[2] == "SparkException":
        kind = "org.apache.spark.SparkException"  # as pyspark's own class of that name
    if task := _TASK.match(words):
        kind, words = task[1], words[task.end() :]
    if named := _CONDITION.match(words):
        condition, words = condition or named[1], words[named.end() :]
    return _Report(condition, _status_of(error), kind, words.lstrip())


def _condition_of(error: Any) -> str:
    for name in ("getCondition", "getErrorClass"):  # the second before 4.0
        if hasattr(error, name):
            return getattr(error, name)() or ""
    return ""


def _status_of(error: Any) -> str:
    """The gRPC status; before 4.1 only the exception behind that of Connect has it."""
    for name in ("getGrpcStatusCode", "code"):
        if hasattr(error, name):
            return str(getattr(getattr(error, name)(), "name", ""))
    return ""
