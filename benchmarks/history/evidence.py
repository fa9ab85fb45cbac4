"""The pooled rates that a dataset is judged by: gathered without it."""

from __future__ import annotations

from functools import cache

from headgate.learn.pooled_rates import PooledRates
from training.pooled_rates import read_rates


@cache
def tails_for(folder: str) -> PooledRates:
    """Evidence gathered without the dataset that is judged by it."""
    return read_rates(folder)
