"""The bytes of one commit: an envelope with its description, then the parts of a run, each in its own envelope."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.store.ledger import Commit
from headgate.store.record import Record
from headgate.values.codec import MAGIC, Head, pack, seal, unpack, unseal
from headgate.values.errors import CorruptBytes, StoredDataError
from headgate.values.mute import Mute
from headgate.values.run import Revision, Ruling

ENTRY, NUMBERS, INDEX, LAYOUT = "log_entry", "numbers", "state_index", "layout"
LARGEST_FRONT = 1 << 24  # bytes of the first envelope

_PREFIX = struct.Struct(">4sHIQ")  # as in values.codec; it contains the length of the envelope
_DIGEST = 32
_Value = TypeVar("_Value")


class ByteRange(msgspec.Struct, frozen=True, array_like=True):
    """A range of bytes in an entry, counted from the end of its first envelope."""

    offset: int
    length: int


class EntryParts(msgspec.Struct, frozen=True):
    """The byte ranges of the parts of a run. The states follow their index, in the order of their layout."""

    numbers: ByteRange
    details: ByteRange
    index: ByteRange
    states: ByteRange
    number_keys: str  # the digest of the layout of the numbers
    state_keys: str  # the digest of the layout of the states


class Entry(msgspec.Struct, frozen=True):
    """The content of the first envelope of an entry: a committed run with the ranges of its parts, a ruling, or a
    mute."""

    revision: Revision | None = None
    parts: EntryParts | None = None
    ruling: Ruling | None = None
    mute: Mute | None = None

    @property
    def commit(self) -> Commit:
        commit = self.revision or self.ruling or self.mute
        if commit is None or (self.revision is None) != (self.parts is None):
            raise CorruptBytes("the entry is neither a run nor a ruling nor a mute.")
        return commit


class LogEntry(NamedTuple):
    """An entry with the length of its first envelope."""

    entry: Entry
    front: int


class KeyLayout(NamedTuple):
    """A sorted list of keys, stored once for all runs that share it. The object's name is the hash of the list."""

    digest: str
    keys: tuple[str, ...]

    @classmethod
    def of(cls, keys: Sequence[str]) -> KeyLayout:
        ordered = tuple(sorted(keys))
        return cls(hashlib.sha256(pack(ordered)).hexdigest(), ordered)

    def to_bytes(self) -> bytes:
        return seal(pack(self.keys), Head(LAYOUT, self.digest))

    @classmethod
    def from_bytes(cls, data: bytes, digest: str) -> KeyLayout:
        body = body_of(data, LAYOUT, digest)
        if hashlib.sha256(body).hexdigest() != digest:
            raise CorruptBytes("the layout is not the one that its name says.")
        return cls(digest, decode_body(body, tuple[str, ...]))


class Body(NamedTuple):
    """The packed parts of a run, which do not depend on the sequence under which it is committed."""

    parts: EntryParts
    data: bytes
    layouts: tuple[KeyLayout, KeyLayout]

    @classmethod
    def of(cls, record: Record, key: str) -> Body:
        numbers, states = KeyLayout.of(list(record.numbers)), KeyLayout.of(list(record.states))
        vector = np.array([record.numbers[each] for each in numbers.keys], "<f8")
        sealed = [record.states[each] for each in states.keys]
        lengths = np.array(list(map(len, sealed)), "<u8")
        pieces = [
            seal(vector.tobytes(), Head(NUMBERS, key)),
            record.details,
            seal(lengths.tobytes(), Head(INDEX, key)),
            b"".join(sealed),
        ]
        ends = np.cumsum([0, *map(len, pieces)]).tolist()
        first, second, third, fourth = map(ByteRange, ends, map(len, pieces))
        parts = EntryParts(first, second, third, fourth, number_keys=numbers.digest, state_keys=states.digest)
        return cls(parts, b"".join(pieces), (numbers, states))


def pack_entry(commit: Commit, body: Body | None = None) -> tuple[bytes, LogEntry]:
    """The bytes of an entry, and its first envelope as a reader will see it."""
    if isinstance(commit, Ruling):
        entry = Entry(ruling=commit)
    elif isinstance(commit, Mute):
        entry = Entry(mute=commit)
    else:
        assert body is not None, "a run has parts"
        entry = Entry(revision=commit, parts=body.parts)
    front = seal(pack(entry), Head(ENTRY, entry_key(commit.dataset, commit.sequence)))
    return front + (body.data if body else b""), LogEntry(entry, len(front))


def front_length(data: bytes) -> int:
    """The length of the first envelope, read from its first bytes."""
    if len(data) < _PREFIX.size:
        raise CorruptBytes(f"{len(data)} bytes are too few for an entry.")
    magic, _, top, size = _PREFIX.unpack_from(data)
    length: int = _PREFIX.size + top + size + _DIGEST
    if magic != MAGIC or length > LARGEST_FRONT:
        raise CorruptBytes("these bytes do not begin like an entry of a log.")
    return length


def unpack_entry(data: bytes, dataset: str, sequence: int) -> LogEntry:
    """The first envelope of an entry; raises if it is not this commit of this dataset."""
    length = front_length(data)
    entry = decode_body(body_of(data[:length], ENTRY, entry_key(dataset, sequence)), Entry)
    if (entry.commit.dataset, entry.commit.sequence) != (dataset, sequence):
        raise CorruptBytes(f"this is commit {entry.commit.sequence} of another log.")
    return LogEntry(entry, length)


def read_numbers(data: bytes, key: str, count: int) -> npt.NDArray[np.float64]:
    """The numbers of a run, in the order of their layout."""
    return _read_vector(body_of(data, NUMBERS, key), "<f8", count)


def locate_states(data: bytes, parts: EntryParts, key: str, layout: KeyLayout) -> dict[str, tuple[int, int]]:
    """The offset and length of each state, counted like those of the parts."""
    lengths = _read_vector(body_of(data, INDEX, key), "<u8", len(layout.keys))
    starts = np.cumsum(lengths) - lengths
    if int(lengths.sum()) != parts.states.length:
        raise CorruptBytes("the lengths of the states do not add up.")
    ranges = zip((starts + parts.states.offset).tolist(), lengths.tolist(), strict=True)
    return dict(zip(layout.keys, ranges, strict=True))


def dataset_name_of(data: bytes) -> str:
    """The name of the dataset of an entry."""
    return decode_body(body_of(data[: front_length(data)], ENTRY, None), Entry).commit.dataset


def entry_key(dataset: str, sequence: int) -> str:
    return f"{dataset}#{sequence}"


def body_of(data: bytes, tag: str, key: str | None) -> bytes:
    """The body of an envelope; raises unless it has this tag and this key."""
    head, body = unseal(data)
    if head.tag != tag or (key is not None and head.key != key):
        raise CorruptBytes(f"these bytes are {head.tag} of {head.key}, not {tag} of {key}.")
    return body


def decode_body(body: bytes, kind: type[_Value]) -> _Value:
    try:
        return unpack(body, kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise CorruptBytes(f"the bytes do not hold what they should: {error}.") from None


@contextmanager
def add_path_to_errors(path: str) -> Iterator[None]:
    """Add the path of the object to errors about its bytes."""
    try:
        yield
    except StoredDataError as error:
        raise type(error)(f"{path}: {error}") from None


def _read_vector(body: bytes, kind: str, count: int) -> npt.NDArray[np.float64]:
    if len(body) != 8 * count:
        raise CorruptBytes(f"there are {len(body):,} bytes for {count:,} keys.")
    return np.frombuffer(body, kind)
