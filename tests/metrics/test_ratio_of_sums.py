"""One sum in proportion to another."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.analyze import analyze
from headgate.values.outcome import Outcome, Undefined

METRIC = hg.RatioOfSums("paid", "due")
NAN, INF = float("nan"), float("inf")


def measured(paid: list[Any], due: list[Any]) -> Outcome:
    return analyze(pa.table({"paid": pa.array(paid, pa.float64()), "due": pa.array(due, pa.float64())}), [METRIC])[
        METRIC
    ]


def test_each_column_is_added_up_over_its_own_finite_values() -> None:
    found = measured([1.0, None, 4.0, NAN, 1.0], [None, 5.0, 10.0, 5.0, INF])
    assert found == hg.Measured(6 / 20)


def test_it_is_not_the_mean_of_ratios() -> None:
    assert measured([1.0, 9.0], [10.0, 10.0]) == hg.Measured(0.5)


@pytest.mark.parametrize("due", [[0.0, 0.0], [3.0, -3.0]])
def test_over_a_sum_of_0_it_is_undefined(due: list[float]) -> None:
    assert measured([1.0, 2.0], due) == Undefined("the right column sums to 0")


@pytest.mark.parametrize(("paid", "due"), [([], []), ([None], [1.0]), ([1.0], [None]), ([1.0], [NAN]), ([INF], [1.0])])
def test_without_values_on_both_sides_it_is_undefined(paid: list[Any], due: list[Any]) -> None:
    assert measured(paid, due) == Undefined("no values in scope")


@pytest.mark.parametrize(("paid", "due"), [([1e308] * 2, [1.0] * 2), ([1.0] * 2, [1e308] * 2), ([1e308], [1e-308])])
def test_what_is_too_large_for_a_double_is_undefined(paid: list[float], due: list[float]) -> None:
    assert measured(paid, due) == Undefined("a sum is too large for a double")
