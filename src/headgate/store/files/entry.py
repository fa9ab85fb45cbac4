"""The bytes of one commit: an envelope that says what it is, then the parts of a run, each in its own envelope."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.store.record import Record
from headgate.values.codec import MAGIC, Head, seal, unpack, unseal
from headgate.values.errors import CorruptBytes, StoredDataError
from headgate.values.run import Revision, Ruling

ENTRY, NUMBERS, INDEX, LAYOUT = "log_entry", "numbers", "state_index", "layout"
LARGEST_FRONT = 1 << 24

_PREFIX = struct.Struct(">4sHIQ")  # as in values.codec: enough of an envelope to know how long it is
_DIGEST = 32
_Value = TypeVar("_Value")


class ByteRange(msgspec.Struct, frozen=True, array_like=True):
    """Some bytes of an entry, counted from the end of its first envelope."""

    offset: int
    length: int


class EntryParts(msgspec.Struct, frozen=True):
    """Where the parts of a run lie. The states follow their index one after the other, in the order of their layout."""

    numbers: ByteRange
    details: ByteRange
    index: ByteRange
    states: ByteRange
    number_keys: str  # the layout of the numbers
    state_keys: str  # the layout of the states


class Entry(msgspec.Struct, frozen=True):
    """What the first envelope of an entry holds: a committed run and where its parts are, or a ruling."""

    revision: Revision | None = None
    parts: EntryParts | None = None
    ruling: Ruling | None = None

    @property
    def commit(self) -> Revision | Ruling:
        found = self.revision or self.ruling
        if found is None or (self.revision is None) != (self.parts is None):
            raise CorruptBytes("the entry is neither a run nor a ruling.")
        return found


class LogEntry(NamedTuple):
    """An entry with the length of its first envelope."""

    entry: Entry
    front: int


class KeyLayout(NamedTuple):
    """A sorted list of keys, kept once for all runs that have the same: the object's name is its hash."""

    digest: str
    keys: tuple[str, ...]

    @classmethod
    def of(cls, keys: Sequence[str]) -> KeyLayout:
        ordered = tuple(sorted(keys))
        return cls(hashlib.sha256(msgspec.msgpack.encode(ordered)).hexdigest(), ordered)

    def to_bytes(self) -> bytes:
        return seal(msgspec.msgpack.encode(self.keys), Head(LAYOUT, self.digest))

    @classmethod
    def from_bytes(cls, data: bytes, digest: str) -> KeyLayout:
        body = body_of(data, LAYOUT, digest)
        if hashlib.sha256(body).hexdigest() != digest:
            raise CorruptBytes("the layout is not the one that its name says.")
        return cls(digest, decode_body(body, tuple[str, ...]))


class Body(NamedTuple):
    """The parts of a run packed, the same under whatever sequence they are committed."""

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


def pack_entry(commit: Revision | Ruling, body: Body | None = None) -> tuple[bytes, LogEntry]:
    """The bytes of an entry, and what a reader will see first of them."""
    if isinstance(commit, Ruling):
        entry = Entry(ruling=commit)
    else:
        assert body is not None, "a run has parts"
        entry = Entry(revision=commit, parts=body.parts)
    front = seal(msgspec.msgpack.encode(entry), Head(ENTRY, place_key(commit.dataset, commit.sequence)))
    return front + (body.data if body else b""), LogEntry(entry, len(front))


def front_length(data: bytes) -> int:
    """How long the first envelope is, by its first bytes."""
    if len(data) < _PREFIX.size:
        raise CorruptBytes(f"{len(data)} bytes are too few for an entry.")
    magic, _, top, size = _PREFIX.unpack_from(data)
    length: int = _PREFIX.size + top + size + _DIGEST
    if magic != MAGIC or length > LARGEST_FRONT:
        raise CorruptBytes("these bytes do not begin like an entry of a log.")
    return length


def unpack_entry(data: bytes, dataset: str, sequence: int) -> LogEntry:
    """The first envelope of an entry, which must be this commit of this dataset."""
    length = front_length(data)
    entry = decode_body(body_of(data[:length], ENTRY, place_key(dataset, sequence)), Entry)
    if (entry.commit.dataset, entry.commit.sequence) != (dataset, sequence):
        raise CorruptBytes(f"this is commit {entry.commit.sequence} of another log.")
    return LogEntry(entry, length)


def read_numbers(data: bytes, key: str, count: int) -> npt.NDArray[np.float64]:
    """The numbers of a run, in the order of their layout."""
    return _read_vector(body_of(data, NUMBERS, key), "<f8", count)


def state_places(data: bytes, parts: EntryParts, key: str, layout: KeyLayout) -> dict[str, tuple[int, int]]:
    """Where each state begins and how long it is, counted like the offset of a part."""
    lengths = _read_vector(body_of(data, INDEX, key), "<u8", len(layout.keys))
    starts = np.cumsum(lengths) - lengths
    if int(lengths.sum()) != parts.states.length:
        raise CorruptBytes("the lengths of the states do not add up.")
    places = zip((starts + parts.states.offset).tolist(), lengths.tolist(), strict=True)
    return dict(zip(layout.keys, places, strict=True))


def dataset_name_of(data: bytes) -> str:
    """The name of the dataset whose log this entry is from."""
    return decode_body(body_of(data[: front_length(data)], ENTRY, None), Entry).commit.dataset


def place_key(dataset: str, sequence: int) -> str:
    return f"{dataset}#{sequence}"


def body_of(data: bytes, tag: str, key: str | None) -> bytes:
    """What is in an envelope, if it is of this kind and this key's."""
    head, body = unseal(data)
    if head.tag != tag or (key is not None and head.key != key):
        raise CorruptBytes(f"these bytes are {head.tag} of {head.key}, not {tag} of {key}.")
    return body


def decode_body(body: bytes, kind: type[_Value]) -> _Value:
    try:
        return unpack(body, kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as trouble:
        raise CorruptBytes(f"the bytes do not hold what they should: {trouble}.") from None


@contextmanager
def add_path_to_errors(path: str) -> Iterator[None]:
    """Trouble with bytes says where they lie."""
    try:
        yield
    except StoredDataError as trouble:
        raise type(trouble)(f"{path}: {trouble}") from None


def _read_vector(body: bytes, kind: str, count: int) -> npt.NDArray[np.float64]:
    if len(body) != 8 * count:
        raise CorruptBytes(f"there are {len(body):,} bytes for {count:,} keys.")
    return np.frombuffer(body, kind)
