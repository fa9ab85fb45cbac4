"""`python -m benchmarks.rarity`: how many good batches one limit of rarity holds, and how many broken ones.

Everything is nested: curves and prior that judge a dataset know nothing of it, and the rarities of other feeds, from
which the prior comes, are by curves that know nothing of these feeds either. Good batches are judged one after the
other; each is accepted, whether it is held or not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.gate.shares import Share, estimate
from benchmarks.history.feeds import feeds
from benchmarks.rarity.curves import read_feed
from benchmarks.rarity.judge import BUDGETS, Row, judge_dataset
from benchmarks.rarity.rarity import FORMS
from headgate.learn.evidence import LONGEST

RESULTS = Path(__file__).parent / "results" / "budgets.json"
_KEYS = ("form", "feed", "issue", "long", "shape")


def count_held(rows: Sequence[Row]) -> list[Row]:
    """How many batches each budget holds, by form, feed and type of fault.

    Long histories are counted apart from short ones, and faults that a clause about the schema shows from others.
    """
    found: dict[tuple[str, str, str, bool, bool], list[int]] = {}
    for row in rows:
        key = row["form"], row["feed"], row["issue"].split("(")[0], row["runs"] >= LONGEST, row.get("shape", False)
        counts = found.setdefault(key, [0] * (1 + len(BUDGETS)))
        for place, is_counted in enumerate([True, *(budget in row["held"] for budget in BUDGETS)]):
            counts[place] += is_counted
    return [
        dict(zip(_KEYS, key, strict=True)) | {"judged": counts[0], "held": counts[1:]}
        for key, counts in sorted(found.items())
    ]


def tabulate(counts: Sequence[Row]) -> str:
    """For each form and budget the share of good batches and of broken ones that is held."""
    lines = [
        "| form | budget | good batches held | with 28 runs or more | broken batches held | only values show it |",
        "|---|---|---|---|---|---|",
    ]
    for name in FORMS:
        of_form = [row for row in counts if row["form"] == name]
        good = [row for row in of_form if not row["issue"]]
        broken = [row for row in of_form if row["issue"]]
        late, by_values = [row for row in good if row["long"]], [row for row in broken if not row["shape"]]
        for place, budget in enumerate(BUDGETS if of_form else ()):
            shares = " | ".join(str(_estimate(each, place)) for each in (good, late, broken, by_values))
            lines.append(f"| {name} | {budget:.1%} | {shares} |")
    return "\n".join(lines)


def _estimate(counts: Sequence[Row], place: int) -> Share:
    """The share of batches that the budget at a place holds."""
    return estimate((row["feed"], number < row["held"][place]) for row in counts for number in range(row["judged"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--forms", nargs="+", choices=tuple(FORMS), default=tuple(FORMS))
    parser.add_argument("--print", action="store_true", help="print the table of the results that are there")
    given = parser.parse_args()
    if given.print:
        print(tabulate(json.loads(RESULTS.read_text(encoding="utf-8"))))
        return
    every = sorted(feeds(), key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        for feed, _ in zip(every, pool.map(read_feed, every), strict=True):
            print(feed.title, flush=True)
        folders = sorted({feed.folder for feed in every})
        jobs = [(folder, form) for form in given.forms for folder in folders]
        rows = [row for found in pool.map(judge_dataset, *zip(*jobs, strict=True)) for row in found]
    RESULTS.parent.mkdir(exist_ok=True)
    counts = count_held(rows)
    RESULTS.write_text("[\n" + ",\n".join(map(json.dumps, counts)) + "\n]\n", encoding="utf-8")
    print(tabulate(counts))


if __name__ == "__main__":
    main()
