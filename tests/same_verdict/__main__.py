"""`python -m tests.same_verdict`: judges 200 batches in stores with different secrets, in processes of their own.

It prints in how many of them the action, the program or a judgement differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from typing import Any

from tests.same_verdict.tables import DAYS

WAYS = (*("local hidden",) * 8, *("local plain",) * 2, *("spark hidden",) * 2)
"""Five stores twice on the local engine, of which one keeps values plain, and two on Spark."""


def judge_in_process(way: str, days: int) -> list[dict[str, Any]]:
    engine, values = way.split()
    command = [sys.executable, "-m", "tests.same_verdict.judge", "--engine", engine, "--values", values]
    variables = {**os.environ, "PYTHONHASHSEED": "random"}
    ended = subprocess.run([*command, "--days", str(days)], env=variables, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.same_verdict", description=__doc__)
    asked.add_argument("--days", type=int, default=DAYS)
    asked.add_argument("--show", action="store_true", help="print what differs")
    given = asked.parse_args()
    began = time.monotonic()
    first, *others = (judge_in_process(way, given.days) for way in WAYS)
    differ: Counter[str] = Counter()
    for way, other in zip(WAYS[1:], others, strict=True):
        for one, two in zip(first, other, strict=True):
            for part in ("action", "program", "judgements"):
                if one[part] != two[part]:
                    differ[f"{way}: {part}"] += 1
                    if given.show:
                        print(way, one["batch"], part, *_show_lines(one[part], two[part]), sep="\n  ")
    held = sum(each["action"] == "hold" for each in first)
    seconds = time.monotonic() - began
    print(
        f"{len(first)} verdicts ({held} held) in {len(WAYS)} processes, each with a secret of its own, {seconds:.0f} s"
    )
    print("\n".join(f"{count} differ in {way}" for way, count in sorted(differ.items())) or "all are equal")
    return 1 if differ else 0


def _show_lines(one: str, two: str) -> list[str]:
    gone, new = set(one.splitlines()) - set(two.splitlines()), set(two.splitlines()) - set(one.splitlines())
    return [*(f"- {line}" for line in sorted(gone)), *(f"+ {line}" for line in sorted(new))]


if __name__ == "__main__":
    sys.exit(main())
