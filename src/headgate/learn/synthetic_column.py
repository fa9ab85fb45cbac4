"""Make a small synthetic sample of a column from its states alone, without access to the data."""

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

SYNTHETIC_ROWS = 128
_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_ALPHABETS = {"A": _UPPER, "a": _LOWER, "9": _DIGITS, "X": _UPPER + _DIGITS, "x": _LOWER + _DIGITS}
_DEFAULT_PATTERN = "a"
_TRIES = 8  # to make a text that is not there yet


def synthesize(column: Column, states: Mapping[MetricKey, State], size: int = SYNTHETIC_ROWS) -> pa.Array | None:
    """A sample of `size` rows with about the nulls, quantiles, frequent values, patterns and lengths of the column.

    None if the states do not suffice or the kind of the column is not supported. The same data always give the same
    sample, whether a store hides values or not, and under whatever secret: texts are generated from the patterns and
    from how often the values occur, never from the values.
    """

    def find_state(name: str) -> State | None:
        return states.get(MetricKey(name, (column.label,)))

    completeness = find_state("completeness")
    share = (
        completeness.matched / completeness.seen if isinstance(completeness, MatchCount) and completeness.seen else 1.0
    )
    present = round(share * size)
    seed = zlib.crc32(column.label.encode("utf-8", "surrogatepass"))
    if column.kind in NUMERIC or column.kind in TEMPORAL:
        values = _make_numbers(find_state("quantiles"), find_state("moments"), present, column.kind)
    elif column.kind is Kind.STRING:
        generator = _TextGenerator(find_state("frequent_patterns"), find_state("characters"), seed)
        values = _make_texts(find_state("frequent_values"), generator, present)
    else:
        return None
    if values is None or not present:
        return None
    order = np.random.default_rng(seed).permutation(size)
    return pa.concat_arrays([values, pa.nulls(size - present, values.type)]).take(pa.array(order))


def _make_numbers(quantiles: State | None, moments: State | None, count: int, kind: Kind) -> pa.Array | None:
    if not isinstance(quantiles, Quantiles) or not quantiles.total or not count:
        return None
    # Evenly spaced quantiles, not random ones: a small sample then has the distribution of the column.
    ranks = (np.arange(count) + 0.5) / count
    values = quantiles.quantiles(ranks)
    if isinstance(moments, Moments) and moments.low is not None and moments.high is not None and count > 1:
        values[0], values[-1] = moments.low, moments.high
    if kind is Kind.BOOLEAN:
        return pa.array(values >= 0.5)
    if kind is Kind.INTEGER:
        return pa.array(np.clip(np.rint(values), -(2.0**62), 2.0**62).astype(np.int64))
    if kind in TEMPORAL:
        return pa.array(np.clip(values, -1e11, 1e11).astype(np.int64) * 1_000_000).cast(pa.timestamp("us"))
    return pa.array(values)


def _make_texts(values: State | None, generator: _TextGenerator, count: int) -> pa.Array | None:
    if not isinstance(values, Frequencies) or not values.total or not count:
        return None
    counts = np.sort(np.array(list(values.labels().values()), np.float64))[::-1]
    rare_share = max(0.0, 1 - counts.sum() / values.total) if len(counts) else 1.0
    indices = _draw_indices(np.append(counts / values.total, rare_share), count)
    frequent = generator.make_texts(max([index + 1 for index in indices if index < len(counts)], default=0))
    rare = iter(generator.make_texts(indices.count(len(counts)), first=len(counts)))
    return pa.array([next(rare) if index == len(counts) else frequent[index] for index in indices], pa.string())


def _draw_indices(shares: npt.NDArray[np.float64], count: int) -> list[int]:
    """Indices drawn by systematic sampling: each occurs in proportion to its share, give or take one."""
    ends = np.cumsum(shares / shares.sum())
    points = (np.arange(count) + 0.5) / count
    indices: list[int] = np.minimum(np.searchsorted(ends, points), len(shares) - 1).tolist()
    return indices


class _TextGenerator:
    """Generates texts that follow the patterns of a column.

    A pattern has one symbol for each run of letters or digits. The length of a run is its average in the column.
    """

    def __init__(self, patterns: State | None, characters: State | None, seed: int) -> None:
        self.seed = seed
        known = patterns.labels() if isinstance(patterns, Frequencies) else {}
        self.patterns = list(known) or [_DEFAULT_PATTERN]
        weights = np.array(list(known.values()) or [1], np.float64)
        self.cumulative_shares = np.cumsum(weights / weights.sum())
        totals = characters if isinstance(characters, Characters) else Characters()
        shares = weights / weights.sum()
        runs = {symbol: np.array([each.count(symbol) for each in self.patterns]) for symbol in _ALPHABETS}
        mixed = runs["X"] + runs["x"]
        self.letter_run = self._mean_run_length(totals.letters, totals.values, runs["A"] + runs["a"] + mixed, shares)
        self.digit_run = self._mean_run_length(totals.digits, totals.values, runs["9"] + mixed, shares)
        self.mixed_run = self._mean_run_length(totals.letters + totals.digits, totals.values, mixed, shares)

    @staticmethod
    def _mean_run_length(
        characters: int, values: int, runs: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]
    ) -> int:
        runs_per_value = float(np.dot(runs, shares))
        return max(1, round(characters / values / runs_per_value)) if values and runs_per_value else 1

    def make_texts(self, count: int, first: int = 0) -> list[str]:
        """So many texts, different ones as far as the patterns allow. The text of a number is always the same."""
        known: set[str] = set()
        made = []
        for number in range(first, first + count):
            rng = np.random.default_rng([self.seed, number])
            text = self._make_text(rng)
            for _ in range(_TRIES):
                if text not in known:
                    break
                text = self._make_text(rng)
            known.add(text)
            made.append(text)
        return made

    def _make_text(self, rng: np.random.Generator) -> str:
        pattern = self.patterns[min(int(np.searchsorted(self.cumulative_shares, rng.random())), len(self.patterns) - 1)]
        return "".join(self._expand_symbol(symbol, rng) for symbol in pattern)

    def _expand_symbol(self, symbol: str, rng: np.random.Generator) -> str:
        alphabet = _ALPHABETS.get(symbol)
        if alphabet is None:
            return symbol
        length = {"9": self.digit_run, "X": self.mixed_run, "x": self.mixed_run}.get(symbol, self.letter_run)
        return "".join(alphabet[index] for index in rng.integers(0, len(alphabet), length))
