"""Imports libraries of the extra `learn` on first use. Tested by `tests/learn/anomaly/test_holt_winters.py`."""

from __future__ import annotations

from types import ModuleType

from headgate.values.extras import import_extra


def import_statistics(module: str) -> ModuleType:
    """A module of scipy or statsmodels, or an error that says how to install it."""
    return import_extra(module, f"this detector needs {module.partition('.')[0]}.", "learn")
