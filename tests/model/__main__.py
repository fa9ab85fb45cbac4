"""`python -m tests.model` explores histories of the protocol of gate, store and publisher, and prints what it found."""

from __future__ import annotations

import argparse
import sys

from tests.model.explore import explore


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    asked.add_argument("--histories", type=int, default=100_000)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    found = explore(given.histories, given.seed)
    different = len(found.different)
    print(f"{found.histories:,} histories, {different:,} different, {found.steps:,} steps, {found.crashes:,} crashes")
    print(f"revisions by what became of them: {dict(sorted(found.endings.items()))}")
    print(f"promises that were not kept: {len(found.broken)}, in {found.seconds:,.0f} s")
    print(*found.broken, sep="\n")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
