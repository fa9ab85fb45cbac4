"""`python -m benchmarks.history_store.writer METRICS RUNS MINE`: one of several writers, the address on its input."""

from __future__ import annotations

import sys
import time

from benchmarks.history_store import data
from headgate.store.open import open_store


def main() -> None:
    metrics, count, mine = map(int, sys.argv[1:])
    store = open_store(sys.stdin.readline().strip())
    name = f"writer {mine}"
    store.commit(next(data.runs(name, 1, metrics, data.random_doubles)))
    made = list(data.runs(name, count, metrics, data.random_doubles, begin=1))
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.time()
    for run in made:
        store.commit(run)
    print(begin, time.time(), flush=True)
    store.close()


if __name__ == "__main__":
    main()
