"""`python -m benchmarks.tables`: readers, kills, races, jobs and time on real tables; writes docs/tables-benchmark.md.

`.ci/tables` fetches the jars and makes the environment; `make bench-tables` runs this in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tables.cost import measure_cost
from benchmarks.tables.kills import add_kills, kill_calls
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
    parser.add_argument("--kills", type=int, default=100, help="of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    if given.only != "page":
        spark = start_session()
        for form in FORMATS if given.format is None else (given.format,):
            for part in PARTS if given.only is None else (given.only,):
                for found in measure(spark, form, part, given):
                    _write(form, part, {**found, "versions": versions("pyspark", "pyarrow")})
        spark.stop()
    write_page(RESULTS)


def measure(spark: Any, form: str, part: str, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One part on one format; of kills, what is known after each seed."""
    match part:
        case "reader":
            yield watch_days(spark, form, given.days)
        case "kills":
            kept = _read(form, part)
            seeds = kept["seeds"] if kept.get("code") == hash_code() else {}
            for seed in given.seeds:
                found = kill_calls(spark, form, given.kills, seed, lambda line: print(line, flush=True))
                seeds = {**seeds, str(seed): found}
                yield {"code": hash_code(), "seeds": seeds, **add_kills(seeds.values())}
        case "races":
            yield race_gates(spark, form, given.rounds)
        case _:
            yield measure_cost(spark, form, given.rows, rounds=5)


def hash_code() -> str:
    """What changes when a module of the package does: seeds of other code are not counted together."""
    files = sorted((Path(__file__).parents[2] / "src" / "headgate").rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _read(form: str, part: str) -> dict[str, Any]:
    file = RESULTS / f"{form}_{part}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _write(form: str, part: str, found: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    jars = sorted(Path(each).stem for each in os.environ["HEADGATE_TABLE_JARS"].split(","))
    file = RESULTS / f"{form}_{part}.json"
    file.write_text(json.dumps({**found, "jars": jars}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
