"""Numbers with the other sign."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
def test_all_signs_are_flipped(hide: bool) -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: -value), hide)
    assert (found.fault, found.columns, found.share) == ("sign_flipped", ("price",), 1.0)
    assert found.sentence == "price has the other sign"
    assert found.repairable


def test_a_part_of_the_signs_is_flipped() -> None:
    found = diagnose_one(change(make_day(), "price", lambda value: -value, share=0.4))
    assert found.fault == "sign_flipped"
    assert found.share == pytest.approx(0.4, abs=0.06)


def test_numbers_that_fell_below_zero_are_not_flipped() -> None:
    assert list_names(change(make_day(), "weight", lambda value: value - 50)) == ["shifted"]
