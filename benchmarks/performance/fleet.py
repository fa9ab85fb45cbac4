"""A plan for many tables: what each step costs a day, from what was measured of one table or of some."""

from __future__ import annotations

from dataclasses import dataclass

HOUR = 3600
GIGABYTE = 1e9


@dataclass(frozen=True)
class TableClass:
    """Tables of about one size, with one batch a day each."""

    title: str
    tables: int
    rows: int
    columns: int

    @property
    def cells(self) -> int:
        """Of one batch."""
        return self.rows * self.columns


@dataclass(frozen=True)
class Fleet:
    """All tables of a platform, and how many metric values they have a day."""

    classes: tuple[TableClass, ...]
    values: int

    @property
    def tables(self) -> int:
        return sum(each.tables for each in self.classes)

    @property
    def values_of_a_run(self) -> float:
        return self.values / self.tables


@dataclass(frozen=True)
class Measured:
    """What was measured of one table.

    Args:
        local_ns: Nanoseconds of CPU a cell, for batches that a process judges without Spark.
        spark_ns: The same for files that tasks of Spark read.
        spark_fixed: CPU seconds of a scan on Spark of hardly any rows.
        judge_cpu: CPU seconds to learn and judge beside the scan, for `judge_columns`.
        judge_columns: See there.
        value_bytes: Bytes of a metric value in PostgreSQL.
        state_bytes: Bytes of a run with states in PostgreSQL, by value of it.
        commits: Runs without states that four writers commit in a second, each of 6,000 values.
        state_commits: Runs with 241 states that one writer commits in a second.
        read_ms: Milliseconds of the gate's read of 90 runs of one dataset among others, 95th percentile.
        datasets: How many datasets were in the database then.
    """

    local_ns: float
    spark_ns: float
    spark_fixed: float
    judge_cpu: float
    judge_columns: int
    value_bytes: float
    state_bytes: float
    commits: float
    state_commits: float
    read_ms: float
    datasets: int


SMALL = 1_000_000  # cells; a process judges a batch with fewer, without Spark


def scan_core_hours(fleet_class: TableClass, measured: Measured) -> float:
    """Core hours of the scans of a class in a day."""
    if fleet_class.cells <= SMALL:
        cpu = fleet_class.cells * measured.local_ns / 1e9
    else:
        cpu = measured.spark_fixed + fleet_class.cells * measured.spark_ns / 1e9
    return fleet_class.tables * cpu / HOUR


def judge_core_hours(fleet_class: TableClass, measured: Measured) -> float:
    """Core hours of learning and judging in a day; they grow with the columns."""
    return fleet_class.tables * measured.judge_cpu * fleet_class.columns / measured.judge_columns / HOUR


def commit_hours(fleet: Fleet, a_second: float) -> float:
    """Hours that the commits of a day take at so many a second."""
    return fleet.tables / a_second / HOUR


def gigabytes_a_day(fleet: Fleet, bytes_a_value: float) -> float:
    return fleet.values * bytes_a_value / GIGABYTE
