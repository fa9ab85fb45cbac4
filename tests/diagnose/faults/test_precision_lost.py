"""Numbers that are rounded."""

from __future__ import annotations

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(
    ("column", "unit", "words"),
    [
        ("weight", 1.0, "weight is rounded to whole numbers"),
        ("price", 10.0, "price is rounded to multiples of 10"),
    ],
)
def test_the_unit_is_named(column: str, unit: float, words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, lambda value: round(value / unit) * unit), hide)
    assert (found.fault, found.sentence, found.columns) == ("precision_lost", words, (column,))
    assert found.parameters == {"unit": unit}
    assert not found.repairable


def test_whole_numbers_that_grow_are_not_rounded() -> None:
    """Numbers times ten are multiples of ten, but not where they were before."""
    assert list_names(change(make_day(), "items", lambda value: value * 10)) == ["scaled"]
