"""A view over thousands of parts: 2,000 days of a table with 40 columns, from their states alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.engine.data import mixed_chunk
from benchmarks.timing import in_turn, seconds
from headgate.engine.parts import Parts
from headgate.values.codec import pack_state

COLUMNS = 40
TEN = (
    "size()", "mean(n0)", "max(n1)", "stddev(n2)", "median(n3)", "approx_quantile(n4, q=0.9)", "completeness(s1)",
    "approx_count_distinct(s0)", "str_len(s2)", "value_distribution(s3)",
)  # fmt: skip
MEDIANS = tuple(f"median(n{at})" for at in range(10))


def many_parts(count: int, rows: int) -> Parts:
    """Parts as one analysis by day would give them, made day by day because that needs less memory.

    Their columns are those of the engine's benchmark: half numbers, half strings, of which a quarter are nearly unique.
    """
    states = {}
    for day in range(count):
        table = mixed_chunk(np.random.default_rng(day), rows, COLUMNS - 1)
        one = hg.analyze(table.append_column("day", pa.array(np.repeat(day, rows))), by="day")
        (name,) = one
        states[name] = one[name].states
    return Parts(one.by, one.schema, one.metrics, states, one.failed)


def view_times(parts: Parts, rows: int, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    names = list(parts)
    some = [names[at] for at in rng.permutation(len(names))[: len(names) // 2]]

    def view(chosen: Sequence[Any] | None, metrics: Sequence[str] | None) -> Callable[[], Any]:
        return lambda: parts.view(chosen, metrics=metrics).outcomes

    first = seconds(view(None, None))  # lays the states out as arrays
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
        "rows_a_part": rows,
        "columns": len(parts.schema.columns),
        "metrics": len(parts.metrics),
        "states": len(states),
        "state_mb": size / 1e6,
        "first_view_seconds": first,
        "seconds": taken,
        "median_seconds": {name: statistics.median(spent) for name, spent in taken.items()},
        "summary": {name: statistics.median(spent) for name, spent in taken.items()},
    }
