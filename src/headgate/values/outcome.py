"""The outcome of a metric: a number or a distribution, or the reason why there is none."""

from __future__ import annotations

import math
from typing import TypeAlias

import msgspec


class Distribution(msgspec.Struct, frozen=True):
    """Labels with their counts, largest first. A count may be too low by up to `error`; `total` counts all values."""

    counts: dict[str, int]
    total: int
    error: int = 0

    def ratio(self, label: str) -> float:
        """The share of one label.

        >>> Distribution({"phone": 3, "web": 1}, total=4).ratio("phone")
        0.75
        """
        return self.counts.get(label, 0) / self.total if self.total else 0.0


class Measured(msgspec.Struct, frozen=True, tag="measured"):
    """The metric has a value."""

    value: float | Distribution


class Undefined(msgspec.Struct, frozen=True, tag="undefined"):
    """The metric has no value for these data, which is not an error (no rows in scope)."""

    why: str


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The metric could not be computed (a missing column, a type it does not accept, an error in the engine)."""

    why: str


Outcome: TypeAlias = Measured | Undefined | Failed


def to_json_number(value: float | None) -> float | None:
    """The number, or None where JSON has no number for it: for infinities and NaN.

    >>> to_json_number(2.5), to_json_number(float("inf"))
    (2.5, None)
    """
    return None if value is None or not math.isfinite(value) else value


def outcome_of(value: float, otherwise: str) -> Outcome:
    """Measured if the value is finite, Undefined if not: NaN never becomes a value or a threshold.

    >>> outcome_of(float("nan"), otherwise="too large")
    Undefined(why='too large')
    """
    finite = value - value == 0.0
    return Measured(float(value)) if finite else Undefined(otherwise)
