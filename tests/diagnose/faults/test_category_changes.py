"""Values of a category that are renamed, merged or split."""

from __future__ import annotations

import re
from itertools import count

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"Berlin": "Spree-Athen"}, "city: one value ("),
        ({"Berlin": "Spree-Athen", "Köln": "Colonia"}, "city: 2 values ("),
    ],
)
def test_renamed_values_are_counted(names: dict[str, str], words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), "city", lambda value: names.get(value, value)), hide)
    assert (found.fault, found.columns) == ("category_renamed", ("city",))
    assert found.sentence.startswith("city: " if not hide else words)
    assert ("Berlin" in found.sentence) is not hide
    renamed = sum(value in names for value in make_day()["city"].to_pylist()) / len(make_day())
    assert found.share == pytest.approx(renamed, abs=0.001)


@BOTH
def test_merged_values_are_counted(hide: bool) -> None:
    small = {"Hamburg", "Nürnberg"}
    found = diagnose_one(change(make_day(), "city", lambda value: "others" if value in small else value), hide)
    assert (found.fault, found.columns) == ("categories_merged", ("city",))
    subject, other = ("2 values", "one with another") if hide else ("Hamburg and Nürnberg", "others")
    assert re.fullmatch(rf"city: {subject} \([\d.]+%\) became {other}", found.sentence)


@BOTH
def test_a_split_value_is_counted(hide: bool) -> None:
    numbers = count()
    broken = change(make_day(), "city", lambda value: f"{value} {next(numbers) % 2}" if value == "Berlin" else value)
    found = diagnose_one(broken, hide)
    assert (found.fault, found.columns) == ("category_split", ("city",))
    assert re.fullmatch(rf"city: {'one value' if hide else 'Berlin'} \([\d.]+%\) became 2 values", found.sentence)


def test_values_that_change_their_shares_are_none_of_these() -> None:
    broken = change(make_day(), "city", lambda value: "Berlin", share=0.6)
    assert not {"category_renamed", "category_split"} & set(list_names(broken))


def test_garbage_is_no_split_value() -> None:
    numbers = count()
    broken = change(make_day(), "city", lambda value: f"k{next(numbers) % 9}" if value == "Berlin" else value)
    assert "category_split" not in list_names(broken)
