"""How often the next value of a metric surprises by more than so much: evidence pooled over many real series."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LENGTHS = (7, 14, 28)  # runs from which on the evidence of short, middling and long histories is used
_ANY = "*"


class Curve(msgspec.Struct, frozen=True):
    """Among how many next values (`seen`, weighted) which share surprised by more than each reach of the grid."""

    seen: float
    shares: tuple[float, ...]


class Tails(msgspec.Struct, frozen=True):
    """Pooled evidence: curves over `grid` by metric's name (`*` for all), constant or not, and length of the history.

    Which constancies are laws and which accidents is in here: how often a metric that was the same for so many runs
    changed in the next, and by how much, over all series of all tables that were looked at.
    """

    grid: tuple[float, ...]
    curves: dict[str, Curve]
    prior: float = 2_000.0  # with how many values the curve of all metrics stands beside that of one

    def of(self, name: str, constant: bool, runs: int) -> Floats:
        """The share of next values beyond each reach of the grid, never 0: half a value more than was seen."""
        length = max(each for each in LENGTHS if each <= max(runs, LENGTHS[0]))
        own = self.curves.get(curve_key(name, constant, length), Curve(0.0, (0.0,) * len(self.grid)))
        whole = self.curves.get(curve_key(_ANY, constant, length))
        if whole is None:
            return np.zeros(len(self.grid))
        base = (np.array(whole.shares) * whole.seen + 0.5) / (whole.seen + 1.0)
        return (np.array(own.shares) * own.seen + self.prior * base) / (own.seen + self.prior)


def curve_key(name: str, constant: bool, length: int) -> str:
    return f"{name} {'constant' if constant else 'varying'} {length}"


@cache
def pooled() -> Tails:
    """The evidence that comes with the package; `python -m training.pooled_rates` gathers it again."""
    text = (files("headgate.learn") / "pooled_rates.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=Tails)


def write(tails: Tails) -> str:
    """The evidence as text, a line for each curve, so that a change can be reviewed."""
    lines = [
        f"  {json.dumps(key)}: {msgspec.json.encode(curve).decode()}" for key, curve in sorted(tails.curves.items())
    ]
    head = f'{{"grid": {json.dumps(tails.grid)}, "prior": {tails.prior}, "curves": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"
