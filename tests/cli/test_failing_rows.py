"""Failing rows as a table and as a page, and which of them a report shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.cli.failing_rows import RowExamples, examples_of, find_failing_rows
from headgate.project.project import Project
from tests.cli.lake import BROKEN, GOOD

EXAMPLES = RowExamples(
    columns=("id", "price", "country"),
    rows=({"id": 1, "price": None, "country": "XX"}, {"id": 2, "price": 0.5, "country": "DE"}),
    reasons=(("country is known", "price is complete"), ("price is complete",)),
    total=7,
)


def test_a_table_has_the_reasons_in_its_last_column() -> None:
    table = EXAMPLES.table()
    assert table.headers == ("id", "price", "country", "breaks")
    assert table.rows[0] == ("1", "null", "XX", "country is known; price is complete")


def test_a_column_of_numbers_and_nulls_is_numeric() -> None:
    assert EXAMPLES.table().numeric == {0, 1}
    assert EXAMPLES.table(["country", "price"]).numeric == {0}


def test_only_the_columns_that_are_named_are_in_a_table_in_the_order_of_the_data() -> None:
    assert EXAMPLES.table(["country", "id"]).headers == ("id", "country", "breaks")


def test_a_page_names_each_reason_once_and_refers_to_it_by_a_letter() -> None:
    lines = str(EXAMPLES.page("2 rows")).splitlines()
    assert [line.strip() for line in lines[1:3]] == ["a country is known", "b price is complete"]
    assert [line.split()[-2:] for line in lines[-2:]] == [["a", "b"], ["DE", "b"]]


@pytest.mark.parametrize("count_all", [True, False])
def test_failing_rows_of_a_recorded_verdict_are_found_again(judged: Path, count_all: bool) -> None:
    with Project.open() as project:
        dataset = project.dataset("orders")
        found = find_failing_rows(dataset, BROKEN, dataset.gate.explain(BROKEN), limit=2, count_all=count_all)
    assert [row["country"] for row in found.rows] == ["XX", "XX"]
    assert found.total == 3
    assert "headgate_reasons" not in found.columns


def test_a_report_shows_rows_only_if_values_may_be_shown_and_the_batch_did_not_pass(judged: Path) -> None:
    with Project.open() as hidden:
        dataset = hidden.dataset("orders")
        assert examples_of(dataset, dataset.gate.explain(BROKEN)) is None
    with Project.open(settings={"datasets.orders.show_values": "true", "datasets.orders.keys": "id"}) as shown:
        dataset = shown.dataset("orders")
        table = examples_of(dataset, dataset.gate.explain(BROKEN))
        assert table is not None
        assert table.headers == ("id", "country", "breaks")
        assert examples_of(dataset, dataset.gate.explain(GOOD)) is None
        (judged / "lake" / "orders" / f"day={BROKEN}" / "part-0.parquet").unlink()
        assert examples_of(dataset, dataset.gate.explain(BROKEN)) is None, "a batch that is gone costs no report"
