"""What a reader of CSV files makes of files that are none."""

from __future__ import annotations

import gzip

from benchmarks.history.incidents import _misread


def test_a_file_of_no_bytes_is_a_table_without_columns(tmp_path):
    assert _misread(tmp_path).shape == (0, 0)
    (tmp_path / "empty.csv").write_bytes(b"")
    assert _misread(tmp_path / "empty.csv").shape == (0, 0)


def test_a_sentence_is_a_header_without_rows(tmp_path):
    (tmp_path / "moved.csv.gz").write_bytes(b"The data has moved, and this file ends.")
    assert _misread(tmp_path / "moved.csv.gz").column_names == ["The data has moved", " and this file ends."]
    assert _misread(tmp_path / "moved.csv.gz").num_rows == 0


def test_tabs_make_one_column_of_all(tmp_path):
    (tmp_path / "tabs.csv.gz").write_bytes(gzip.compress(b"state\tbeds\nAK\t7\nAL\t9\n"))
    found = _misread(tmp_path / "tabs.csv.gz")
    assert found.to_pydict() == {"state\tbeds": ["AK\t7", "AL\t9"]}
