"""`python -m benchmarks.checks [--quick]`: failing rows against predicates written by hand, and the jobs of checks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import headgate as hg
from benchmarks.checks.data import BY_HAND, ROWS, check, orders
from benchmarks.checks.page import write_page
from benchmarks.timing import in_turn, medians, session, versions

RESULT = Path(__file__).parent / "results" / "checks.json"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="a twentieth of the rows, 1 round; nothing is written")
    given = options.parse_args()
    found = measure(ROWS // 20 if given.quick else ROWS, 1 if given.quick else 7)
    print(json.dumps(found, indent=2))
    if not given.quick:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        write_page(found)


def measure(rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of the failing rows and of the filter by hand, in turn; every row that fails is read to its end."""
    spark = session()
    frame = spark.read.parquet(str(orders(rows)))
    verdict = hg.verify(frame, check())
    steps = {
        "verdict.rows": lambda: _drain(verdict.rows(frame)),
        "by hand": lambda: _drain(frame.filter(" OR ".join(f"({each})" for each in BY_HAND))),
        "every row, no predicate": lambda: _drain(frame),
        "verify": lambda: hg.verify(frame, check()),
    }
    taken = in_turn(steps, rounds, warm=2)
    middle = medians(taken)
    return {
        "rows": rows,
        "columns": len(frame.columns),
        "constraints": len(BY_HAND),
        "constraints that failed": len(verdict.failures),
        "failing rows": verdict.rows(frame).count(),
        "failing rows by hand": frame.filter(" OR ".join(f"({each})" for each in BY_HAND)).count(),
        "rounds": rounds,
        "medians": middle,
        "seconds": taken,
        "ratio of verdict.rows to by hand": round(middle["verdict.rows"] / middle["by hand"], 3),
        "versions": versions("pyspark", "pyarrow", "numpy"),
    }


def _drain(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    main()
