"""The lowest rate that a band of a least or greatest value can have."""

from __future__ import annotations

import numpy as np

from headgate.learn.history.rates import find_record_rates
from tests.learn.histories import traits


def test_an_extreme_of_few_rows_is_never_sure() -> None:
    names = ("size()", "completeness(x)", "max(x)", "min(x)", "range(x)", "mean(x)", "max_length(t)")
    values = np.tile([49.0, 0.5, 9.0, 1.0, 8.0, 5.0, 12.0], (30, 1))
    found = find_record_rates(values, [traits(each) for each in names])
    np.testing.assert_allclose(found, [0, 0, 1 / 25.5, 1 / 25.5, 1 / 25.5, 0, 1 / 50])
