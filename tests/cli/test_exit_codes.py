"""Of several exit codes the worst counts, and each has a meaning."""

from __future__ import annotations

from headgate.cli import exit_codes
from headgate.cli.exit_codes import MEANINGS, worst_code


def test_of_several_codes_the_worst_counts() -> None:
    assert worst_code([0, 0]) == 0
    assert worst_code([0, 4]) == 4
    assert worst_code([4, 1, 0]) == 1
    assert worst_code([1, 3, 4]) == 3


def test_a_misused_command_weighs_more_than_what_could_not_be_evaluated() -> None:
    assert worst_code([exit_codes.UNKNOWN, exit_codes.MISUSED]) == exit_codes.MISUSED
    assert worst_code([]) == exit_codes.PASSED


def test_every_code_has_a_meaning() -> None:
    codes = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    assert codes == set(MEANINGS)
