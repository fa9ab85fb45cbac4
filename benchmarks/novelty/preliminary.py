"""The paper's Table 1 on Online Retail: seven detectors, three errors at 30%, learned from all days before.

The paper's statistics are numbers, which a store keeps as they are, so it does not matter whether it hides values.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.novelty.candidates import CANDIDATES, labels
from benchmarks.novelty.data import RETAIL, START, daily
from benchmarks.novelty.errors import ERRORS, overwritten
from benchmarks.novelty.grid import EVERY, random
from benchmarks.novelty.protocol import Confusion
from benchmarks.novelty.vectors import Floats, Vectors, numbers, profile, spread

MAGNITUDE = 0.30
NUMBER = "UnitPrice"
WRONG = {
    "explicit missing values": None,  # in all columns that it suits
    "implicit missing values": None,
    "numeric anomalies": (NUMBER,),
}


def preliminary() -> dict[str, Any]:
    """What each detector found of each error, and how long it took for a batch."""
    clean, broken = _vectors()
    days = range(START, len(clean), EVERY)
    return {
        "days": len(days),
        "magnitude": MAGNITUDE,
        "number": NUMBER,
        "detectors": {name: _judged(name, clean, broken, days) for name in CANDIDATES},
    }


def _judged(name: str, clean: Floats, broken: Floats, days: range) -> dict[str, Any]:
    began = time.perf_counter()
    found = [labels(CANDIDATES[name], clean[:at], np.vstack([clean[at], broken[:, at]])) for at in days]
    spent = (time.perf_counter() - began) / len(days)
    told = {error: Confusion.of((row[0], row[1 + place]) for row in found).told() for place, error in enumerate(WRONG)}
    print(f"{name}: {spent:.3f} s a day", {error: each["auc"] for error, each in told.items()}, flush=True)
    return {"seconds": round(spent, 4), "errors": told}


@cache
def _vectors() -> tuple[Floats, Floats]:
    """Of every day as it is; and with each error, by error and day."""
    batches = list(daily(RETAIL).batches())
    clean = Vectors.of({partition: profile(table) for partition, table in batches})
    broken = np.full((len(WRONG), *clean.values.shape), np.nan)
    for at in range(START, len(batches), EVERY):
        for place, error in enumerate(WRONG):
            found = profile(_wrong(*batches[at], error))
            broken[place, at] = spread(numbers(found.outcomes), clean.keys)
    return clean.values, broken


def _wrong(partition: str, table: pa.Table, name: str) -> pa.Table:
    error, rng = ERRORS[name], random(partition, name, "preliminary")
    chosen = WRONG[name] or error.suits(table)
    return overwritten(table, error.apply(table, list(chosen), MAGNITUDE, rng))
