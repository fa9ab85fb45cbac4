"""Commands that a verdict offers can be copied to a shell."""

from __future__ import annotations

from pathlib import Path

from tests.cli.lake import BROKEN, called


def test_commands_to_copy_are_those_of_a_shell(judged: Path) -> None:
    for words in (("explain", "orders", BROKEN), ("run", "orders", "--partition", BROKEN)):
        found = called(*words).stdout
        assert f"headgate accept orders {BROKEN}" in found
        assert "gate." not in found


def test_commands_to_copy_name_the_configuration_if_it_is_elsewhere(judged: Path) -> None:
    Path("headgate.yml").rename("other.yml")
    found = called("explain", "orders", BROKEN, "--config", "other.yml").stdout
    line = next(line for line in found.splitlines() if "headgate accept" in line)
    assert "--config other.yml" in line
