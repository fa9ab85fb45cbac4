"""`python -m benchmarks.gate`: replays all feeds (what is cached is not replayed again), writes results and page."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.gate.page import write
from benchmarks.gate.replay import replayed
from benchmarks.timing import versions

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    rows = replayed()
    RESULTS.mkdir(exist_ok=True)
    about = {"versions": versions("numpy", "pyarrow"), "rows": rows}
    (RESULTS / "replay.json").write_text(json.dumps(about), encoding="utf-8")
    write(rows)
    print(f"{len(rows):,} batches judged")


if __name__ == "__main__":
    main()
