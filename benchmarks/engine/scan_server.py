"""A process that scans tables with the Headgate of a folder: `python scan_server.py SRC`, one request a line.

A request names a folder of Parquet files and how many scans to take; the answer is the median CPU seconds of one.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from functools import lru_cache
from typing import Any

import pyarrow.parquet as pq

sys.path.insert(0, sys.argv[1])

import headgate as hg


@lru_cache(maxsize=1)
def read_table(folder: str) -> Any:
    return pq.read_table(folder).combine_chunks()


def measure_scan(table: Any) -> float:
    before = time.process_time()
    hg.analyze(table).outcomes  # noqa: B018
    return time.process_time() - before


def main() -> None:
    assert hg.__file__ is not None
    assert hg.__file__.startswith(sys.argv[1]), hg.__file__
    for line in sys.stdin:
        request = json.loads(line)
        table = read_table(request["table"])
        spent = [measure_scan(table) for _ in range(request["scans"])]
        print(json.dumps({"cpu": statistics.median(spent)}), flush=True)


if __name__ == "__main__":
    main()
