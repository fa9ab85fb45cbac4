"""How often the next value of a metric surprises by more than so much: evidence pooled over many real series."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HISTORY_LENGTHS = (7, 14, 28)  # runs from which on the evidence of short, middling and long histories is used
_ALL_METRICS = "*"


class RateCurve(msgspec.Struct, frozen=True):
    """Among how many next values (`seen`, weighted) which share surprised by more than each reach of the grid."""

    seen: float
    shares: tuple[float, ...]


class PooledRates(msgspec.Struct, frozen=True):
    """Pooled evidence: curves over `grid` by metric's name (`*` for all), constant or not, and length of the history.

    Which constancies are laws and which accidents is in here: how often a metric that was the same for so many runs
    changed in the next, and by how much, over all series of all tables that were looked at.
    """

    grid: tuple[float, ...]
    curves: dict[str, RateCurve]
    prior: float = 2_000.0  # with how many values the curve of all metrics stands beside that of one

    def exceedance_rates(self, name: str, constant: bool, runs: int) -> Floats:
        """The share of next values beyond each reach of the grid, never 0: half a value more than was seen."""
        length = max(each for each in HISTORY_LENGTHS if each <= max(runs, HISTORY_LENGTHS[0]))
        own_curve = self.curves.get(make_curve_key(name, constant, length), RateCurve(0.0, (0.0,) * len(self.grid)))
        common_curve = self.curves.get(make_curve_key(_ALL_METRICS, constant, length))
        if common_curve is None:
            return np.zeros(len(self.grid))
        common_rates = (np.array(common_curve.shares) * common_curve.seen + 0.5) / (common_curve.seen + 1.0)
        return (np.array(own_curve.shares) * own_curve.seen + self.prior * common_rates) / (own_curve.seen + self.prior)


def make_curve_key(name: str, constant: bool, length: int) -> str:
    return f"{name} {'constant' if constant else 'varying'} {length}"


@cache
def load_pooled_rates() -> PooledRates:
    """The evidence that comes with the package; `python -m training.pooled_rates` gathers it again."""
    text = (files("headgate.learn") / "pooled_rates.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=PooledRates)


def format_pooled_rates(pooled_rates: PooledRates) -> str:
    """The evidence as text, a line for each curve, so that a change can be reviewed."""
    lines = [
        f"  {json.dumps(key)}: {msgspec.json.encode(curve).decode()}"
        for key, curve in sorted(pooled_rates.curves.items())
    ]
    head = f'{{"grid": {json.dumps(pooled_rates.grid)}, "prior": {pooled_rates.prior}, "curves": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"
