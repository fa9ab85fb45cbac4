"""Texts in another case."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(
    ("column", "form", "words"),
    [
        ("city", str.upper, "city is written in upper case"),
        ("carrier", str.lower, "carrier is written in lower case"),
        ("note", str.title, "note is written in title case"),
    ],
)
def test_the_case_is_named(column: str, form: Callable[[str], str], words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, form), hide)
    assert (found.fault, found.sentence, found.columns) == ("casing", words, (column,))
    assert found.parameters["case"] == words.split()[-2]


def test_a_part_of_the_values_has_its_share() -> None:
    found = diagnose_one(change(make_day(), "city", str.upper, share=0.3))
    assert found.fault == "casing"
    assert found.share == pytest.approx(0.3, abs=0.06)


def test_other_values_in_capitals_are_no_casing() -> None:
    codes = {"München": "MUC", "Köln": "CGN", "Berlin": "BER", "Nürnberg": "NUE", "Hamburg": "HAM"}
    assert "casing" not in list_names(change(make_day(), "city", lambda value: codes[value]))
