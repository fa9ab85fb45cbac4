"""The jobs that Spark starts, of any session of its JVM."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Jobs = list[str]


@contextmanager
def count_jobs(spark: SparkSession) -> Iterator[Jobs]:
    """`with count_jobs(spark) as started: ...` leaves in the list the description of each job that started inside."""
    context = spark.sparkContext._jsc.sc()

    def listed() -> dict[int, str]:
        context.listenerBus().waitUntilEmpty()
        found = context.statusStore().jobsList(None)
        every = [found.apply(at) for at in range(found.size())]
        return {job.jobId(): job.description().get() if job.description().isDefined() else "" for job in every}

    started: Jobs = []
    before = set(listed())
    try:
        yield started
    finally:
        started.extend(text for job, text in sorted(listed().items()) if job not in before)
