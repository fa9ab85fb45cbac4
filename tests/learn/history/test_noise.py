"""The noise floor of a series: one row of a share, a little of other metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headgate.learn.history.noise import SHARE_FLOOR, find_noise_floor, find_rows, natural_scale
from headgate.values.schema import Kind
from tests.learn.history.test_forecast import ROWS, SHARE, traits

FULL, KEYS = traits("completeness(x)"), traits("unique_ratio(x)", Kind.STRING)


@pytest.mark.parametrize(("rows", "floor"), [(20, 0.05), (1_000, math.hypot(0.001, 0.001)), (1_000_000, 0.001)])
def test_the_floor_of_a_share_is_a_row_and_a_thousandth(rows: int, floor: float) -> None:
    values = np.array([[1.0, rows]] * 9)
    assert find_noise_floor(values, [SHARE, ROWS])[0] == pytest.approx(floor, rel=1e-3)


def test_a_row_counts_where_its_column_has_a_value() -> None:
    values = np.array([[0.1, 1.0, 1_000.0]] * 9)
    assert find_rows(values, [FULL, KEYS, ROWS]).tolist() == pytest.approx([1_000.0, 100.0, 1_000.0])


def test_small_batches_say_what_is_typical() -> None:
    values = np.array([[1.0, rows] for rows in (10.0, 1_000.0)])
    assert find_rows(values, [SHARE, ROWS])[0] == pytest.approx(2 / (1 / 10 + 1 / 1_000))


def test_without_a_number_of_rows_the_floor_is_a_thousandth() -> None:
    assert find_noise_floor(np.full((9, 1), 0.3), [SHARE])[0] == SHARE_FLOOR
    assert find_noise_floor(np.array([[0.3, math.nan]] * 9), [SHARE, ROWS])[0] == SHARE_FLOOR


def test_the_natural_scale_of_a_share_is_one_and_of_a_count_its_size() -> None:
    values = np.array([[0.5, 1_000.0], [0.5, 1_000.0]])
    assert natural_scale(values, [SHARE, ROWS]).tolist() == [1.0, 1_000.0]


def test_the_natural_scale_of_a_place_is_the_deviation_of_its_column_where_that_is_more() -> None:
    what = [traits("mean(x)", Kind.FLOAT), traits("stddev(x)", Kind.FLOAT)]
    assert natural_scale(np.array([[0.1, 50.0]]), what)[0] == 50.0
    assert natural_scale(np.array([[1_000.0, 50.0]]), what)[0] == 1_000.0


def test_the_natural_scale_of_a_moment_is_a_day_at_least() -> None:
    what = [traits("max(x)", Kind.TIMESTAMP), traits("range(x)", Kind.TIMESTAMP)]
    assert natural_scale(np.array([[1.7e9, 60.0]]), what)[0] == 86_400.0
    assert natural_scale(np.array([[1.7e9, 1e6]]), what)[0] == 1e6
