"""Commands to copy: a shell and Python read from them the very names they are about."""

from __future__ import annotations

import ast
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.explain.next_steps import python_commands, quote_for_shell, shell_commands, shell_range_commands
from tests.pages import HOSTILE

NAMES = [
    *(name.replace("\x00", "") for name in HOSTILE),
    "",
    "-x",
    "--note",
    "it's",
    "$(touch x)",
    "`x`",
    "a\\b'\n",
    "!!",
    "*",
]


def read_by_bash(words: str) -> list[str]:
    found = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    return found.stdout.decode("utf-8", "surrogatepass").split("\0")[:-1]


def test_a_shell_reads_the_names_as_they_are() -> None:
    assert read_by_bash(" ".join(map(quote_for_shell, NAMES))) == NAMES


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=20))
def test_a_shell_reads_any_names_as_they_are(names: list[str]) -> None:
    assert read_by_bash(" ".join(map(quote_for_shell, names))) == names


@pytest.mark.parametrize("name", NAMES)
def test_what_is_copied_has_no_character_that_moves_the_cursor(name: str) -> None:
    for each in (*shell_commands(name, name, 1), *python_commands(name, 1)):
        assert each.whole.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_a_range_is_read_with_the_names_as_they_are(name: str) -> None:
    commands = shell_range_commands("orders", ("first", name))
    assert all(each.whole.isprintable() for each in commands)
    words = read_by_bash(commands[0].whole)
    assert words == ["headgate", "accept", "orders", f"first..{name}", "--note", "why it is right"]
    accept = ast.parse(python_commands(name, 1, together=("first", name))[0].whole, mode="eval").body
    assert isinstance(accept, ast.Call)
    assert [ast.literal_eval(each) for each in accept.args] == ["first"]
    assert (accept.keywords[0].arg, ast.literal_eval(accept.keywords[0].value)) == ("to", name)


def test_an_unread_batch_is_not_decided_about_with_others() -> None:
    together = ("first", "p")
    assert not any("first" in each.whole for each in shell_commands("orders", "p", 1, unread=True, together=together))


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_taken_for_an_option(name: str) -> None:
    accept = next(each for each in shell_commands(name, "p", 1) if " accept" in each.whole)
    option = ["--revision", "1", "--note", "why it is right"]
    expected = [*option, "--", name, "p"] if name.startswith("-") else [name, "p", *option]
    assert read_by_bash(accept.whole) == ["headgate", "accept", *expected]


@pytest.mark.parametrize("name", NAMES)
def test_python_reads_the_partition_as_it_is(name: str) -> None:
    for each in python_commands(name, 1):
        call = ast.parse(each.whole, mode="eval").body
        assert isinstance(call, ast.Call)
        assert ast.literal_eval(call.args[0]) == name
