"""`headgate split` where batches are not in a table; what it does on tables is tested with them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import BROKEN, called, document


def test_batches_that_are_not_in_a_table_are_refused_with_the_other_way(judged: Path) -> None:
    refused = called("split", "orders", BROKEN, "--note", "three countries that are none")
    assert refused.exit_code == 2
    assert "are not published into a table" in refused.stderr
    assert "docs/quarantine.md" in refused.stderr


def test_a_batch_that_was_never_judged_cannot_be_split(judged: Path) -> None:
    assert document("split", "orders", "2031-01-01")["exit_code"] == 2
