"""Imports libraries that an extra brings."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from headgate.values.errors import MisuseError


def import_extra(module: str, message: str, extra: str) -> ModuleType:
    """The module. If its library is not installed, `message` says so, and the hint says what to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MisuseError(message, hint=f'pip install "headgate[{extra}]"') from None
