"""The runs of one dataset that were read lately, so that a gate that judges again and again reads only what is new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from msgspec.structs import replace

from headgate.values.outcome import Distribution, Measured
from headgate.values.run import Run

_SPARE = 8  # runs in full beside those that are learned from
_MOST_NUMBERS = 320  # runs of which only numbers are kept: more than there are accepted ones, anchors and held ones


class RunCache:
    """Keeps the newest runs in full, and of older ones that are asked for the numbers and the verdict, without states.

    What nobody asks for is not kept: a gate of a stream judges hundreds of batches a day in one process. It is keyed by
    attempt, since a restored history gives sequences again.

    Args:
        runs: How many runs are learned from.
    """

    def __init__(self, runs: int) -> None:
        self._most = runs + _SPARE
        self._full: OrderedDict[str, Run] = OrderedDict()
        self._numbers: OrderedDict[str, Run] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full) + len(self._numbers)

    def find(self, attempt: str) -> Run | None:
        """A run with its states."""
        if attempt in self._full:
            self._full.move_to_end(attempt)
        return self._full.get(attempt)

    def find_numbers(self, attempt: str) -> Run | None:
        """A run whose numbers and verdict are known; it may be without states and distributions."""
        if attempt in self._numbers:
            self._numbers.move_to_end(attempt)
        return self._full.get(attempt) or self._numbers.get(attempt)

    def add(self, run: Run) -> None:
        """Keep a run with its states, and forget the one that was not asked for the longest."""
        self._full[run.attempt] = run
        self._full.move_to_end(run.attempt)
        if len(self._full) > self._most:
            self._full.popitem(last=False)

    def add_numbers(self, run: Run) -> None:
        """Keep the numbers and the verdict of a run."""
        numbers = {
            key: outcome
            for key, outcome in run.outcomes.items()
            if not (isinstance(outcome, Measured) and isinstance(outcome.value, Distribution))
        }
        self._numbers[run.attempt] = replace(run, outcomes=numbers, states={})
        if len(self._numbers) > _MOST_NUMBERS:
            self._numbers.popitem(last=False)

    def keep_numbers(self, attempts: Collection[str]) -> None:
        """Forget the numbers of all runs but these."""
        for attempt in self._numbers.keys() - set(attempts):
            del self._numbers[attempt]
