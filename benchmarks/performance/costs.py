"""What a terabyte costs at a price of a core and hour, from the results of the engine's benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TERABYTE = 1e12
HOUR = 3600
LEAST_CELLS = 2_000_000


@dataclass(frozen=True)
class ScanCost:
    """What the default metrics of one kind of table cost, and Spark's plain scan of it."""

    table: str
    rows: int
    columns: int
    parquet_bytes: float
    scan_cpu: float
    files_cpu: float

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def core_hours_a_terabyte(self, cpu: float) -> float:
        """Core hours for a terabyte of Parquet files, from the CPU seconds of this table."""
        return cpu / HOUR * TERABYTE / self.parquet_bytes

    def nanoseconds_a_cell(self, cpu: float) -> float:
        return cpu / self.cells * 1e9


def list_scan_costs(engine: dict[str, Any]) -> Iterator[ScanCost]:
    """One for each table that the engine was measured on, but for those so small that the job is all they cost."""
    for name, each in engine.items():
        if "cpu_ratios" in each and each["rows"] * each["columns"] >= LEAST_CELLS:
            medians = each["medians"]
            yield ScanCost(
                name,
                each["rows"],
                each["columns"],
                each["parquet_mb"] * 1e6,
                medians["scan"]["cpu"],
                medians["files read by tasks"]["cpu"],
            )
