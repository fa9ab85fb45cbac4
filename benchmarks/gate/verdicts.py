"""`python -m benchmarks.gate.verdicts FILE`: the first verdicts of the gate benchmark, to compare two versions.

`--compare OTHER FILE` tells whether two such files, written by two versions of the code, hold the same batches for the
same reasons. Both versions must read the same cached states (HEADGATE_CACHE): sketches of quantiles are random above
200 values, so states that are measured again give slightly other limits.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.gate.replay import Replay, Row
from benchmarks.history.feeds import feeds
from benchmarks.history.incidents import SHORTEST


def judge_first(count: int) -> Iterator[Row]:
    """The first judged batches, feeds in the order of the benchmark: the largest first."""
    ordered = sorted(feeds(SHORTEST), key=lambda feed: -feed.path.stat().st_size)
    return islice((row for feed in ordered for row in Replay(feed).rows()), count)


def read_rows(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def compare_rows(before: list[Row], after: list[Row]) -> list[str]:
    """A line for each batch that is held by other forms of the gate, or for other reasons."""
    return [
        f"{old['feed']} {old['partition']} {old['what']}: {old['held']} became {new['held']}"
        for old, new in zip(before, after, strict=True)
        if old["held"] != new["held"]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    if given.compare is None:
        lines = [json.dumps(row, sort_keys=True) for row in judge_first(given.first)]
        given.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    before, after = (read_rows(file)[: given.first] for file in (given.compare, given.file))
    different = compare_rows(before, after)
    print("\n".join([*different, f"{len(before)} judged batches compared, {len(different)} differ"]))
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
