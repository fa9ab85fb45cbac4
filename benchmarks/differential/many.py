"""A view over thousands of parts: 2,000 days of a table with 40 columns, from their states alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.timing import in_turn
from headgate.engine.parts import Parts
from headgate.values.codec import pack_state

ROWS = 500  # of a part; the states of larger ones are hardly larger, but take long to make
WORDS = np.array([f"word {at}" for at in range(1_000)])

TEN = (
    "size()", "mean(f0)", "max(f1)", "stddev(f2)", "median(f3)", "approx_quantile(f4, q=0.9)", "completeness(c1)",
    "approx_count_distinct(u0)", "str_len(t0)", "value_distribution(c3)",
)  # fmt: skip
MEDIANS = tuple(f"median(f{at})" for at in range(10))


def many_parts(count: int) -> Parts:
    """Parts as one analysis by day would give them, made day by day because that needs less memory."""
    states = {}
    for day in range(count):
        one = hg.analyze(_rows(np.random.default_rng(day), day), by="day")
        (name,) = one
        states[name] = one[name].states
    return Parts(one.by, one.schema, one.metrics, states, one.failed)


def _rows(rng: np.random.Generator, day: int) -> pa.Table:
    """40 columns: the day, 13 of doubles, 7 of integers, 5 of ids, 10 of categories, 4 of skewed words."""
    columns: dict[str, Any] = {"day": np.repeat(day, ROWS)}
    columns |= {f"f{at}": rng.normal(at, 1, ROWS) for at in range(13)}
    columns |= {f"i{at}": rng.integers(0, 10 ** (at + 1), ROWS) for at in range(7)}
    columns |= {f"u{at}": [f"{each:016x}" for each in rng.integers(0, 2**62, ROWS)] for at in range(5)}
    columns |= {f"c{at}": WORDS[rng.integers(0, 5 * (at + 1) ** 2, ROWS)] for at in range(10)}
    columns |= {f"t{at}": WORDS[np.minimum(rng.zipf(1.3, ROWS), 999)] for at in range(4)}
    return pa.table(columns)


def view_times(parts: Parts, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    names = list(parts)
    some = [names[at] for at in rng.permutation(len(names))[: len(names) // 2]]

    def view(chosen: Sequence[Any] | None, metrics: Sequence[str] | None) -> Callable[[], Any]:
        return lambda: parts.view(chosen, metrics=metrics).outcomes

    taken = in_turn(
        {
            "all parts, all metrics": view(None, None),
            "a random half, all metrics": view(some, None),
            "all parts, ten metrics": view(None, TEN),
            "all parts, ten medians of ten columns": view(None, MEDIANS),
        },
        rounds,
    )
    states = [state for name in names for state in parts[name].states.values()]
    size = sum(len(pack_state(state)) for state in states)
    return {
        "parts": len(parts),
        "columns": len(parts.schema.columns),
        "metrics": len(parts.metrics),
        "states": len(states),
        "state_mb": size / 1e6,
        "seconds": taken,
        "median_seconds": {name: statistics.median(spent) for name, spent in taken.items()},
        "summary": {name: statistics.median(spent) for name, spent in taken.items()},
    }
