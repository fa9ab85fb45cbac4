"""The exit codes of the command line, and which of several is the worst."""

from __future__ import annotations

from collections.abc import Iterable

PASSED = 0
FAILED = 1
MISUSED = 2
UNKNOWN = 3
UNDELIVERED = 4
INTERRUPTED = 130

MEANINGS = {
    PASSED: "everything passed, or nothing was to be judged",
    FAILED: "data failed: a batch was held or stays so, a check was not met",
    MISUSED: "wrong usage or configuration: nothing was judged",
    UNKNOWN: "something could not be evaluated: a batch, the store, the engine. It is not a verdict on the data",
    UNDELIVERED: "all was decided, but an alert, a report or results could not be delivered",
    INTERRUPTED: "interrupted (Ctrl-C)",
}
_BY_SEVERITY = (PASSED, UNDELIVERED, FAILED, UNKNOWN, MISUSED)


def worst_code(codes: Iterable[int]) -> int:
    """The code that the user must act on first.

    >>> worst_code([0, 4, 1, 0]), worst_code([1, 3]), worst_code([])
    (1, 3, 0)
    """
    return max(codes, key=_BY_SEVERITY.index, default=PASSED)
