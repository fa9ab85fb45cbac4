"""What was read is no such table."""

from __future__ import annotations

import pyarrow as pa

from tests.diagnose.history import BOTH, diagnose_one, list_names, make_day


def as_text(table: pa.Table) -> pa.Table:
    texts = {
        name: [None if each is None else str(each) for each in table[name].to_pylist()] for name in table.column_names
    }
    return pa.table(texts)


@BOTH
def test_an_html_page_is_named(hide: bool) -> None:
    found = diagnose_one(pa.table({"<!DOCTYPE html>": ["<html>", "<body>Not found</body>", "</html>"]}), hide)
    assert (found.fault, found.sentence) == ("error_page", "an HTML page came instead of data")


@BOTH
def test_a_notice_is_named(hide: bool) -> None:
    notice = "The data has moved, see example.org. This file is not updated any more."
    found = diagnose_one(pa.table({notice: pa.array([], pa.string())}), hide)
    assert (found.fault, found.sentence) == ("error_page", "a sentence came instead of data")
    few_words = pa.table({"some other name": pa.array(["x"] * 50)})
    assert "error_page" not in list_names(few_words)


@BOTH
def test_a_wrong_delimiter_is_named(hide: bool) -> None:
    rows = [";".join(map(str, row.values())) for row in make_day().to_pylist()]
    found = diagnose_one(pa.table({";".join(make_day().column_names): rows}), hide)
    assert found.fault == "wrong_delimiter"
    assert found.sentence == "columns are separated by a semicolon, and were read as one"
    assert found.parameters == {"by": "a semicolon"}


@BOTH
def test_a_header_among_the_rows_is_named(hide: bool) -> None:
    header = pa.table({name: [name] for name in make_day().column_names})
    found = diagnose_one(pa.concat_tables([header, as_text(make_day())]), hide)
    assert (found.fault, found.sentence) == ("header_in_data", "a row of the batch holds the names of the columns")


def test_texts_alone_are_no_header() -> None:
    assert set(list_names(as_text(make_day()))) <= {"type_changed", "date_format"}


def test_a_note_with_marks_is_no_page() -> None:
    day = make_day().set_column(7, "note", pa.array(["a < b > c"] * len(make_day())))
    assert "error_page" not in list_names(day)
