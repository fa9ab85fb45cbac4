"""The envelope: what was truncated, altered, foreign or newer is refused before any of it is decoded."""

from __future__ import annotations

import hashlib
import struct

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.groups import Groups
from headgate.values import codec
from headgate.values.codec import FORMAT, MAGIC, Head, decode, encode, seal, unpack_state, unseal
from headgate.values.errors import CorruptBytes, NewerFormat, StoredDataError
from headgate.values.state import State, tag_of
from tests.strategies import frequencies

STATE = frequencies({"é": 3, "<b>": 1})
KEY = 'value_distribution("unit price")'
STORED = encode(STATE, KEY)


@pytest.fixture
def no_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test if anything is decoded."""

    def decoded(*_: object, **__: object) -> None:
        pytest.fail("bytes were decoded before they were verified")

    monkeypatch.setattr(codec, "_decode_body", decoded)
    monkeypatch.setattr(msgspec.msgpack, "decode", decoded)


def resealed(front: bytes) -> bytes:
    return front + hashlib.sha256(front).digest()


def test_a_state_reads_back_with_its_key() -> None:
    assert decode(STORED) == decode(STORED, KEY) == STATE
    assert unseal(STORED)[0] == Head("frequent_labels", KEY)


@pytest.mark.usefixtures("no_decoding")
@pytest.mark.parametrize("state", [STATE, MatchCount(1, 2), Groups()], ids=lambda state: tag_of(type(state)))
def test_bytes_cut_anywhere_are_refused_before_they_are_decoded(state: State) -> None:
    stored = encode(state, KEY)
    for end in range(len(stored)):
        with pytest.raises(CorruptBytes):
            decode(stored[:end])


@pytest.mark.usefixtures("no_decoding")
def test_ten_thousand_flipped_bits_are_refused_before_they_are_decoded() -> None:
    chance = np.random.default_rng(8)
    for at in [*range(8 * len(STORED)), *chance.integers(0, 8 * len(STORED), 10_000 - 8 * len(STORED)).tolist()]:
        altered = bytearray(STORED)
        altered[at // 8] ^= 1 << at % 8
        with pytest.raises(CorruptBytes):
            decode(bytes(altered))


@pytest.mark.usefixtures("no_decoding")
@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused_before_they_are_decoded(data: bytes) -> None:
    for foreign in (data, MAGIC + data, resealed(data)):
        with pytest.raises(StoredDataError):
            decode(foreign)


@pytest.mark.usefixtures("no_decoding")
@pytest.mark.parametrize("extra", [b"\x00", b"more"])
def test_bytes_with_something_after_or_before_them_are_refused(extra: bytes) -> None:
    for longer in (STORED + extra, extra + STORED, resealed(STORED[:-32] + extra)):
        with pytest.raises(CorruptBytes):
            decode(longer)


@pytest.mark.usefixtures("no_decoding")
def test_lengths_that_do_not_add_up_are_refused() -> None:
    for top, size in ((0, 10), (10, 0), (2**32 - 1, 2**64 - 1), (0, 2**63)):
        with pytest.raises(CorruptBytes):
            decode(resealed(struct.pack(">4sHIQ", MAGIC, FORMAT, top, size) + b"x" * 40))


@pytest.mark.usefixtures("no_decoding")
@pytest.mark.parametrize("version", [FORMAT + 1, 65_535])
def test_a_newer_format_is_refused_with_a_word_to_upgrade(version: int) -> None:
    newer = resealed(MAGIC + struct.pack(">H", version) + STORED[6:-32])
    with pytest.raises(NewerFormat, match=f"format {version}.*Upgrade headgate"):
        decode(newer)


def test_the_state_of_another_key_is_refused() -> None:
    with pytest.raises(CorruptBytes, match="not mean"):
        decode(STORED, "mean(price)")


def test_a_state_that_nobody_knows_is_refused_by_its_name() -> None:
    with pytest.raises(NewerFormat, match=r"'moments_of_truth'.*Upgrade"):
        decode(seal(b"", Head("moments_of_truth", KEY)))


@pytest.mark.parametrize(
    "body",
    [b"", b"\xc1", msgspec.msgpack.encode({"type": "match_count"}), msgspec.msgpack.encode([1, 2]),
     msgspec.msgpack.encode({"type": "frequent_labels", "counts": {"a": "b"}})],
)  # fmt: skip
def test_a_sound_envelope_around_the_wrong_thing_is_refused(body: bytes) -> None:
    with pytest.raises(CorruptBytes, match="do not hold a Frequencies"):
        decode(seal(body, Head("frequent_labels", KEY)))


def test_a_head_that_is_no_head_is_refused() -> None:
    top = msgspec.msgpack.encode([1])
    with pytest.raises(CorruptBytes, match="Head"):
        decode(resealed(struct.pack(">4sHIQ", MAGIC, FORMAT, len(top), 0) + top))


def test_a_field_that_an_older_version_did_not_have_takes_its_default() -> None:
    body = msgspec.msgpack.encode({"type": "frequent_labels", "total": 1})
    assert unpack_state(body, "frequent_labels") == Frequencies(total=1)


def test_a_form_that_an_older_version_stored_becomes_todays() -> None:
    body = msgspec.msgpack.encode({"type": "frequencies", "counts": {"é": 3, "<b>": 1}, "total": 4, "capacity": 512})
    assert unpack_state(body, "frequencies") == STATE


def test_a_body_too_large_for_the_format_is_refused_when_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "LARGEST_BODY", 10)
    with pytest.raises(CorruptBytes, match="11 bytes"):
        seal(b"x" * 11, Head("frequent_labels", KEY))


def test_a_body_too_large_for_the_format_is_refused_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "LARGEST_BODY", 10)
    with pytest.raises(CorruptBytes):
        decode(STORED)


@settings(max_examples=100)
@given(st.binary(max_size=100), st.text(max_size=20), st.text(max_size=20))
def test_any_body_and_head_come_back_from_their_envelope(body: bytes, tag: str, key: str) -> None:
    assert unseal(seal(body, Head(tag, key))) == (Head(tag, key), body)
