"""Imports libraries of the extra `learn` on first use. Tested by `tests/learn/anomaly/test_holt_winters.py`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from headgate.values.errors import MisuseError


def import_extra(module: str) -> ModuleType:
    """The module, or an error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name.partition(".")[0]):
            raise
        name = module.partition(".")[0]
        raise MisuseError(f"this detector needs {name}.", hint='pip install "headgate[learn]"') from None
