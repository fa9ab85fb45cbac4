"""`python -m benchmarks.tables`: readers, kills, races, jobs and time on real tables; writes docs/tables-benchmark.md.

`.ci/tables` fetches the jars and makes the environment; `make bench-tables` runs this in it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.tables.cost import measure_cost
from benchmarks.tables.kills import kill_calls
from benchmarks.tables.lake import FORMATS, start_session
from benchmarks.tables.page import write_page
from benchmarks.tables.races import race_gates
from benchmarks.tables.reader import watch_days
from benchmarks.timing import versions

RESULTS = Path(__file__).parent / "results"
PARTS = ("reader", "kills", "races", "cost")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tables", description=__doc__)
    parser.add_argument("--only", choices=(*PARTS, "page"), help="one part alone; `page` writes the page again")
    parser.add_argument("--format", choices=FORMATS, help="one format alone")
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    if given.only != "page":
        spark = start_session()
        for form in FORMATS if given.format is None else (given.format,):
            for part in PARTS if given.only is None else (given.only,):
                _write(form, part, {**measure(spark, form, part, given), "versions": versions("pyspark", "pyarrow")})
        spark.stop()
    write_page(RESULTS)


def measure(spark: Any, form: str, part: str, given: argparse.Namespace) -> dict[str, Any]:
    """One part on one format."""
    if part == "reader":
        return watch_days(spark, form, given.days)
    if part == "kills":
        return kill_calls(spark, form, given.kills, given.seed, lambda line: print(line, flush=True))
    if part == "races":
        return race_gates(spark, form, given.rounds)
    return measure_cost(spark, form, given.rows, rounds=5)


def _write(form: str, part: str, found: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    jars = sorted(Path(each).stem for each in os.environ["HEADGATE_TABLE_JARS"].split(","))
    file = RESULTS / f"{form}_{part}.json"
    file.write_text(json.dumps({**found, "jars": jars}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
