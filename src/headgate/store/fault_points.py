"""Named points at which a store may be interrupted, so that tests can interrupt it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_watchers: list[Callable[[str], None]] = []


def fault_point(name: str) -> None:
    """Announce that the store is about to do the named step. It costs nothing unless a test watches."""
    for watcher in _watchers:
        watcher(name)


@contextmanager
def watch(watcher: Callable[[str], None]) -> Iterator[None]:
    """Call `watcher` with the name of every fault point that is passed inside the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)
