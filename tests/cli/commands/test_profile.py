"""`headgate profile`: files of every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.lake import called, document
from tests.gate.orders import orders

NAMES = ["orders.parquet", "orders.csv", "orders.tsv", "orders.csv.gz", "orders.json", "orders.orc"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_format_is_profiled(files: Path, name: str) -> None:
    found = document("profile", name)["profile"]
    assert found["rows"] == len(orders(1))
    assert list(found["columns"]) == orders(1).column_names
    assert found["columns"]["price"]["completeness"] == 1.0


def test_an_empty_field_of_a_csv_file_is_nothing_as_it_is_for_a_dataset(files: Path) -> None:
    Path("notes.csv").write_text('id,note\n1,\n2,ok\n3,""\n4,ok\n')
    assert document("profile", "notes.csv")["profile"]["columns"]["note"]["completeness"] == 0.75


def test_a_folder_is_one_batch_and_its_names_are_columns(files: Path) -> None:
    found = document("profile", "folder")["profile"]
    assert found["rows"] == 2 * len(orders(1))
    assert "day" in found["columns"]


def test_only_the_columns_that_are_named_are_profiled(files: Path) -> None:
    lines = called("profile", "orders.csv", "--column", "price", "--column", "code").stdout.splitlines()
    assert lines[0] == f"{len(orders(1))} rows, 2 columns"
