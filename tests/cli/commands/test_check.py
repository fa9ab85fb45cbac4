"""`headgate check`: exit codes and output."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.lake import called
from tests.gate.orders import orders


@pytest.mark.parametrize(
    ("checks", "fail_on", "code"),
    [
        ("- has_mean: price\n  at_most: 1", "error", 1),
        ("- has_mean: price\n  at_most: 1", "never", 0),
        ("- has_mean: price\n  at_most: 1\n  level: warn", "error", 0),
        ("- has_mean: price\n  at_most: 1\n  level: warn", "warn", 1),
        ("- has_mean: nothing\n  at_most: 1", "error", 3),
        ("- has_mean: nothing\n  at_most: 1", "never", 3),
        ("- has_mean: price\n  at_mos: 1", "error", 2),
    ],
)
def test_how_a_check_ends(files: Path, checks: str, fail_on: str, code: int) -> None:
    Path("checks.yml").write_text(f"checks:\n{checks}\n")
    assert called("check", "orders.csv", "--checks", "checks.yml", "--fail-on", fail_on).exit_code == code


def test_a_check_of_no_rows_is_not_a_pass(files: Path) -> None:
    pq.write_table(orders(1).slice(0, 0), "empty.parquet")
    Path("checks.yml").write_text("checks:\n- has_mean: price\n  at_most: 1\n")
    assert called("check", "empty.parquet", "--checks", "checks.yml").exit_code == 3


def test_quiet_checks_say_nothing_unless_they_fail(files: Path) -> None:
    Path("checks.yml").write_text("checks:\n- has_mean: price\n  at_most: 1000\n")
    assert called("check", "orders.csv", "--checks", "checks.yml", "-q").stdout == ""
    assert "mean(price)" not in called("check", "orders.csv", "--checks", "checks.yml").stdout
    assert "mean(price)" in called("check", "orders.csv", "--checks", "checks.yml", "-v").stdout
