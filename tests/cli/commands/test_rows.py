"""`headgate rows`: the failing rows of a batch with their reasons."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import BROKEN, GOOD, NEW, called, document, write_day


def test_failing_rows_are_shown_with_the_reason(judged: Path) -> None:
    lines = called("rows", "orders", BROKEN, "--column", "id", "--column", "country").stdout.splitlines()
    assert lines[0] == f"orders {BROKEN}: 3 rows break something"
    assert lines[1].startswith("  a is_contained_in(country")
    assert lines[3].split() == ["id", "country", "breaks"]
    assert [line.split()[1:] for line in lines[5:]] == [["XX", "a"]] * 3


def test_a_column_that_is_not_there_is_an_error_with_the_nearest(judged: Path) -> None:
    result = called("rows", "orders", BROKEN, "--column", "contry")
    assert result.exit_code == 2
    assert "Did you mean 'country'?" in result.stderr


def test_rows_of_a_batch_that_waits_are_found_by_the_checks(judged: Path) -> None:
    write_day(judged, 10, broken=True)
    assert document("rows", "orders", NEW, "--limit", "2")["total"] == 3


def test_a_batch_without_bad_rows_says_so(judged: Path) -> None:
    assert called("rows", "orders", GOOD).stdout == f"orders {GOOD}: no single row is to blame.\n"
