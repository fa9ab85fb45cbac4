"""Faults that the library has no name for: the right diagnosis is none."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from benchmarks.diagnosis.faults.fault import ColumnChange, ColumnFault, choose, is_text, map_texts
from benchmarks.diagnosis.faults.missing import is_varied
from benchmarks.diagnosis.faults.numbers import is_amount, like, to_floats
from benchmarks.diagnosis.faults.texts import is_words

KEYS = "qwertyuiopasdfghjklzxcvbnm;'[]"


def shuffle(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """The values in other rows."""
    return ColumnChange(values.take(pa.array(chance.permutation(len(values)))))


def add_noise(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    floats = to_floats(values)
    if not len(values.drop_null()):
        return None
    noise = chance.normal(0.0, 1.0, len(floats)) * np.nanstd(floats) * chance.uniform(0.3, 2.0)
    return _as_change(values, floats + noise)


def clip(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Values beyond a quantile are that quantile."""
    known = to_floats(values.drop_null())
    if not len(known):
        return None
    return _as_change(values, np.minimum(to_floats(values), np.quantile(known, chance.uniform(0.4, 0.8))))


def take_root(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """The square root or the logarithm of all values."""
    floats = to_floats(values)
    if not (floats[~np.isnan(floats)] >= 0).all():
        return None
    return _as_change(values, np.sqrt(floats) if chance.random() < 0.5 else np.log1p(floats))


def mistype_digits(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """One digit of each of many values is another."""
    return _as_change(
        values, np.array([np.nan if value is None else _mistype(value, chance) for value in values.to_pylist()])
    )


def _mistype(value: float, chance: np.random.Generator) -> float:
    text = repr(value)
    places = [at for at, letter in enumerate(text) if letter.isdigit()]
    if "e" in text or chance.random() < 0.4:
        return float(value)
    at = choose(chance, places)
    return float(text[:at] + str(int(chance.integers(10))) + text[at + 1 :])


def reverse(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    return ColumnChange(map_texts(values, lambda text: text[::-1]))


def type_garbage(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    keys = list(KEYS)
    return ColumnChange(map_texts(values, lambda _: "".join(chance.choice(keys, int(chance.integers(3, 15))))))


def hash_values(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    return ColumnChange(map_texts(values, lambda text: hashlib.sha256(text.encode()).hexdigest()[:12]))


def _as_change(values: pa.Array, changed: np.ndarray[tuple[int], np.dtype[np.float64]]) -> ColumnChange | None:
    result = like(values, changed)
    return None if result is None else ColumnChange(result)


UNKNOWN_FAULTS = (
    ColumnFault("shuffled", "", is_varied, shuffle),
    ColumnFault("noise added", "", is_amount, add_noise),
    ColumnFault("clipped", "", is_amount, clip),
    ColumnFault("square root or logarithm", "", is_amount, take_root),
    ColumnFault("digits mistyped", "", is_amount, mistype_digits),
    ColumnFault("texts reversed", "", is_words, reverse),
    ColumnFault("keyboard garbage", "", is_text, type_garbage),
    ColumnFault("checksums instead of values", "", is_text, hash_values),
)
