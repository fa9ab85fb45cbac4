"""Kinds of series: constants, and those that vary by a larger or smaller share of what is natural."""

from __future__ import annotations

import dataclasses

import numpy as np

from headgate.learn.history.forecast import forecast_past
from headgate.learn.history.series_kinds import CONSTANT, find_comparable, find_kinds
from headgate.values.key import MetricKey
from headgate.values.schema import Kind
from tests.learn.histories import past_of


def test_a_series_that_varies_more_is_of_a_higher_kind() -> None:
    noise = np.random.default_rng(0).normal(size=30)
    series = {
        f"completeness(c{at})": (0.5 + scale * noise).tolist() for at, scale in enumerate((0.0, 0.002, 0.02, 0.2))
    }
    past = past_of({"size()": [1e6] * 30, **series})
    kinds = find_kinds(forecast_past(past), past.values, past.metrics)[1:].tolist()
    assert kinds[0] == CONSTANT
    assert kinds[1:] == sorted(set(kinds[1:]))


def test_the_kind_of_a_count_is_relative_to_its_size() -> None:
    noise = np.random.default_rng(0).normal(size=30)
    past = past_of({"size()": (100 + 5 * noise).tolist(), "sum(x)": (1e6 + 5e4 * noise).tolist()})
    kinds = find_kinds(forecast_past(past), past.values, past.metrics)
    assert kinds[0] == kinds[1]


def test_distances_of_moving_timestamps_tell_nothing() -> None:
    past = past_of({"max(at)": [1.0] * 8, "cohen_d(at)": [3.0] * 8, "cohen_d(x)": [3.0] * 8}, kind=Kind.TIMESTAMP)
    assert find_comparable(past).all()
    moving = dataclasses.replace(past, shifted=frozenset({MetricKey("max", ("at",))}))
    assert find_comparable(moving).tolist() == [True, False, True]
