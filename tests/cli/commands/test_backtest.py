"""`headgate backtest`: its table, and its budgets."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import called


def test_a_backtest_prints_its_budgets(judged: Path) -> None:
    result = called("backtest", "orders", "--budget", "0.05", "--spots", "0")
    assert result.exit_code == 0
    assert "10 batches replayed" in result.stdout


def test_a_budget_that_is_no_share_is_refused_with_an_option_to_write(judged: Path) -> None:
    result = called("backtest", "orders", "--budget", "3")
    assert result.exit_code == 2
    assert result.stderr.endswith("Write --budget 0.01.\n")
