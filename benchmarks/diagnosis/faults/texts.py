"""Faults of texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import ColumnChange, ColumnFault, choose, has_values, is_text, map_texts

CASINGS = {"upper": str.upper, "lower": str.lower, "title": str.title}
SIDES = ("before", "after", "both", "to one width")
LONGEST_PAD = 4


def is_words(values: pa.Array) -> bool:
    """Whether most texts have letters."""
    if not is_text(values) or not has_values(values, 2):
        return False
    return bool(pc.mean(pc.match_substring_regex(values.drop_null(), "[A-Za-z]")).as_py() > 0.5)


def is_varied_text(values: pa.Array) -> bool:
    return is_text(values) and has_values(values, 2)


def is_beyond_ascii(values: pa.Array) -> bool:
    if not is_text(values):
        return False
    return sum(not text.isascii() for text in values.drop_null().to_pylist()) >= 3


def change_case(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    to = str(choose(chance, tuple(CASINGS)))
    return ColumnChange(map_texts(values, CASINGS[to]), {"case": to})


def pad(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    side, blanks = str(choose(chance, SIDES)), " " * int(chance.integers(1, LONGEST_PAD + 1))
    if side == "to one width":
        width = max((len(text) for text in values.drop_null().to_pylist()), default=0) + 2
        return ColumnChange(map_texts(values, lambda text: text.ljust(width)), {"side": side})
    before, after = ("" if side == "after" else blanks), ("" if side == "before" else blanks)
    return ColumnChange(map_texts(values, lambda text: f"{before}{text}{after}"), {"side": side})


def cut(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Texts of at most n characters; n is below the length of most."""
    lengths = np.asarray(pc.utf8_length(values.drop_null()))
    longest = int(np.quantile(lengths, 0.7)) if len(lengths) else 0
    if longest < 3:
        return None
    length = int(chance.integers(max(1, longest // 4), longest))
    return ColumnChange(pc.utf8_slice_codeunits(values, 0, length), {"characters": float(length)})


def misread_encoding(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    """UTF-8 read as Latin-1."""
    return ColumnChange(map_texts(values, lambda text: text.encode("utf-8").decode("latin-1")))


TEXT_FAULTS = (
    ColumnFault("other casing", "casing", is_words, change_case),
    ColumnFault("padded", "padding", is_varied_text, pad),
    ColumnFault("truncated", "truncated", is_varied_text, cut),
    ColumnFault("UTF-8 as Latin-1", "encoding", is_beyond_ascii, misread_encoding),
)
