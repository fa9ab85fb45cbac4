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


@lru_cache(maxsize=1)
def read_table(folder: str) -> Any:
    return pq.read_table(folder).combine_chunks()


def import_headgate(source: str) -> Any:
    sys.path.insert(0, source)
    import headgate

    assert str(headgate.__file__).startswith(source), headgate.__file__
    return headgate


def measure_scan(headgate: Any, table: Any) -> float:
    before = time.process_time()
    headgate.analyze(table).outcomes  # noqa: B018
    return time.process_time() - before


def main() -> None:
    headgate = import_headgate(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        table = read_table(request["table"])
        spent = [measure_scan(headgate, table) for _ in range(request["scans"])]
        print(json.dumps({"cpu": statistics.median(spent)}), flush=True)


if __name__ == "__main__":
    main()
