"""`python -m benchmarks.gate`: replays all feeds (what is cached is not replayed again), writes results and page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.gate.page import write
from benchmarks.gate.replay import Row, replayed
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES

RESULTS = Path(__file__).parent / "results"


def _slim(row: Row) -> Row:
    """Reasons of the gate at 1% alone, and costs in few digits."""
    held = {name: why if name == "gate 0.01" and row["what"] != "case" else [] for name, why in row["held"].items()}
    costs = {name: round(cost, 5) for name, cost in row.get("costs", {}).items()}
    return {**row, "held": held, **({"costs": costs} if costs else {})}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.gate", description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write the page again from the results")
    given = parser.parse_args()
    file = RESULTS / "replay.json"
    if not given.page:
        RESULTS.mkdir(exist_ok=True)
        rows = [_slim(row) for row in replayed(given.workers)]
        about = {"versions": versions("numpy", "pyarrow"), "values": VALUES, "rows": rows}
        file.write_text(json.dumps(about), encoding="utf-8")
    about = json.loads(file.read_text(encoding="utf-8"))
    write(about["rows"], about)
    print(f"{len(about['rows']):,} batches judged")


if __name__ == "__main__":
    main()
