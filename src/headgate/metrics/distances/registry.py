"""Where distances are found: a file in this folder that declares one is all it takes to add it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any, TypeVar

from headgate.metrics.distances.distance import Distance
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind

D = TypeVar("D", bound=type[Distance[Any]])

_found: dict[str, type[Distance[Any]]] = {}


def distance(kind: D) -> D:
    """Register a distance under its stored name."""
    if kind.name in _found and _found[kind.name].__module__ != kind.__module__:
        raise MisuseError(
            f"two distances are named {kind.name!r}: {_found[kind.name].__module__} and {kind.__module__}.",
            hint="Give one of them another name.",
        )
    _found[kind.name] = kind
    return kind


def distances() -> dict[str, type[Distance[Any]]]:
    """Every distance by its stored name, in alphabetical order."""
    _import_all()
    return dict(sorted(_found.items()))


@cache
def distances_for(kind: Kind) -> tuple[type[Distance[Any]], ...]:
    """The distances that accept columns of a kind.

    >>> [each.name for each in distances_for(Kind.FLOAT)][:5]
    ['cohen_d', 'emd', 'js_div', 'kl_div', 'ks_dist']
    """
    return tuple(each for each in distances().values() if kind in each.accepts)


@cache
def _import_all() -> None:
    import headgate.metrics.distances as folder

    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")
