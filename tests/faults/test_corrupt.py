"""F8, with fewer flips than `python -m tests.faults` has."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.values import codec
from headgate.values.errors import CorruptBytes
from tests.faults.corrupt import corrupted, envelopes, objects

SEED = 11


def test_every_state_is_refused_when_it_is_cut_or_flipped() -> None:
    row = corrupted(envelopes(), 2_000, SEED, "states")
    assert row.lost == 0


def test_every_object_is_refused_when_it_is_cut_or_flipped(tmp_path: Path) -> None:
    row = corrupted(objects(tmp_path), 2_000, SEED, "objects")
    assert row.lost == 0


def test_altered_bytes_are_refused_before_anything_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def decoder(*_: object) -> None:
        raise AssertionError("altered bytes were decoded")

    monkeypatch.setattr(codec, "_decode_body", decoder)
    for each in envelopes():
        for at in range(0, len(each.data), 7):
            altered = bytearray(each.data)
            altered[at] ^= 1
            with pytest.raises(CorruptBytes):
                codec.unseal(bytes(altered))
