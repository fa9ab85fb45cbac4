"""Rows that were loaded more than once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.diagnose.history import BOTH, change, diagnose_one, list_names, make_day


@BOTH
@pytest.mark.parametrize(("copies", "words"), [(2, "every row is there twice"), (3, "every row is there 3 times")])
def test_copies_are_counted(copies: int, words: str, hide: bool) -> None:
    found = diagnose_one(pa.concat_tables([make_day()] * copies), hide)
    assert (found.fault, found.sentence, found.columns) == ("rows_duplicated", words, ())
    assert found.parameters == {"copies": float(copies)}
    assert found.repairable


@BOTH
def test_the_share_of_repeated_rows_is_named(hide: bool) -> None:
    found = diagnose_one(pa.concat_tables([make_day(), make_day().slice(0, len(make_day()) // 4)]), hide)
    assert found.fault == "rows_duplicated"
    assert found.parameters["share"] == pytest.approx(0.25, abs=0.02)
    assert found.sentence.endswith("of the rows are there twice")


def test_a_key_of_one_value_is_no_copy_of_rows() -> None:
    assert "rows_duplicated" not in list_names(change(make_day(), "id", lambda _: 7))
