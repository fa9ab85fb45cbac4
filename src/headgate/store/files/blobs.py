"""What a store of files needs from the folder or object store that keeps its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
ByteSpan: TypeAlias = tuple[str, int, int | None]
"""What `read` takes: the path of an object, a start, and a size or None for the rest."""


class Blobs(Protocol):
    """Objects by path. An object is written atomically and never changes.

    A method raises `StoreUnavailable` if an object cannot be reached or written.
    """

    @property
    def kind(self) -> str:
        """The prefix of the names of its fault points."""

    @property
    def patience(self) -> float:
        """How long a request is retried before the store counts as unavailable, in seconds."""

    def put(self, path: str, data: bytes) -> bool:
        """Write an object unless one exists; whether it was written. False may also mean that this call wrote it and
        the response was lost: read the object to find out."""

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        """Bytes of an object, fewer than `size` at its end; None if there is no such object."""

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        """Several ranges (start, size) of an object that is known to exist."""

    def names(self, folder: str, after: int) -> list[str]:
        """The names of the numbered objects in a folder whose number is above `after`."""

    def folders(self) -> list[str]:
        """The names of the top-level folders."""

    def settle(self, path: str) -> None:
        """Make an existing object durable, whoever wrote it."""

    def each(
        self, call: Callable[[_Item], _Result], items: Iterable[_Item], reads: Iterable[ByteSpan] = ()
    ) -> Iterator[_Result]:
        """Like `map`; in parallel if that is faster.

        Args:
            call: What is called with each item.
            items: The items.
            reads: What the calls are going to read, in one go if that is faster.
        """

    def close(self) -> None:
        """Release threads and connections."""
