"""Fixed rules in the manner of Deequ's suggestions, with the history as the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.history.baselines.method import BOTH, values
from benchmarks.history.columns import Floats

Broken = npt.NDArray[np.bool_]

_SLACK = 1e-6  # of a sketch's estimate
_FEW = 0.1  # the share of distinct values up to which a column is one of categories
_MOST_CHANGE = 2.0


class DeequRules:
    """The number of rules that the batch breaks; a rule is what held for every batch of the history.

    Completeness not below its least; no negative number where there was none; numbers and lengths within those seen;
    of categories no more distinct values than ever; all different where they always were; rows within a factor of 2 of
    the last batch.
    """

    name = "Deequ rules"
    groups = BOTH
    usual = 1.0
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = values(names, history), values(names, tests)
        rules = [*_bounds(past, now), _negative(past, now), _categories(past, now), _different(past, now)]
        return np.sum([_volume(past, now), *rules], axis=0).astype(float)


def _bounds(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> list[Broken]:
    below = [now[name] < _least(past[name]) for name in ("completeness", "min", "min_length") if name in now]
    above = [now[name] > _most(past[name]) for name in ("max", "max_length") if name in now]
    return below + above


def _negative(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Broken:
    if "min" not in now:
        return np.zeros(len(now["size"]), np.bool_)
    return (now["min"] < 0) & (_least(past["min"]) >= 0)


def _categories(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Broken:
    few = _most(past["unique_ratio"]) <= _FEW
    return few & (now["approx_count_distinct"] > _most(past["approx_count_distinct"]) * (1 + _SLACK))


def _different(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Broken:
    return (_least(past["unique_ratio"]) >= 1 - _SLACK) & (now["unique_ratio"] < 1 - _SLACK)


def _volume(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Broken:
    ratio = now["size"] / np.maximum(past["size"][-1], 1.0)
    return (ratio > _MOST_CHANGE) | (ratio < 1 / _MOST_CHANGE)


def _least(past: Floats) -> float:
    """The least that was seen; of what was never there, NaN: no number breaks that rule."""
    return float(np.fmin.reduce(past))


def _most(past: Floats) -> float:
    return float(np.fmax.reduce(past))
