"""Every method on every window, side by side: `python -m benchmarks.history.baselines [name of a method ...]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.history.baselines.every import METHODS
from benchmarks.history.columns import CATEGORICAL, NUMERIC
from benchmarks.history.protocol import Judged, compared, point, recall_at, recall_by_issue

PRECISIONS = (0.8, 0.9, 0.95, 0.98, 0.99)
SHOWN = 0.95  # the precision at which issues are told apart


def row(tests: Judged, usual: float) -> str:
    """A method at its own threshold, and its recall at set precisions."""
    at = point(tests, usual)
    best = [recall_at(tests, each) for each in PRECISIONS]
    shown = "  ".join(f"{each.recall:.3f}" if each else "  -  " for each in best)
    return (
        f"{tests.method:17} {at.precision:.3f} {at.recall:.3f} {at.false_alarms:.4f} | {shown} | {tests.seconds:.0f} s"
    )


def issues_row(tests: Judged) -> str:
    """The recall of each type of issue."""
    best = recall_at(tests, SHOWN)
    found = recall_by_issue(tests, best.threshold) if best else {}
    return f"{tests.method:17} " + ("  ".join(f"{name} {share:.2f}" for name, share in found.items()) or "-")


def main(names: Sequence[str]) -> None:
    methods = [method for method in METHODS if not names or method.name in names]
    found = compared(methods)
    for group in (NUMERIC, CATEGORICAL):
        held = [(each.of(group), method.usual) for each, method in zip(found, methods, strict=True)]
        meant = [(each, usual) for each, usual in held if len(each.clean)]
        print(f"\n{group}: precision, recall and false alarms at the usual threshold | recall at {PRECISIONS}")
        print("\n".join(row(each, usual) for each, usual in meant))
        print(f"\n{group}: recall by issue at precision {SHOWN}")
        print("\n".join(issues_row(each) for each, _ in meant))


if __name__ == "__main__":
    main(sys.argv[1:])
