"""Columns of another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day, replace


@BOTH
@pytest.mark.parametrize(
    ("column", "to", "words"),
    [
        ("price", str, "price is text, it was numbers with decimals"),
        ("items", str, "items is text, it was whole numbers"),
        ("items", float, "items is numbers with decimals, it was whole numbers"),
    ],
)
def test_both_types_are_named(column: str, to: Callable[[Any], Any], words: str, hide: bool) -> None:
    found = diagnose_one(change(make_day(), column, to), hide)
    assert (found.fault, found.sentence, found.columns) == ("type_changed", words, (column,))
    assert set(found.parameters) == {"from", "to"}


def test_texts_that_are_no_numbers_are_less_sure() -> None:
    sure = diagnose_one(change(make_day(), "items", str)).confidence
    assert diagnose_one(change(make_day(), "items", "x{}".format)).confidence < sure - 0.2


def test_a_date_as_text_is_another_format() -> None:
    assert list_names(change(make_day(), "due", lambda value: f"{value:%d/%m/%Y}")) == ["date_format"]


def test_a_column_that_lost_all_its_values_is_empty_whatever_its_type_is_now() -> None:
    found = diagnose_one(replace(make_day(), "city", pa.nulls(len(make_day()))))
    assert (found.fault, found.sentence) == ("nulls", "city is empty")
