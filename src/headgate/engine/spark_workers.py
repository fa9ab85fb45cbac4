"""The Python of Spark's workers: a tiny job tells which one it is, and which modules it cannot import."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("datasketches", "msgspec", "numpy", "pyarrow")
"""What a scan imports on a worker. The package itself is not among them: it is sent along."""

_TASKS = 8  # so that most executors of a cluster answer


class WorkerPython(NamedTuple):
    """One Python that runs tasks."""

    executable: str
    version: str
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.executable}, Python {self.version}"


_SPARK_ARCHIVE = re.compile(r"[/\\](?:pyspark\.zip|py4j-[\w.-]+\.zip|spark-core_[\w.-]+\.jar)(?:$|[/\\])")
_PACKAGE = __name__.partition(".")[0]
_REPORT = re.compile(r"No module named '[\w.]+' \((\S.*), Python (\S+), cannot import ([\w., ]+)\)")


def is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def has_ended(spark: SparkSession) -> bool:
    """Whether a session was stopped, or is being stopped."""
    try:
        if is_connect(spark):
            return bool(spark.is_stopped)  # type: ignore[attr-defined]
        context = spark.sparkContext._jsc
        return context is None or bool(context.sc().isStopped())
    except Exception:  # its JVM or its server is gone
        return True


def inspect_workers(spark: SparkSession, modules: Iterable[str] = NEEDED) -> list[WorkerPython]:
    """The Pythons that run tasks of this session, those that lack modules first. The job reads no data."""
    inspect = make_inspection(sorted(set(modules)))
    if is_connect(spark):
        from pyspark.sql.connect.functions import udf

        asked: Any = udf(inspect, "string", useArrow=False)  # pyarrow may be what is missing
        answers = [row[0] for row in spark.range(0, _TASKS, 1, _TASKS).select(asked("id")).collect()]
    else:
        answers = spark.sparkContext.parallelize(range(_TASKS), _TASKS).map(inspect).collect()
    lines = [answer.split("\n") for answer in set(answers)]
    found = [WorkerPython(executable, version, tuple(missing)) for executable, version, *missing in lines]
    return sorted(found, key=lambda worker: (-len(worker.missing), worker))


def make_inspection(modules: Sequence[str]) -> Callable[[Any], str]:
    """The function that runs in a worker. A function inside a function is sent by value: workers may lack headgate."""

    def inspect(_: Any) -> str:
        import importlib
        import platform
        import sys

        missing = []
        for name in modules:
            try:
                importlib.import_module(name)
            except Exception:  # a module that is there and fails on import is of no more use
                missing.append(name)
        return "\n".join([sys.executable or "python", platform.python_version(), *missing])

    return inspect


def import_first(task: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """A task that says all that its worker lacks, this package among it, before the worker unpacks it.

    So one failed job tells what one job can tell.
    """
    parts = (_ImportCheck(), task)  # unpacked in this order

    def run(batches: Any) -> Iterator[Any]:
        from headgate.engine.spark_workers import release_archives

        try:
            yield from parts[1](batches)
        finally:
            release_archives()

    return run


def release_archives() -> None:
    """Let the next task of this worker start without listing the archives of Spark on Python's path again.

    Spark before 4.3 empties the caches of Python's import system before every task. Python before 3.13 then lists each
    archive anew, once for every package that came from it: a quarter of a second. Importers that are not in the cache
    are not asked to. Whoever imports from these archives again gets new ones, which use the list that was read first;
    these archives do not change while a worker lives.
    """
    for path in [path for path in sys.path_importer_cache if _SPARK_ARCHIVE.search(path)]:
        sys.path_importer_cache.pop(path, None)


class _ImportCheck:
    """Imports what a scan needs, when a worker unpacks it."""

    def __reduce__(self) -> tuple[Callable[[Sequence[str]], None], tuple[Sequence[str]]]:
        def import_all(modules: Sequence[str]) -> None:
            import importlib
            import platform
            import sys

            missing, cause = [], None
            for name in modules:
                try:
                    importlib.import_module(name)
                except Exception as error:
                    missing.append(name)
                    cause = cause or error
            if missing:
                python = f"{sys.executable or 'python'}, Python {platform.python_version()}"
                raise ModuleNotFoundError(
                    f"No module named '{missing[0]}' ({python}, cannot import {', '.join(missing)})"
                ) from cause

        return import_all, ((*NEEDED, _PACKAGE),)


def read_report(error: Exception) -> WorkerPython | None:
    """The worker that said what it lacks; None if none did, or if all that it lacks is this package."""
    found = _REPORT.search(str(error))
    if found is None:
        return None
    missing = tuple(name for name in found[3].split(", ") if name in NEEDED)
    return WorkerPython(found[1], found[2], missing) if missing else None
