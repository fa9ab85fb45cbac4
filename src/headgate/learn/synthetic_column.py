"""A small sample that looks like a column, made from the column's states alone: no value of the data is needed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.states.characters import Characters
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.key import MetricKey
from headgate.values.schema import NUMERIC, TEMPORAL, Column, Kind
from headgate.values.state import State

SIZE = 128
_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_ALPHABETS = {"A": _UPPER, "a": _LOWER, "9": _DIGITS, "X": _UPPER + _DIGITS, "x": _LOWER + _DIGITS}
_PLAIN = "a"


def likeness(column: Column, states: Mapping[MetricKey, State], size: int = SIZE) -> pa.Array | None:
    """So many rows with about the same nulls, quantiles, frequent values, patterns and lengths; None for other kinds.

    It is a function of the states alone. Where a store hides values, texts are made up after the patterns, and a
    value that is hidden as the same hash becomes the same text.
    """

    def state(name: str) -> State | None:
        return states.get(MetricKey(name, (column.label,)))

    filled = state("completeness")
    share = filled.matched / filled.seen if isinstance(filled, MatchCount) and filled.seen else 1.0
    present = round(share * size)
    rng = np.random.default_rng(zlib.crc32(column.label.encode("utf-8", "surrogatepass")))
    if column.kind in NUMERIC - {Kind.BOOLEAN} or column.kind in TEMPORAL:
        values = _numbers(state("quantiles"), state("moments"), present, column.kind)
    elif column.kind in (Kind.STRING, Kind.BOOLEAN):
        values = _texts(state("frequent_values"), state("frequent_patterns"), state("characters"), present, rng)
    else:
        return None
    if values is None or not present:
        return None
    made = pa.concat_arrays([values, pa.nulls(size - present, values.type)]).take(pa.array(rng.permutation(size)))
    return _truths(made) if column.kind is Kind.BOOLEAN else made


def _truths(texts: pa.Array) -> pa.Array:
    """Texts of a boolean column as booleans; of hidden ones, which is which cannot be told and does not matter."""
    names = sorted(set(texts.drop_null().to_pylist()))
    true = "true" if "true" in names else names[-1] if len(names) > 1 else None
    return pa.array([None if text is None else text == true for text in texts.to_pylist()], pa.bool_())


def _numbers(quantiles: State | None, moments: State | None, count: int, kind: Kind) -> pa.Array | None:
    if not isinstance(quantiles, Quantiles) or not quantiles.sketch or not count:
        return None
    ranks = (np.arange(count) + 0.5) / count
    values = np.array(quantiles.opened().get_quantiles(ranks.tolist()))
    if isinstance(moments, Moments) and moments.low is not None and moments.high is not None and count > 1:
        values[0], values[-1] = moments.low, moments.high
    if kind is Kind.INTEGER:
        return pa.array(np.clip(np.rint(values), -(2.0**62), 2.0**62).astype(np.int64))
    if kind in TEMPORAL:
        return pa.array(np.clip(values, -1e11, 1e11).astype(np.int64) * 1_000_000).cast(pa.timestamp("us"))
    return pa.array(values)


def _texts(
    values: State | None, patterns: State | None, characters: State | None, count: int, rng: np.random.Generator
) -> pa.Array | None:
    if not isinstance(values, Frequencies) or not values.total or not count:
        return None
    kept = values.labels()
    labels, counts = list(kept), np.array(list(kept.values()), np.float64)
    rare = max(0.0, 1 - counts.sum() / values.total) if len(counts) else 1.0
    drawn = _drawn(np.append(counts / values.total, rare), count, rng)
    shapes = _Shapes(patterns, characters)
    texts = [shapes.text(rng) if at == len(labels) else labels[at] for at in drawn]
    if values.hashed:
        texts = [
            shapes.text(_seeded(text)) if at < len(labels) else text for at, text in zip(drawn, texts, strict=True)
        ]
    return pa.array(texts, pa.string())


def _drawn(shares: npt.NDArray[np.float64], count: int, rng: np.random.Generator) -> list[int]:
    """Places drawn by systematic sampling: each as often as its share says, give or take one."""
    ends = np.cumsum(shares / shares.sum())
    points = (np.arange(count) + rng.random()) / count
    found: list[int] = np.minimum(np.searchsorted(ends, points), len(shares) - 1).tolist()
    return found


def _seeded(text: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass")))


class _Shapes:
    """Texts after the patterns of a column, with runs of letters and digits as long as they are on average."""

    def __init__(self, patterns: State | None, characters: State | None) -> None:
        known = patterns.labels() if isinstance(patterns, Frequencies) else {}
        self.patterns = list(known) or [_PLAIN]
        weights = np.array(list(known.values()) or [1], np.float64)
        self.ends = np.cumsum(weights / weights.sum())
        found = characters if isinstance(characters, Characters) else Characters()
        shares = weights / weights.sum()
        runs = {symbol: np.array([each.count(symbol) for each in self.patterns]) for symbol in _ALPHABETS}
        mixed = runs["X"] + runs["x"]
        self.letters = self._run(found.letters, found.values, runs["A"] + runs["a"] + mixed, shares)
        self.digits = self._run(found.digits, found.values, runs["9"] + mixed, shares)
        self.mixed = self._run(found.letters + found.digits, found.values, mixed, shares)

    @staticmethod
    def _run(characters: int, values: int, runs: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> int:
        each = float(np.dot(runs, shares))
        return max(1, round(characters / values / each)) if values and each else 1

    def text(self, rng: np.random.Generator) -> str:
        pattern = self.patterns[min(int(np.searchsorted(self.ends, rng.random())), len(self.patterns) - 1)]
        return "".join(self._symbol(symbol, rng) for symbol in pattern)

    def _symbol(self, symbol: str, rng: np.random.Generator) -> str:
        alphabet = _ALPHABETS.get(symbol)
        if alphabet is None:
            return symbol
        length = {"9": self.digits, "X": self.mixed, "x": self.mixed}.get(symbol, self.letters)
        return "".join(alphabet[at] for at in rng.integers(0, len(alphabet), length))
