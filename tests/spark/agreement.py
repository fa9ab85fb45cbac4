"""How alike two analyses of the same rows must be: exactly, but for the rounding of floats and errors of sketches."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from headgate.engine.analysis import Analysis
from headgate.metrics.base.metric import Metric
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.outcome import Distribution, Measured, Outcome
from headgate.values.state import State

RELATIVE = 1e-9  # float sums differ with the order of merging
ABSOLUTE = 1e-9


def differences(one: Analysis, two: Analysis, metrics: list[Metric[Any]]) -> list[str]:
    """A line for each of these metrics in which the two differ, in value or in state."""
    found = []
    for metric in metrics:
        why = _outcomes_differ(one, two, metric) or _states_differ(one, two, metric)
        if why:
            found.append(f"{metric.key}: {why}")
    return found


def _outcomes_differ(one: Analysis, two: Analysis, metric: Metric[Any]) -> str:
    mine, theirs = one[metric], two[metric]
    match mine, theirs:
        case Measured(Distribution() as a), Measured(Distribution() as b):
            alike = _within_error(a, b)
        case Measured(float(a)), Measured(float(b)):
            alike = close(a, b) or abs(a - b) <= max(_share_lost(each.states[metric.state_key]) for each in (one, two))
        case _:
            alike = mine == theirs
    return "" if alike else f"{_short(mine)} is not {_short(theirs)}"


def close(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _share_lost(state: State) -> float:
    """By how much a share may be understated, where not all frequent labels could be kept."""
    return state.lost / state.total if isinstance(state, Frequencies) else 0.0


def _within_error(one: Distribution, two: Distribution) -> bool:
    if not one.error and not two.error:
        return one == two and list(one.counts) == list(two.counts)
    gaps = [abs(one.counts.get(label, 0) - two.counts.get(label, 0)) for label in {*one.counts, *two.counts}]
    return one.total == two.total and max(gaps, default=0) <= max(one.error, two.error)


def _states_differ(one: Analysis, two: Analysis, metric: Metric[Any]) -> str:
    """States of counts, hashes and sketches that do not depend on order are equal to the byte."""
    mine, theirs = one.states.get(metric.state_key), two.states.get(metric.state_key)
    if isinstance(mine, Quantiles):
        return "" if mine == theirs else "the quantiles differ"
    if mine is None or theirs is None or isinstance(mine, Frequencies) or _has_floats(msgspec.to_builtins(mine)):
        return ""
    return "" if mine == theirs else f"the states {type(mine).__name__} differ"


def _has_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_floats(each) for each in value.values())
    return isinstance(value, float)


def _short(outcome: Outcome) -> str:
    return repr(outcome)[:200]
