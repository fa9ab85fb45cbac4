"""Every command explains itself, and the examples that it gives can be typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from headgate.cli.app import app
from tests.cli.lake import called

GROUP: Any = typer.main.get_command(app)


def commands(group: Any = GROUP, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, each in group.commands.items():
        path = (*before, name)
        if hasattr(each, "commands"):
            yield from commands(each, path)
        else:
            yield path, each


COMMANDS = dict(commands())


def examples(text: str) -> list[str]:
    """The lines of the block after `Examples:`, up to an empty one."""
    _, found, rest = text.partition("Examples:\n")
    assert found, "there are no examples"
    block = rest.split("\n\n")[0]
    return [line.strip() for line in block.splitlines() if line.strip()]


EXAMPLES = [(path, line) for path, each in COMMANDS.items() for line in examples(each.help)]


def test_all_commands_are_there() -> None:
    assert {" ".join(path) for path in COMMANDS} == {
        *(
            "init",
            "profile",
            "suggest",
            "check",
            "learn",
            "run",
            "recover",
            "backtest",
            "calibrate",
            "history",
            "explain",
            "accept",
            "reject",
        ),
        *("release", "discard", "repair", "split", "mute", "unmute", "rows", "report", "results", "doctor"),
        *("index build", "index merge", "index stats", "index infer"),
    }


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_says_in_one_sentence_what_it_does(path: tuple[str, ...]) -> None:
    result = called(*path, "--help")
    assert result.exit_code == 0
    first = COMMANDS[path].help.split("\n\n")[0]
    assert first.endswith(".")
    assert ". " not in first
    assert len(COMMANDS[path].short_help) <= 60, "it would be cut in the list of commands"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_and_argument_is_explained(path: tuple[str, ...]) -> None:
    assert [each.name for each in COMMANDS[path].params if not getattr(each, "help", None)] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_can_write_json_and_be_quiet(path: tuple[str, ...]) -> None:
    names = {name for each in COMMANDS[path].params for name in each.opts}
    assert names >= {"--output-json", "--verbose", "-v", "--quiet", "-q", "--no-color"}


@pytest.mark.parametrize(("path", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_parses(path: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *words = shlex.split(line.split(" > ")[0])
    assert program == "headgate"
    assert tuple(words[: len(path)]) == path
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(COMMANDS[path], "callback", lambda **given: seen.append(given))
    GROUP.main(words, prog_name="headgate", standalone_mode=False)
    assert len(seen) == 1


def test_the_examples_of_the_program_parse() -> None:
    for line in examples(GROUP.help):
        path = tuple(shlex.split(line)[1:2])
        assert path in COMMANDS


def test_a_wrong_option_ends_with_2_and_names_it() -> None:
    result = called("run", "--fast")
    assert result.exit_code == 2
    assert "--fast" in result.stderr


def test_the_version_is_told() -> None:
    import headgate

    assert called("--version").stdout == f"headgate {headgate.__version__}\n"
