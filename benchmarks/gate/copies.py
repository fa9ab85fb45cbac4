"""`python -m benchmarks.gate.copies`: how often a batch of a feed has the states of one of the 30 before it."""

from __future__ import annotations

import hashlib

from benchmarks.history.feeds import feeds
from benchmarks.history.incidents import SHORTEST
from benchmarks.history.series import Batch, analysed

RUNS = 30


def _fingerprint(batch: Batch) -> bytes:
    """Of all states, which depend on the rows alone."""
    states = sorted((str(key), repr(state)) for key, state in batch.analysis.states.items())
    return hashlib.sha256(repr(states).encode()).digest()


def main() -> None:
    batches = copies = unexpected = 0
    for feed in feeds(SHORTEST):
        prints = [_fingerprint(each) for each in analysed(feed)]
        copied = [each in prints[max(0, at - RUNS) : at] for at, each in enumerate(prints)]
        new = sum(each and not any(copied[max(0, at - RUNS) : at]) for at, each in enumerate(copied))
        batches, copies, unexpected = batches + len(prints), copies + sum(copied), unexpected + new
        print(
            f"{feed.title:50}{len(prints):6,} batches {sum(copied):4} copies {new:3} where none was before", flush=True
        )
    print(f"{batches:,} batches, {copies} copies, {unexpected} where none of the {RUNS} runs before was one")


if __name__ == "__main__":
    main()
