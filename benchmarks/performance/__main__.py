"""`python -m benchmarks.performance [--price 0.05]`: writes docs/performance.md from the results of other benchmarks.

Nothing is measured here. With a price, in any currency for a core and hour, the costs are printed instead.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.performance.page import PRICE, Results, format_costs, write_page

BENCHMARKS = Path(__file__).parents[1]
FILES = {"engine": "engine", "peers": "peers", "store": "history_store", "gate": "gate"}
NAMES = {"gate": "speed"}


def read_results() -> Results:
    found = {}
    for key, folder in FILES.items():
        file = BENCHMARKS / folder / "results" / f"{NAMES.get(key, folder)}.json"
        found[key] = json.loads(file.read_text(encoding="utf-8"))
    return Results(**found)


def main() -> None:
    options = argparse.ArgumentParser(prog="benchmarks.performance", description=__doc__)
    options.add_argument("--price", type=float, help=f"of a core and hour; the page is written with {PRICE}")
    given = options.parse_args()
    if given.price is None:
        write_page(read_results())
    else:
        print(format_costs(read_results(), given.price))


if __name__ == "__main__":
    main()
