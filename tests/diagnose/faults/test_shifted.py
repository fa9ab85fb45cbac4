"""Numbers to which the same one is added."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from headgate.diagnose.repairable import describe_repair
from tests.diagnose.history import BOTH, change, diagnose_after, diagnose_one, list_names, make_day, make_sales


@BOTH
def test_the_offset_is_named(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "weight", lambda value: value + 20), hide)
    assert (found.fault, found.columns, found.share) == ("shifted", ("weight",), 1.0)
    assert found.parameters["offset"] == pytest.approx(20, abs=0.5)
    assert found.sentence == "weight looks shifted: every value plus 20"
    assert found.repairable


def test_a_negative_offset_is_minus() -> None:
    found = diagnose_one(change(make_day(), "weight", lambda value: value - 50))
    assert (found.fault, found.sentence) == ("shifted", "weight looks shifted: every value minus 50")


def test_kelvin_is_known() -> None:
    found = diagnose_one(change(make_day(), "celsius", lambda value: value + 273.15))
    assert found.parameters == {"offset": 273.15}
    assert found.sentence.endswith("(kelvin for degrees Celsius)")


def test_numbers_times_a_factor_are_not_shifted() -> None:
    assert list_names(change(make_day(), "weight", lambda value: value * 10)) == ["scaled"]


def test_an_offset_is_round_if_that_explains_as_much() -> None:
    found = diagnose_after(make_sales, change(make_sales(12), "sold", lambda value: value + 7_100_000))
    assert found[0].parameters == {"offset": 7_100_000.0}


def make_spikes(day: int) -> pa.Table:
    """Whole numbers of which a few come again and again, far from each other."""
    random = np.random.default_rng([83, day])
    return pa.table({"step": pa.array(random.choice([3, 50, 777, 1901, 4242], 300, p=[0.3, 0.25, 0.2, 0.15, 0.1]))})


def test_an_offset_that_the_values_tell_has_all_its_digits() -> None:
    [found] = diagnose_after(make_spikes, change(make_spikes(12), "step", lambda value: value + 123_456_789))
    assert (found.parameters, found.estimated) == ({"offset": 123_456_789.0}, False)
    assert found.sentence == "step looks shifted: every value plus 123,456,789"
    assert describe_repair(found) == "step is lowered by 123,456,789"
