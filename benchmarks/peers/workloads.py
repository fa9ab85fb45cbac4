"""Which work is measured on which table: the cells of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.peers import checks
from benchmarks.peers.tables import PARTITIONS, Table, flights_table, format_rows, mixed_table, partitioned_table

MakeChecks = Callable[[int], list[checks.Check]]


@dataclass(frozen=True)
class Workload:
    """One thing to do, as the scripts know it (`name`), and what it asks."""

    key: str
    name: str
    sentence: str
    checks: MakeChecks | None = None


STATES = Workload(
    "states",
    "states",
    "Headgate turns every column into its default states; Spark alone reads the table into its noop sink: the scan.",
)
CHECKS_20 = Workload("checks-20", "checks", "20 checks on 10 columns.", checks.checks_20)
CHECKS_63 = Workload("checks-63", "checks", "63 checks on 25 columns.", checks.checks_63)
CHECKS_200 = Workload("checks-200", "checks", "200 checks on 200 columns.", checks.checks_200)
CHECKS_FLIGHTS = Workload("checks-20", "checks", "20 checks on 10 columns.", checks.checks_of_flights)
PROFILE = Workload("profile", "profile", "A profile of every column.")
SUGGESTIONS = Workload("suggestions", "suggestions", "Constraints are suggested for every column.")
UNIQUE = Workload("unique-10", "checks", "Exact uniqueness of 10 columns.", checks.checks_unique)
APPEND = Workload(
    "append",
    "append",
    "A new part comes to 13 whose states are kept; 61 metrics of the whole are wanted.",
    checks.checks_of_states,
)
REPLACE = Workload(
    "replace",
    "replace",
    "One of 14 parts whose states are kept is delivered anew; 61 metrics of the whole are wanted.",
    checks.checks_of_states,
)
FAILING_ROWS = Workload(
    "failing-rows",
    "failing_rows",
    "The rows that break at least one of 7 rules, with all their columns.",
    lambda _: checks.checks_of_rows(),
)


@dataclass(frozen=True)
class Cell:
    """One workload on one table."""

    workload: Workload
    table: Table
    is_for_all: bool = True  # or only for Spark alone and Deequ

    @property
    def key(self) -> str:
        return f"{self.workload.key} on {self.table.name}"

    @property
    def checks(self) -> list[checks.Check]:
        return self.workload.checks(self.table.rows) if self.workload.checks else []

    def request(self) -> dict[str, Any]:
        return {
            "do": "prepare",
            "workload": self.workload.name,
            "paths": list(self.table.paths),
            "partitions": list(self.table.partitions),
            "rows": self.table.rows,
            "checks": self.checks,
        }


def list_cells(quick: bool, wanted: str = "") -> Iterator[Cell]:
    """The cells whose key has `wanted` in it; a table is made when its first cell is."""
    for name, make, for_all, for_few in _matrix(quick):
        chosen = [workload for workload in (*for_all, *for_few) if wanted in f"{workload.key} on {name}"]
        if chosen:
            table = make()
            yield from (Cell(workload, table, workload in for_all) for workload in chosen)


def _matrix(quick: bool) -> Iterator[tuple[str, Callable[[], Table], tuple[Workload, ...], tuple[Workload, ...]]]:
    """Tables with the workloads for all systems, and those for Spark alone and Deequ only.

    A profile of Deequ, and anything of most other systems, takes minutes on the large tables.
    """
    small, usual, large = (2_000, 4_000, 8_000) if quick else (100_000, 1_000_000, 5_000_000)
    wide, widest = (2_000, 1_000) if quick else (500_000, 100_000)
    days = usual // PARTITIONS
    on_small = (CHECKS_20, CHECKS_63, UNIQUE, FAILING_ROWS, PROFILE, SUGGESTIONS)
    on_usual = (STATES, CHECKS_63, UNIQUE, FAILING_ROWS, PROFILE)
    yield f"{format_rows(small)} x 40", lambda: mixed_table(small, 40), on_small, ()
    flown = 4_000 if quick else None
    yield "flights", lambda: flights_table(flown), (CHECKS_FLIGHTS, PROFILE, SUGGESTIONS), ()
    yield f"{format_rows(usual)} x 40", lambda: mixed_table(usual, 40), (CHECKS_20,), on_usual
    yield f"{PARTITIONS} parts of {format_rows(days)} x 40", lambda: partitioned_table(days, 40), (), (APPEND, REPLACE)
    yield f"{format_rows(wide)} x 200", lambda: mixed_table(wide, 200), (), (STATES, CHECKS_200)
    yield f"{format_rows(widest)} x 500", lambda: mixed_table(widest, 500), (), (STATES, CHECKS_63, CHECKS_200)
    yield f"{format_rows(large)} x 40", lambda: mixed_table(large, 40), (), (STATES, CHECKS_20)
