"""`python -m benchmarks.streams`: kills, broken producers, cost, memory; writes docs/streams-benchmark.md.

Kills with `--sink delta` and `iceberg` need the jars of these formats: `make bench-streams` runs them in `.ci/tables`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams.broken import break_producers
from benchmarks.streams.cost import measure_cost, measure_memory
from benchmarks.streams.job import start_session
from benchmarks.streams.kills import kill_stream
from benchmarks.streams.page import write_page
from benchmarks.timing import versions

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.streams", description=__doc__)
    parser.add_argument("part", choices=("kills", "broken", "cost", "memory", "page"))
    parser.add_argument("--sink", choices=("folders", "delta", "iceberg"), default="folders")
    parser.add_argument("--batches", type=int, default=50)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    if given.part == "kills":
        found = kill_stream(given.sink, given.batches, given.kills, given.seed, lambda line: print(line, flush=True))
        _write(f"kills_{given.sink}", found)
    elif given.part in ("broken", "cost", "memory"):
        spark = start_session(Path(tempfile.mkdtemp(prefix="headgate-stream-")))
        if given.part == "broken":
            _write("broken", {"cases": break_producers(spark)})
        elif given.part == "cost":
            _write("cost", measure_cost(spark, given.rows, given.columns, given.rounds))
        else:
            _write("memory", measure_memory(spark, given.batches, given.rows, given.columns))
        spark.stop()
    write_page(RESULTS)


def _write(name: str, found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({**found, "versions": versions("pyspark", "pyarrow")}, indent=1)
    (RESULTS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
