"""Count, extremes and central moments of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.values.state import MOST, Rows, Stack, State


class Moments(State, frozen=True, tag="moments"):
    """Count, sum, extremes, mean and the sums of the 2nd, 3rd and 4th powers of deviations from it.

    All of these are of the finite numbers. Infinities are only counted, so that `least` and `greatest` can tell them.

    Merging follows Chan, Golub and LeVeque (1979), in Pébay's (2008) form for the higher powers, so that 1e9 + U(0, 1)
    keeps its variance.
    """

    count: int = 0
    total: float = 0.0
    mean: float = 0.0
    second: float = 0.0
    third: float = 0.0
    fourth: float = 0.0
    low: float | None = None
    high: float | None = None
    minus_infinities: int = 0
    plus_infinities: int = 0

    @classmethod
    def of(cls, ordered: npt.NDArray[np.float64], minus_infinities: int = 0, plus_infinities: int = 0) -> Moments:
        """Of sorted, finite numbers, and of so many infinities besides."""
        if not len(ordered):
            return cls(minus_infinities=minus_infinities, plus_infinities=plus_infinities)
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(ordered.sum())
            # rounding must not carry the mean of equal values away from them: their deviations are zero
            mean = min(max(total / len(ordered), float(ordered[0])), float(ordered[-1]))
            gaps = ordered - mean
            squares = gaps * gaps
            return cls(
                count=len(ordered),
                total=total,
                mean=mean,
                second=float(squares.sum()),
                # no dot product: the threads of a BLAS would spin between the calls
                third=float(np.multiply(gaps, squares, out=gaps).sum()),
                fourth=float(np.multiply(squares, squares, out=squares).sum()),
                low=float(ordered[0]),
                high=float(ordered[-1]),
                minus_infinities=minus_infinities,
                plus_infinities=plus_infinities,
            )

    @classmethod
    def of_counts(cls, values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> Moments:
        """Of sorted values that each occur so many times."""
        count = int(counts.sum())
        if not count:
            return cls()
        total = float((values * counts).sum())
        gaps = values - total / count
        squares = gaps * gaps * counts
        return cls(
            count=count,
            total=total,
            mean=total / count,
            second=float(squares.sum()),
            third=float((squares * gaps).sum()),
            fourth=float((squares * (gaps * gaps)).sum()),
            low=float(values[0]),
            high=float(values[-1]),
        )

    @property
    def least(self) -> float | None:
        """The least number, be it infinite; None if there is none."""
        if self.minus_infinities:
            return -math.inf
        return math.inf if self.low is None and self.plus_infinities else self.low

    @property
    def greatest(self) -> float | None:
        """The greatest number, be it infinite; None if there is none."""
        if self.plus_infinities:
            return math.inf
        return -math.inf if self.high is None and self.minus_infinities else self.high

    def __add__(self, other: Moments) -> Moments:
        infinities = {
            "minus_infinities": self.minus_infinities + other.minus_infinities,
            "plus_infinities": self.plus_infinities + other.plus_infinities,
        }
        if not self.count or not other.count:
            return msgspec.structs.replace(self if self.count else other, **infinities)
        a, b, n = self.count, other.count, self.count + other.count
        gap = other.mean - self.mean
        step = gap / n
        return Moments(
            count=n,
            total=self.total + other.total,
            mean=self.mean + step * b,
            second=self.second + other.second + gap * step * a * b,
            third=self.third
            + other.third
            + gap * step * step * a * b * (a - b)
            + 3 * step * (a * other.second - b * self.second),
            fourth=self.fourth
            + other.fourth
            + gap * step * step * step * a * b * (a * a - a * b + b * b)
            + 6 * step * step * (a * a * other.second + b * b * self.second)
            + 4 * step * (a * other.third - b * self.third),
            low=_min_present(self.low, other.low),
            high=_max_present(self.high, other.high),
            **infinities,
        )

    @classmethod
    def merge_all(cls, states: Sequence[Moments]) -> Moments:
        """The same sums in one step, around the common mean."""
        return _around_their_mean(_to_rows(states))

    def is_sound(self) -> bool:
        if not (0 <= self.minus_infinities < MOST and 0 <= self.plus_infinities < MOST):
            return False
        if not self.count:
            return True
        ends = self.low is not None and self.high is not None and self.low <= self.high
        return 0 < self.count < MOST and ends and not (self.second < 0 or self.fourth < 0)

    @classmethod
    def stack(cls, states: Sequence[Moments]) -> Stack[Moments]:
        return _MomentStack(states)


class _MomentStack(Stack[Moments]):
    def __init__(self, states: Sequence[Moments]) -> None:
        super().__init__(states)
        self._fields = _to_rows(states)

    def merge_rows(self, rows: Rows) -> Moments:
        return _around_their_mean(self._fields[rows])


def _to_rows(states: Sequence[Moments]) -> npt.NDArray[np.float64]:
    """A row for each state with its fields in order."""
    rows = np.array([msgspec.structs.astuple(each) for each in states], np.float64)
    return rows.reshape(len(states), len(Moments.__struct_fields__))


def _around_their_mean(rows: npt.NDArray[np.float64]) -> Moments:
    """The sum of moments, a row for each with its fields in order."""
    minus, plus = rows[:, -2:].astype(np.int64).sum(axis=0).tolist()
    rows = rows[rows[:, 0] > 0, :-2]
    if not len(rows):
        return Moments(minus_infinities=minus, plus_infinities=plus)
    counts, totals, means, second, third, fourth, low, high = rows.T
    with np.errstate(over="ignore", invalid="ignore"):
        # from the first mean on, so that equal means give just that
        mean = float(means[0] + (counts * (means - means[0])).sum() / counts.sum())
        gaps = means - mean
        squares = gaps * gaps
        return Moments(
            count=int(counts.astype(np.int64).sum()),
            total=float(totals.sum()),
            mean=mean,
            second=float((second + counts * squares).sum()),
            third=float((third + gaps * (3 * second + counts * squares)).sum()),
            fourth=float((fourth + gaps * (4 * third + gaps * (6 * second + counts * squares))).sum()),
            low=float(low.min()),
            high=float(high.max()),
            minus_infinities=minus,
            plus_infinities=plus,
        )


def _min_present(one: float | None, two: float | None) -> float | None:
    return min(each for each in (one, two) if each is not None)


def _max_present(one: float | None, two: float | None) -> float | None:
    return max(each for each in (one, two) if each is not None)
