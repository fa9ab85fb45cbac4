"""Small envelopes that expand to much.

An envelope of 215 KB with a right checksum could expand to a gigabyte: the cap was 5,000 times the length of its body.
Now a body may expand to 200 times its length and 4 MiB more.
"""

from __future__ import annotations

import hashlib
import struct

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.metrics.states.groups import Groups
from headgate.values.codec import FORMAT, LARGEST_BODY, MAGIC, Head, decode, encode, expansion_limit, seal, unseal
from headgate.values.errors import CorruptBytes

MEBIBYTE = 1 << 20


def forge_envelope(raw: int, body: bytes) -> bytes:
    """An envelope with a right checksum whose body claims to expand to `raw` bytes."""
    head = msgspec.msgpack.encode(Head("groups", "uniqueness(id)", raw))
    front = struct.pack(">4sHIQ", MAGIC, FORMAT, len(head), len(body)) + head + body
    return front + hashlib.sha256(front).digest()


def compress_zeros(size: int, ratio: int) -> bytes:
    """Zstandard frames of zeros, and one that a reader skips, so that they expand by just this ratio."""
    frames = pa.compress(bytes(32 * MEBIBYTE), "zstd", asbytes=True) * (size // (32 * MEBIBYTE))
    padding = max(0, -(-size // ratio) - len(frames) - 8)
    return frames + struct.pack("<II", 0x184D2A50, padding) + bytes(padding)


@pytest.mark.parametrize("ratio", [250, 1_000, 5_000, 30_000])
@pytest.mark.parametrize("size", [128 * MEBIBYTE, LARGEST_BODY])
def test_a_small_envelope_cannot_take_much_memory(size: int, ratio: int) -> None:
    envelope = forge_envelope(size, compress_zeros(size, ratio))
    before = pa.total_allocated_bytes()
    with pytest.raises(CorruptBytes, match="past the cap"):
        unseal(envelope)
    assert pa.total_allocated_bytes() == before


def test_an_envelope_of_a_kilobyte_expands_to_at_most_5_mebibytes() -> None:
    assert expansion_limit(1_000) < 5 * MEBIBYTE
    assert expansion_limit(5 * MEBIBYTE) < LARGEST_BODY


@pytest.mark.parametrize("raw", [-1, 1 << 62, (1 << 64) - 1])
def test_a_length_that_cannot_be_is_refused(raw: int) -> None:
    with pytest.raises(CorruptBytes):
        unseal(forge_envelope(raw, pa.compress(bytes(1_000), "zstd", asbytes=True)))


@pytest.mark.parametrize("count", [0, 255, 256, 10_000, MEBIBYTE, 4 * MEBIBYTE, 20 * MEBIBYTE])
def test_a_body_of_zeros_of_any_length_comes_back(count: int) -> None:
    """What compresses better than the cap lets expand is stored as it is."""
    sealed = seal(bytes(count), Head("t", "k"))
    assert unseal(sealed)[1] == bytes(count)
    assert count <= 4 * MEBIBYTE or len(sealed) > count


def test_states_that_compress_well_come_back() -> None:
    rows = 20_000
    batch = pa.table({"day": np.arange(rows) % 2_000, "zero": np.zeros(rows), "one": ["x"] * rows})
    parts = hg.analyze(batch, ["mean(zero)", "approx_quantile(zero, q=0.5)", "value_distribution(one)"], by=["day"])
    data = parts.to_bytes()
    assert len(data) < 100_000
    assert hg.Parts.from_bytes(data).to_bytes() == data
    groups = Groups(bytes(8 * MEBIBYTE), bytes(8 * MEBIBYTE), np.ones(MEBIBYTE, np.int64).tobytes())
    assert decode(encode(groups, "k"), "k") == groups
