"""Fixed rules in the manner of TensorFlow Data Validation: a schema from the history, and drift comparators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.history.baselines.method import BOTH, values
from benchmarks.history.columns import Floats

DRIFT = 0.01  # the threshold of the guide's examples
ENUM = 400.0  # distinct values up to which a schema lists a text column's domain
_SLACK = 1e-6  # of a sketch's estimate


class TfdvRules:
    """How many times the threshold the worst rule is passed; above 1 is an anomaly.

    Drift from the batch before: L-infinity of the values of text, Jensen-Shannon divergence of numbers, at most 0.01.
    Presence: no missing value where there never was one. Domain: no new value in a text column of up to 400; read off
    the number of distinct values, so a new value in place of an old one is missed. A broken rule of presence or
    domain is 1 and more, by hundredths of the values.
    """

    name = "TFDV rules"
    groups = BOTH
    usual = 1.0
    every = 1

    def scores(self, history: Floats, tests: Floats, names: Sequence[str]) -> Floats:
        past, now = values(names, history), values(names, tests)
        drift = now["js_div"] if "js_div" in now else now["value_l_inf"]
        rules = [np.nan_to_num(drift) / DRIFT, _presence(past, now)]
        return np.max(rules if "js_div" in now else [*rules, _domain(past, now)], axis=0)


def _presence(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Floats:
    missing = np.nan_to_num(1.0 - now["completeness"])
    required = np.fmin.reduce(past["completeness"]) == 1.0
    return np.where(required & (missing > 0), 1.0 + missing / DRIFT, 0.0)


def _domain(past: Mapping[str, Floats], now: Mapping[str, Floats]) -> Floats:
    known = np.fmax.reduce(past["approx_count_distinct"])
    new = np.nan_to_num(now["approx_count_distinct"]) / np.maximum(known, 1.0) - 1.0
    return np.where((known <= ENUM) & (new > _SLACK), 1.0 + new / DRIFT, 0.0)
