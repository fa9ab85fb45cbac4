"""Pearson's correlation of two columns."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, PairMetric
from headgate.metrics.base.registry import metric
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.schema import ORDERED
from headgate.values.state import MOST, State


class Comoments(State, frozen=True, tag="comoments"):
    """Count, means and summed products of deviations of pairs; merging follows Chan, Golub and LeVeque (1979)."""

    count: int = 0
    left: float = 0.0
    right: float = 0.0
    left_squares: float = 0.0
    right_squares: float = 0.0
    products: float = 0.0

    def is_sound(self) -> bool:
        return 0 <= self.count < MOST and not (self.left_squares < 0 or self.right_squares < 0)

    def __add__(self, other: Comoments) -> Comoments:
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        left, right = other.left - self.left, other.right - self.right
        part = other.count / count
        shared = self.count * part
        return Comoments(
            count,
            self.left + left * part,
            self.right + right * part,
            self.left_squares + other.left_squares + left * left * shared,
            self.right_squares + other.right_squares + right * right * shared,
            self.products + other.products + left * right * shared,
        )


@metric
class Correlation(PairMetric[Comoments], frozen=True):
    """cov(x, y) / (sd(x) sd(y)) over rows where both are finite (Deequ 2018, Table 2); undefined if one is constant."""

    name: ClassVar = "correlation"
    signed: ClassVar = True
    state: ClassVar = Comoments
    accepts: ClassVar = ORDERED

    def fold(self, left: ColumnBatch, right: ColumnBatch) -> Comoments:
        x, y = left.numbers_with_gaps, right.numbers_with_gaps
        both = np.isfinite(x) & np.isfinite(y)
        x, y = x[both], y[both]
        if not len(x):
            return Comoments()
        with np.errstate(over="ignore", invalid="ignore"):
            # rounding must not carry the mean of equal values away from them: their deviations are zero
            left_mean, right_mean = (float(np.clip(each.mean(), each.min(), each.max())) for each in (x, y))
            dx, dy = x - left_mean, y - right_mean
            return Comoments(
                len(x),
                left_mean,
                right_mean,
                *(float((one * two).sum()) for one, two in ((dx, dx), (dy, dy), (dx, dy))),
            )

    def measure(self, state: Comoments) -> Outcome:
        if not state.count:
            return Undefined(NO_VALUES)
        if state.left_squares <= 0.0 or state.right_squares <= 0.0:
            return Undefined("one of the columns is constant")
        if not all(map(math.isfinite, (state.products, state.left_squares, state.right_squares))):
            return Undefined("the products are too large for a double")
        ratio = state.products / math.sqrt(state.left_squares) / math.sqrt(state.right_squares)
        return Measured(max(-1.0, min(1.0, ratio)))
