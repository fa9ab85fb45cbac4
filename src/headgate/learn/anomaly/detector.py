"""Defines and registers series detectors: a new detector is one file in this folder.

Tested by `tests/learn/anomaly/test_detectors.py`.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, TypeAlias, TypeVar

import msgspec
import numpy as np

from headgate.learn.anomaly.series import Ends, Floats, as_numbers, as_values, widen_band
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between

PastValues: TypeAlias = Sequence[float] | Floats
K = TypeVar("K", bound="type[Detector]")

_SNAKE = re.compile(r"[a-z][a-z0-9_]*")
_registry: dict[str, type[Detector]] = {}


class Detector(msgspec.Struct, frozen=True):
    """Computes from the past values of a metric the band that its next value must lie in.

    NaN and infinite values in the past are missing values. A value is judged only by the values before it and is never
    part of its own baseline. A detector of your own overrides `ends`, or `band` itself.
    """

    name: ClassVar[str]
    always_shown: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> MetricKey:
        """The stable name: parameters at their default are left out, except those in `always_shown`.

        A default is therefore part of a stored name and never changes.
        """
        fields = msgspec.structs.fields(self)
        given = [(field.name, getattr(self, field.name), field.default) for field in fields]
        shown = [
            (name, value)
            for name, value, default in given
            if value is not None and (name in self.always_shown or value != default)
        ]
        return MetricKey(self.name, (), tuple(shown))

    def band(self, past: PastValues) -> Between | Undefined:
        """The band of the value after these, or the reason why there is none."""
        values = as_values(past)
        with np.errstate(all="ignore"):  # an overflow leaves an end that is not finite, which `widen_band` detects
            ends = self.ends(values)
        return ends if isinstance(ends, Undefined) else widen_band(ends)

    def ends(self, values: Floats) -> Ends | Undefined:
        """The ends of the band after these values; missing values are NaN, and none is infinite."""
        raise NotImplementedError(f"{type(self).__name__} has neither ends nor a band")

    def find_anomalies(self, series: PastValues) -> tuple[int, ...]:
        """The positions of the values that lie outside the band of the values before them.

        A missing value is not flagged, and neither is a value with too few values before it.
        """
        values = as_numbers(series)
        return tuple(index for index, value in enumerate(values.tolist()) if self._is_outside(value, values[:index]))

    def _is_outside(self, value: float, past: Floats) -> bool:
        if math.isnan(value):
            return False
        band = self.band(past)
        return isinstance(band, Between) and not band.holds(value)

    def __str__(self) -> str:
        return str(self.key)


def detector(kind: K) -> K:
    """Register a detector under its stored name."""
    if not _SNAKE.fullmatch(kind.name):
        raise MisuseError(f"{kind.name!r} cannot be a stored name.", hint="Write it in snake_case.")
    if kind.name in _registry and _registry[kind.name].__module__ != kind.__module__:
        other = _registry[kind.name].__module__
        raise MisuseError(f"two detectors are named {kind.name!r}: {other} and {kind.__module__}.")
    _registry[kind.name] = kind
    return kind


def detectors() -> dict[str, type[Detector]]:
    """Every detector by its stored name, in alphabetical order."""
    _import_all()
    return dict(sorted(_registry.items()))


def detector_from_key(key: MetricKey | str) -> Detector:
    """The detector with the name and parameters of a key.

    >>> detector_from_key("threshold(low=5.0)")
    Threshold(low=5.0, high=None)
    """
    key = MetricKey.parse(key) if isinstance(key, str) else key
    known = detectors()
    if key.name not in known:
        raise MisuseError(f"no detector is named {key.name!r};", hint=did_you_mean(key.name, known))
    if key.columns or key.where is not None:
        raise MisuseError(
            f"{key} names columns or rows; a detector has only parameters.", hint=f"Write {key.name}(parameter=value)."
        )
    return known[key.name](**_check_parameters(key, known[key.name]))


def _check_parameters(key: MetricKey, kind: type[Detector]) -> dict[str, Any]:
    for name, _ in key.parameters:
        if name not in kind.__struct_fields__:
            raise MisuseError(f"{key.name} has no parameter {name!r};", hint=did_you_mean(name, kind.__struct_fields__))
    given = dict(key.parameters)
    if len(given) < len(key.parameters):
        raise MisuseError(f"{key} gives a parameter twice.", hint="Give each parameter once.")
    return given


@cache
def _import_all() -> None:
    import headgate.learn.anomaly as room

    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    for outside in entry_points(group="headgate.detectors"):
        outside.load()
