"""What a store of files needs of the place that keeps its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Blobs(Protocol):
    """Objects by path. An object appears whole or not at all, and once it is there it never changes.

    What cannot be reached or written raises `StoreUnavailable`.
    """

    @property
    def kind(self) -> str:
        """The first word of the names of its steps."""

    @property
    def patience(self) -> float:
        """For how many seconds something is tried again before it counts as unavailable."""

    def put(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one. False if there is one, be it even by this very call, whose answer was
        lost: who cares must read it."""

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        """Bytes of an object, fewer than asked for where it ends; None if there is no such object."""

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        """Several ranges (start, size) of an object that is known to be there."""

    def names(self, folder: str, after: int) -> list[str]:
        """Of the numbered objects in a folder that come after this number."""

    def folders(self) -> list[str]:
        """The names of the folders at the top."""

    def settle(self, path: str) -> None:
        """Make sure that an object which was found is there to stay, whoever wrote it."""

    def each(self, call: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Like `map`, at once where that is faster."""

    def close(self) -> None:
        """Let go of threads and connections."""
