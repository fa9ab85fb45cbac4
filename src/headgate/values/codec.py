"""The envelope around all stored bytes, whose checksum is verified before anything in it is decoded.

    magic "HGTE" | format version, 2 bytes | head length, 4 | body length, 8 | head | body | SHA-256 of all before, 32

Numbers are big-endian. The head is msgpack {tag, key} and, in format 2, raw: the length of the body before it was
compressed with Zstandard, or 0. The body is msgpack of a value of the type that the tag names, with the tag repeated
inside. Decoding never unpickles, evaluates or imports anything, and expands no body beyond a limit.
"""

from __future__ import annotations

import hashlib
import struct
from threading import Lock
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from headgate.values.errors import CorruptBytes, NewerFormat, refuse_surrogates
from headgate.values.state import State, state_types, tag_of

MAGIC = b"HGTE"
FORMAT = 2
LARGEST_BODY = 1 << 30
# The most that a compressed body may expand to: so many times its length, and so many bytes more. The states of a batch
# reach 500 times in bodies of kilobytes and 360 times in bodies of megabytes; zeros reach 30,000 times.
EXPANSION_RATIO = 200
EXPANSION_ROOM = 1 << 22

_LEAST_COMPRESSED = 256  # bytes; smaller bodies are not compressed

_PREFIX = struct.Struct(">4sHIQ")
_DIGEST = 32
_Value = TypeVar("_Value")


class Head(msgspec.Struct, frozen=True):
    """The stored name of the type of the body, the full key it belongs to, and its uncompressed length."""

    tag: str
    key: str
    raw: int = 0


def seal(body: bytes, head: Head) -> bytes:
    """An envelope around a body, which is compressed if that makes it smaller."""
    if len(body) > LARGEST_BODY:
        raise CorruptBytes(f"{head.key} has {len(body):,} bytes; the format carries {LARGEST_BODY:,}.")
    if len(body) >= _LEAST_COMPRESSED:
        compressed = pa.compress(body, "zstd", asbytes=True)
        if len(compressed) < len(body) <= expansion_limit(len(compressed)):
            head, body = Head(head.tag, head.key, len(body)), compressed
    encoded_head = pack(head)
    front = _PREFIX.pack(MAGIC, FORMAT, len(encoded_head), len(body)) + encoded_head + body
    return front + hashlib.sha256(front).digest()


def expansion_limit(size: int) -> int:
    """The most bytes that a compressed body of this size may expand to.

    >>> expansion_limit(1_000), expansion_limit(1 << 30) == LARGEST_BODY
    (4394304, True)
    """
    return min(LARGEST_BODY, EXPANSION_RATIO * size + EXPANSION_ROOM)


def unseal(data: bytes) -> tuple[Head, bytes]:
    """The head and body of an envelope, after its checksum and lengths are verified."""
    if len(data) < _PREFIX.size + _DIGEST:
        raise CorruptBytes(f"{len(data)} bytes are too few for an envelope.")
    magic, version, head_size, body_size = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise CorruptBytes("these bytes do not begin like an envelope of Headgate.")
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise CorruptBytes("the checksum does not match: the bytes were truncated or altered.")
    if version > FORMAT:
        raise NewerFormat(
            f"these bytes have format {version}; this version reads up to {FORMAT}.", hint="Upgrade headgate."
        )
    if body_size > LARGEST_BODY or len(data) != _PREFIX.size + head_size + body_size + _DIGEST:
        raise CorruptBytes("the lengths in the envelope do not add up.")
    head = _decode_body(data[_PREFIX.size : _PREFIX.size + head_size], Head)
    body = data[_PREFIX.size + head_size : -_DIGEST]
    return head, _expand_body(body, head.raw) if head.raw else body


def _expand_body(body: bytes, raw: int) -> bytes:
    if not 0 < raw <= expansion_limit(len(body)):
        raise CorruptBytes(f"{len(body):,} bytes claim to expand to {raw:,}, which is past the cap.")
    try:
        expanded: bytes = pa.decompress(body, decompressed_size=raw, codec="zstd", asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise CorruptBytes(f"the compressed body cannot be expanded: {error}.") from None
    if len(expanded) != raw:
        raise CorruptBytes(f"the body has {len(expanded):,} bytes expanded, not {raw:,}.")
    return expanded


_known: dict[str, type[State] | None] = {}  # a cache: walking all subclasses takes longer than decoding


def pack_state(state: State) -> bytes:
    """The tagged body of a state without an envelope, to send it from task to driver. To store it, use `encode`."""
    return pack(state)


def unpack_state(body: bytes, tag: str) -> State:
    """The state in a body, given the stored name of its type."""
    kind = _known.get(tag) or _known.setdefault(tag, state_types().get(tag))
    if kind is None:
        del _known[tag]  # a module that is imported later may add it
        raise NewerFormat(
            f"no state is named {tag!r} here.", hint="Upgrade headgate, or import the module that adds it."
        )
    state = _decode_body(body, kind)
    try:
        sound = state.is_sound()
    except Exception as error:  # a check of arrays that do not fit fails in many ways
        raise CorruptBytes(f"the fields of a {kind.__name__} do not go together: {error}.") from None
    if not sound:
        raise CorruptBytes(f"the fields of a {kind.__name__} do not go together.", hint="Restore it from a backup.")
    return state.current()


def encode(state: State, key: str) -> bytes:
    """A state in its envelope."""
    return seal(pack_state(state), Head(tag_of(type(state)), key))


def decode(data: bytes, key: str | None = None) -> State:
    """The state in an envelope; with `key`, raises unless it belongs to that key."""
    head, body = unseal(data)
    if key is not None and head.key != key:
        raise CorruptBytes(f"these bytes hold {head.key}, not {key}.")
    return unpack_state(body, head.tag)


def _decode_body(body: bytes, kind: type[_Value]) -> _Value:
    try:
        return unpack(body, kind)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise CorruptBytes(f"the bytes do not hold a {kind.__name__}: {error}.") from None


def to_builtins(value: Any) -> Any:
    """A value as plain dictionaries, lists, numbers and text, for JSON."""
    return msgspec.to_builtins(value)


def pack(value: Any) -> bytes:
    """A value as bytes; raises if a text in it cannot be stored."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError as error:
        refuse_surrogates(error.object)
        raise


_BUILDING = Lock()
_decoders: dict[type[Any], msgspec.msgpack.Decoder[Any]] = {}


def unpack(body: bytes, kind: type[_Value]) -> _Value:
    """The value of this type in these bytes.

    Decoders are built by one thread at a time: if two threads resolve a type for the first time at once, msgspec can
    crash the process.
    """
    with _BUILDING:
        if kind not in _decoders:
            _decoders[kind] = msgspec.msgpack.Decoder(kind)
    value: _Value = _decoders[kind].decode(body)
    return value
