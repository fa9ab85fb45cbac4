"""`python -m training.pattern_rates`: how often rules of each estimated rate are broken by good values.

Rules are learned from the columns of the development set with an index that has none of them, and held against the
later values of their columns. Columns of one source are alike, so rules count as fewer: by the factor by which the
variance between sources is larger than that of independent rules. The rate of the rules of a bin of estimates is the
upper end of its 80% credible interval; rates rise with the estimate.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.stats import beta

from benchmarks.patterns import experiments
from headgate.learn.patterns import alarm_rates
from headgate.learn.patterns.alarm_rates import AlarmRates

TARGET = Path(alarm_rates.__file__).with_suffix(".json")
BINS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.9)
"""Ends of the bins of estimates: of fewer rules, the interval is too wide to tell one bin from the next."""
UPPER_END = 0.9
PRIOR = 0.5  # a rule that is broken and one that is not, so much of each
RISE = 1e-4  # at least, from one bin to the next: so each rate has one estimate
Floats = npt.NDArray[np.float64]


class Rules(NamedTuple):
    """Rules, each with its source, the rate that the index estimates, and whether later values broke it."""

    sources: npt.NDArray[np.str_]
    estimates: Floats
    broken: Floats


def main() -> None:
    found = [each for each in experiments.hold_rules() if each.chosen == "dev"]
    rules = Rules(
        np.array([each.source for each in found]),
        np.array([each.estimate for each in found]),
        np.array([float(each.is_broken) for each in found]),
    )
    rates = fit_rates(rules)
    TARGET.write_bytes(msgspec.json.encode(rates) + b"\n")
    print(f"{len(found)} rules of {len(set(rules.sources))} sources: {rates}")


def fit_rates(rules: Rules) -> AlarmRates:
    """The upper ends of the rates of the bins, at the mean estimates of their rules."""
    estimates, rates, counts = [], [], []
    for low, high in pairwise(BINS):
        chosen = (rules.estimates >= low) & (rules.estimates < high)
        factor = find_design_factor(rules.broken[chosen], rules.sources[chosen])
        broken, count = float(rules.broken[chosen].sum()) / factor, float(chosen.sum()) / factor
        estimates.append(float(rules.estimates[chosen].mean()))
        rates.append(float(beta.ppf(UPPER_END, PRIOR + broken, PRIOR + count - broken)))
        counts.append(count)
    rising = isotonic_regression(rates, weights=counts).x + RISE * np.arange(len(rates))
    return AlarmRates(tuple(np.round(estimates, 5).tolist()), tuple(np.round(rising, 5).tolist()))


def find_design_factor(broken: Floats, sources: npt.NDArray[np.str_]) -> float:
    """How many of these rules count as one rule of a source of its own; at least 1."""
    share = float(broken.mean())
    if not 0.0 < share < 1.0:
        return 1.0
    _, at = np.unique(sources, return_inverse=True)
    by_source = np.bincount(at, broken - share)
    return max(1.0, float((by_source**2).sum()) / (share * (1.0 - share) * len(broken)))


if __name__ == "__main__":
    main()
