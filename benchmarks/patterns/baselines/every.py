"""All baselines, in the order of tables."""

from __future__ import annotations

import pyarrow as pa

from benchmarks.patterns.baselines import dictionary, fractional_dictionary, grok, potters_wheel, schema_matching
from benchmarks.patterns.protocol import Method


def methods(rest: pa.Table) -> list[Method]:
    """Every baseline. Those by schema matching read the columns of `rest`."""
    return [
        potters_wheel.METHOD,
        *schema_matching.methods(rest),
        grok.METHOD,
        *dictionary.METHODS,
        *fractional_dictionary.METHODS,
    ]
