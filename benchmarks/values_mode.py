"""Whether benchmarks learn from hidden values, as a store keeps them by default, or from plain ones.

`HEADGATE_VALUES=plain` measures with plain values. What is cached and what is written says which of the two it is of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import headgate as hg
from headgate.store.port import HistoryStore
from headgate.values.key import MetricKey
from headgate.values.state import State

VALUES: Literal["hidden", "plain"] = "plain" if os.environ.get("HEADGATE_VALUES") == "plain" else "hidden"
SECRET = None if VALUES == "plain" else b"a secret of the benchmark, 32 by"


def open_memory() -> HistoryStore:
    """A store in memory, as `open_store` gives it, in the mode of this run."""
    return hg.open_store("memory:", values=VALUES)


def hide_states(states: Mapping[MetricKey, State]) -> dict[MetricKey, State]:
    """The states as a store keeps them."""
    return {key: state if SECRET is None else state.hide_values(SECRET) for key, state in states.items()}


def hide_analysis(analysis: hg.Analysis) -> hg.Analysis:
    """An analysis with the states as a store keeps them; the numbers measured from them are the same."""
    return hg.Analysis(analysis.schema, analysis.metrics, hide_states(analysis.states), analysis.failed)


def describe_values(results: Mapping[str, Mapping[str, Any] | None], command: str) -> str:
    """For a page: with which values its parts were measured, and the command that measures them in either mode.

    Results that do not say it were measured with plain values.

    >>> print(describe_values({"columns": {}}, "make bench-gate"))
    Measured with plain values: columns.
    `make bench-gate` measures with hidden values, with `HEADGATE_VALUES=plain` before it with plain ones.
    """
    modes = {part: found.get("values", "plain") for part, found in results.items() if found is not None}
    names = {"hidden": "hidden values, as a store keeps them", "plain": "plain values"}
    parts = {mode: ", ".join(part for part, own in modes.items() if own == mode) for mode in names}
    said = [f"Measured with {names[mode]}: {parts[mode]}." for mode in names if parts[mode]]
    both = f"`{command}` measures with hidden values, with `HEADGATE_VALUES=plain` before it with plain ones."
    return "\n".join([*said, both])
