"""What a scan does with a Spark session: a look at the plan, a job description, and progress."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headgate.engine.progress import Progress
from headgate.engine.spark_settings import apply_description
from headgate.engine.spark_workers import is_connect

Report = Callable[[Progress], None]

_POLL_SECONDS = 0.2


_SHUFFLING = re.compile(
    r"^[\s:+|-]*'?(?:Aggregate|Join|LateralJoin|AsOfJoin|Window|Distinct|Deduplicate\w*|Intersect|Except|GlobalLimit|"
    r"RepartitionByExpression|RebalancePartitions|(?:Map|FlatMap|CoGroup|FlatMapCo|Aggregate)\w*Groups\w*|"
    r"Repartition \d+, true|Sort \[.*\], true)\b",
    re.MULTILINE,
)
"""Operators of an analyzed query that Spark runs with a shuffle, as they are printed."""


def has_shuffle(data: DataFrame) -> bool:
    """Whether the caller's own query has a shuffle, for which adaptive execution is worth its extra jobs."""
    if not is_connect(data.sparkSession):
        # the analyzed query, since Delta runs jobs of its own when a query is planned
        return _SHUFFLING.search(data._jdf.queryExecution().analyzed().toString()) is not None
    # planning may fail because of a column that the scan does not read
    with contextlib.suppress(PySparkException):
        return "Exchange" in data._explain_string()  # type: ignore[operator]
    return False


@contextlib.contextmanager
def describe_jobs(spark: SparkSession, text: str) -> Iterator[None]:
    """Show the text in Spark's UI as the description of the jobs of this thread; on Connect, of this session."""
    if is_connect(spark):
        # Connect has no local properties, but the settings of a session apply to its jobs
        with apply_description(spark, text):
            yield
        return
    context = spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setLocalProperty("spark.job.description", text)
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)  # type: ignore[arg-type]


@contextlib.contextmanager
def report_progress(spark: SparkSession, report: Report | None) -> Iterator[None]:
    """Report finished and known tasks while the scan runs."""
    if report is None:
        yield
    elif is_connect(spark):
        with _report_by_handler(spark, _ignore_errors(report)):
            yield
    else:
        with _report_by_polling(spark, _ignore_errors(report)):
            yield


def _ignore_errors(report: Report) -> Report:
    """The caller's function, with its errors suppressed, so that they cannot break the scan."""

    def report_quietly(progress: Progress) -> None:
        with contextlib.suppress(Exception):
            report(progress)

    return report_quietly


def _sum_progress(stages: Sequence[tuple[int, int]], read: int | None = None) -> Progress:
    """The progress over all stages, given the finished and known tasks of each; the first unfinished one is running."""
    finished = sum(done >= known for done, known in stages)
    stage = f"stage {min(finished + 1, len(stages))} of {len(stages)}"
    return Progress(sum(done for done, _ in stages), sum(known for _, known in stages), bytes=read, stage=stage)


@contextlib.contextmanager
def _report_by_handler(spark: SparkSession, report: Report) -> Iterator[None]:
    if not hasattr(spark, "registerProgressHandler"):  # Connect before 4.0 does not report its tasks
        yield
        return

    def handle_stages(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        if stages:
            counts = [(each.num_completed_tasks, each.num_tasks) for each in stages]
            report(_sum_progress(counts, sum(each.num_bytes_read for each in stages)))

    spark.registerProgressHandler(handle_stages)  # type: ignore[arg-type]
    try:
        yield
    finally:
        spark.removeProgressHandler(handle_stages)  # type: ignore[arg-type]


@contextlib.contextmanager
def _report_by_polling(spark: SparkSession, report: Report) -> Iterator[None]:
    """Poll the status tracker for the jobs in this thread's job group; one is set if the caller has none."""
    context = spark.sparkContext
    caller_group = context.getLocalProperty("spark.jobGroup.id")
    group = caller_group or f"headgate-{threading.get_ident()}"
    tracker = context.statusTracker()
    earlier = set(tracker.getJobIdsForGroup(group))
    context.setLocalProperty("spark.jobGroup.id", group)
    finished = threading.Event()

    def report_stages() -> None:
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group) if job not in earlier]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage]
        if known:
            report(_sum_progress([(stage.numCompletedTasks, stage.numTasks) for stage in known]))

    def poll() -> None:
        while not finished.wait(_POLL_SECONDS):
            with contextlib.suppress(Exception):  # a session that is gone is reported by the scan itself
                report_stages()

    watcher = threading.Thread(target=poll, daemon=True, name="headgate-progress")
    watcher.start()
    try:
        yield
        report_stages()
    finally:
        finished.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", caller_group)  # type: ignore[arg-type]
