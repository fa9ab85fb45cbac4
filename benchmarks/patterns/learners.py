"""Where the learner's own methods enter the comparison."""

from __future__ import annotations

import pyarrow as pa

from benchmarks.patterns.protocol import Method


def methods(rest: pa.Table) -> list[Method]:
    """The learner's methods. `rest` holds the columns that an index may be built from: `col_id`, `repo`, `values`."""
    return []
