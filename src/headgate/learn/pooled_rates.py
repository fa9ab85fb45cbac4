"""Pooled rates: how often the next value of a metric was surprising, and how rare good batches were, on many tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.history.series_kinds import ALL_KINDS, CONSTANT
from headgate.learn.metric_traits import Family, MetricTraits
from headgate.learn.rarity_limit import BatchRates, fit_batch_rates
from headgate.values.rarity_memory import Part

Floats = npt.NDArray[np.float64]
Kinds = npt.NDArray[np.int64]

HISTORY_LENGTHS = (7, 14, 28)  # runs; a history uses the curves of the largest length that it reaches
SHORT_LENGTHS = (1, 3)  # runs, of histories that only have coarse limits
VARYING = len(ALL_KINDS)
"""Stands for all kinds of series that vary."""
COARSE = "coarse_limits"
"""The curve of the largest factor by which anything with a coarse limit is less or more than before."""


class RateCurve(msgspec.Struct, frozen=True):
    """The share of next values whose surprise exceeded each reach of the grid, out of `seen` values (weighted)."""

    seen: float
    shares: tuple[float, ...]


TableRarities = dict[str, dict[str, int]]
"""How rare the good batches of a table were: by part and history length, how many are in each step of rarity."""


class PooledRates(msgspec.Struct, frozen=True, dict=True):
    """Curves over `grid`, by name of the metric or of its family, kind of series, and history length.

    The curves of constant series say how often a metric that never changed does change in the next run, and how much:
    some metrics are constant by design, others by chance. `tables` says how rare the parts of whole batches are, by
    table, and `levels` with which level those of a table were compared.
    """

    grid: tuple[float, ...]
    curves: dict[str, RateCurve]
    tables: dict[str, TableRarities] = {}
    levels: dict[str, float] = {}
    prior: float = 300.0  # how many values a family weighs beside one of its metrics, and all kinds beside one

    def value_rates(self, metrics: Sequence[MetricTraits], kinds: Kinds, runs: int) -> Floats:
        """The share of next values of each metric (first axis) whose surprise exceeds each reach of the grid (second).

        It is the curve of its name and kind, shrunk towards that of its family and kind, which is shrunk towards that
        of the family and all kinds that vary.
        """
        length = find_length(runs)
        asked = [(each.key.name, each.family, kind) for each, kind in zip(metrics, kinds.tolist(), strict=True)]
        found = {each: self._find_rates(*each, length) for each in set(asked)}
        return np.array([found[each] for each in asked]).reshape(len(metrics), len(self.grid))

    def table_rates(self, name: str, runs: int) -> Floats:
        """The share of runs of which the largest surprise exceeds each reach of the grid; 1 if nothing is known."""
        lengths = (length for length in (*HISTORY_LENGTHS[::-1], *SHORT_LENGTHS[::-1]) if length <= runs)
        keys = (make_curve_key(name, VARYING, length) for length in lengths)
        curve = next((self.curves[key] for key in keys if key in self.curves), None)
        return np.ones(len(self.grid)) if curve is None else _add_half(curve)

    def batch_rates(self, part: Part, runs: int) -> BatchRates:
        """How rare a part of a batch is in other tables that have a history of about this length."""
        return self._batches.get(make_batch_key(part, find_length(runs)), BatchRates())

    @cached_property
    def _batches(self) -> dict[str, BatchRates]:
        keys = sorted({key for table in self.tables.values() for key in table})
        tables = [self.tables[name] for name in sorted(self.tables)]
        return {
            key: fit_batch_rates([each[key] for each in tables if key in each], self.levels.get(key, 0.0))
            for key in keys
        }

    def _find_rates(self, name: str, family: Family, kind: int, length: int) -> Floats:
        common = name_family(family)
        whole = self.curves.get(make_curve_key(common, CONSTANT if kind == CONSTANT else VARYING, length))
        if whole is None:
            return np.zeros(len(self.grid))
        rates = _add_half(whole)
        for each in (name,) if kind == CONSTANT else (common, name):
            curve = self.curves.get(make_curve_key(each, kind, length))
            if curve is not None:
                rates = (np.array(curve.shares) * curve.seen + self.prior * rates) / (curve.seen + self.prior)
        return rates


def _add_half(curve: RateCurve) -> Floats:
    """The shares of a curve. Half a value is added: 0 of finitely many does not prove that it never happens."""
    return (np.array(curve.shares) * curve.seen + 0.5) / (curve.seen + 1.0)


def find_length(runs: int) -> int:
    """The length of a history whose curves are used.

    >>> find_length(20)
    14
    """
    return max(each for each in HISTORY_LENGTHS if each <= max(runs, HISTORY_LENGTHS[0]))


def name_family(family: Family) -> str:
    """The name of the curves of a family."""
    return f"*{family.value}"


def make_curve_key(name: str, kind: int, length: int) -> str:
    words = {CONSTANT: "constant", VARYING: "varying"}
    return f"{name} {words.get(kind, f'varying {kind}')}, {length} runs"


def make_batch_key(part: Part, length: int) -> str:
    return f"{part.value}, {length} runs"


@cache
def load_pooled_rates() -> PooledRates:
    """The rates that ship with the package; `python -m training.pooled_rates` computes them."""
    text = (files("headgate.learn") / "pooled_rates.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=PooledRates)


def format_pooled_rates(pooled_rates: PooledRates) -> str:
    """The rates as JSON with one line per curve, so that a change can be reviewed."""
    head = f'{{"grid": {json.dumps(pooled_rates.grid)}, "prior": {pooled_rates.prior}'
    curves = _format_lines(pooled_rates.curves)
    tables = _format_lines(pooled_rates.tables)
    levels = json.dumps(pooled_rates.levels, sort_keys=True)
    return f'{head}, "levels": {levels}, "tables": {{\n{tables}\n}}, "curves": {{\n{curves}\n}}}}\n'


def _format_lines(items: Mapping[str, RateCurve] | Mapping[str, TableRarities]) -> str:
    lines = (f"  {json.dumps(key)}: {msgspec.json.encode(each).decode()}" for key, each in sorted(items.items()))
    return ",\n".join(lines)
