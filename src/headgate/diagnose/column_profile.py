"""What the states of one column say of its values, as faults need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from headgate.metrics.states.characters import Characters
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.key import MetricKey
from headgate.values.schema import Column, Kind
from headgate.values.state import State

Floats = npt.NDArray[np.float64]
_RANKS = (np.arange(48) + 0.5) / 48


@dataclass(frozen=True)
class ColumnContents:
    """One column of a batch: how many values it has, and how they are distributed.

    `rows` are all rows, `present` those with a value. `values` and `patterns` are shares of the present values, by
    label; labels of a past that hides values are hashes. `counts` are those of the labels, if all labels are known.
    `sketch` tells how many different values there are.
    """

    label: str
    kind: Kind
    rows: int
    present: int
    values: Mapping[str, float] = field(default_factory=dict)
    patterns: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    numbers: Quantiles | None = None
    moments: Moments | None = None
    lengths: Moments | None = None
    characters: Characters | None = None
    sketch: Distinct | None = None
    is_hashed: bool = False

    @classmethod
    def of(cls, column: Column, states: Mapping[MetricKey, State]) -> ColumnContents:
        """The profile of a column by the states of a batch."""

        def find(name: str) -> State | None:
            return states.get(MetricKey(name, (column.label,)))

        there, distinct = find("completeness"), find("distinct")
        values, patterns = find("frequent_values"), find("frequent_patterns")
        rows, present = (there.seen, there.matched) if isinstance(there, MatchCount) else (0, 0)
        numbers, moments = find("quantiles"), find("moments")
        lengths, characters = find("lengths"), find("characters")
        known = values if isinstance(values, Frequencies) else Frequencies()
        return cls(
            column.label,
            column.kind,
            rows,
            present,
            values=_measure_shares(known),
            patterns=_measure_shares(patterns) if isinstance(patterns, Frequencies) else {},
            counts={} if known.lost else known.labels(),
            numbers=numbers if isinstance(numbers, Quantiles) and numbers.total else None,
            moments=moments if isinstance(moments, Moments) and moments.count else None,
            lengths=lengths if isinstance(lengths, Moments) and lengths.count else None,
            characters=characters if isinstance(characters, Characters) else None,
            sketch=distinct if isinstance(distinct, Distinct) else None,
            is_hashed=bool(known.hashed),
        )

    @property
    def complete(self) -> float:
        """The share of the rows that have a value."""
        return self.present / self.rows if self.rows else 0.0

    @cached_property
    def distinct(self) -> float:
        """About how many different values there are."""
        return 0.0 if self.sketch is None else _estimate(self.sketch)

    def count_shared(self, other: ColumnContents) -> float:
        """About how many different values two batches have in common."""
        if self.sketch is None or other.sketch is None:
            return 0.0
        return max(0.0, self.distinct + other.distinct - _estimate(self.sketch + other.sketch))

    @cached_property
    def listed(self) -> float:
        """The share of the values whose labels are known."""
        return min(1.0, sum(self.values.values()))

    @cached_property
    def points(self) -> Floats:
        """Numbers at which distributions are compared: quantiles at even ranks."""
        return np.empty(0) if self.numbers is None else self.numbers.quantiles(_RANKS)

    def share_up_to(self, points: Floats) -> Floats:
        """The share of the numbers that are no larger than each point; numbers that are equal but for rounding too."""
        assert self.numbers is not None
        with np.errstate(over="ignore"):  # a point may lie as far from tiny bins as no double tells
            return self.numbers.share_up_to(points + np.abs(points) * 1e-9)

    @cached_property
    def atoms(self) -> dict[float, float] | None:
        """The share of each number, if all are known."""
        if self.numbers is None or not self.numbers.exact:
            return None
        bins = self.numbers.bins()
        return dict(zip(bins.lower_ends.tolist(), (bins.counts / self.numbers.total).tolist(), strict=True))

    def read_numbers(self) -> ColumnContents | None:
        """The profile of the numbers that are written in the texts of a column; None if most are no numbers."""
        parsed = [(_read_number(text), share) for text, share in self.values.items()]
        known = [(value, share) for value, share in parsed if value is not None]
        total = sum(share for _, share in known)
        if not known or total < 0.9 * self.listed or self.listed < 0.3:
            return None
        counts = [max(1, round(share * 10_000 / total)) for _, share in known]
        repeated = np.repeat([value for value, _ in known], counts).astype(np.float64)
        return replace(self, kind=Kind.FLOAT, numbers=Quantiles.of(np.sort(repeated)))


def _estimate(sketch: Distinct) -> float:
    return float(sketch.estimate())


def _measure_shares(frequencies: Frequencies) -> dict[str, float]:
    if not frequencies.total:
        return {}
    return {label: count / frequencies.total for label, count in frequencies.labels().items()}


def _read_number(text: str) -> float | None:
    try:
        value = float(text.strip())
    except ValueError:
        return None
    return value if np.isfinite(value) else None
