"""`headgate explain`: the recorded verdict on a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.lake import GOOD, NEW, called, write_day


@pytest.mark.parametrize("command", ["explain", "accept", "report"])
def test_a_batch_that_is_not_there_is_an_error_with_what_is(judged: Path, command: str) -> None:
    result = called(command, "orders", "2026-01-99")
    assert result.exit_code == 2
    assert "orders has no run of 2026-01-99" in result.stderr
    assert GOOD in result.stderr
    assert "headgate history orders" in result.stderr


def test_a_batch_that_waits_names_the_command_that_judges_it(judged: Path) -> None:
    write_day(judged, 10)
    result = called("explain", "orders", NEW)
    assert result.exit_code == 2
    assert f"headgate run orders --partition {NEW}" in result.stderr
