"""The registry of metrics. A new file in `headgate.metrics` that declares a metric is enough to add it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache, lru_cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, PredicateMetric, TableMetric
from headgate.values.errors import BadMetricKey, MisuseError, UnknownMetric, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.schema import Schema

M = TypeVar("M", bound=type[Metric[Any]])

_SNAKE = re.compile(r"[a-z][a-z0-9_]*")
_ARITY: dict[type[Any], int] = {TableMetric: 0, PredicateMetric: 0, ColumnMetric: 1, PairMetric: 2}
_SCHEMAS = 8  # for which the default metrics are kept: the batches of a table have one schema
_found: dict[str, type[Metric[Any]]] = {}


def metric(kind: M) -> M:
    """Register a metric under its stored name. Without `folded`, its state has the same name and is not shared."""
    if not _SNAKE.fullmatch(kind.name):
        raise MisuseError(f"{kind.name!r} cannot be a stored name.", hint="Write it in snake_case.")
    if kind.name in _found and _found[kind.name].__module__ != kind.__module__:
        raise MisuseError(f"two metrics are named {kind.name!r}: {_found[kind.name].__module__} and {kind.__module__}.")
    if not hasattr(kind, "folded"):
        kind.folded = kind.name
    _found[kind.name] = kind
    return kind


def metrics() -> dict[str, type[Metric[Any]]]:
    """Every metric by its stored name, in alphabetical order."""
    _import_all()
    return dict(sorted(_found.items()))


def metric_named(name: str) -> type[Metric[Any]]:
    _import_all()
    if name not in _found:
        raise UnknownMetric(f"no metric is named {name!r};", hint=did_you_mean(name, metrics()))
    return _found[name]


def from_key(key: MetricKey | str) -> Metric[Any]:
    """The metric that a key names.

    >>> from_key("mean(price)")
    Mean(column='price', where=None)
    """
    key = MetricKey.parse(key) if isinstance(key, str) else key
    kind = metric_named(key.name)
    arity = next((count for base, count in _ARITY.items() if issubclass(kind, base)), None)
    given: tuple[Any, ...] = (key.columns,) if issubclass(kind, GroupMetric) else key.columns
    if arity is not None and arity != len(key.columns):
        raise BadMetricKey(f"{key.name} takes {arity} column{'s' * (arity != 1)}, not {len(key.columns)}: {key}.")
    try:
        return kind(*given, **dict(key.parameters), where=key.where)
    except TypeError as error:
        raise BadMetricKey(f"{key} does not fit {kind.__name__}: {error}.") from None


def default_metrics(schema: Schema) -> list[Metric[Any]]:
    """The metrics that are computed by default: those that declare themselves a default for the kind of a column."""
    return list(_list_defaults(schema, tuple(metrics().values())))


@lru_cache(maxsize=_SCHEMAS)
def _list_defaults(schema: Schema, kinds: tuple[type[Metric[Any]], ...]) -> tuple[Metric[Any], ...]:
    columned = [kind for kind in kinds if kind.default and issubclass(kind, ColumnMetric)]
    whole = [kind() for kind in kinds if kind.default and not issubclass(kind, ColumnMetric)]
    of_columns = [kind(each.label) for each in schema.columns for kind in columned if each.kind in kind.default]
    return (*whole, *of_columns)


@cache
def _import_all() -> None:
    import headgate.metrics as room
    import headgate.metrics.states as states  # a store may contain a state that no metric has any more

    for package in (room, states):
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg:
                importlib.import_module(f"{package.__name__}.{module.name}")
    for outside in entry_points(group="headgate.metrics"):
        outside.load()
