"""The context of a call: settings, escapes, and output to a pipe that is closed."""

from __future__ import annotations

import io
import os
import pty
import sys
from pathlib import Path

import pytest

from headgate.cli.context import CommandContext
from headgate.display.text import escape_controls
from headgate.values.errors import MisuseError
from tests.cli.lake import called


def test_a_name_cannot_move_the_cursor(lake: Path) -> None:
    result = called("explain", "orders", "\x1b[2J")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


def test_settings_are_split_at_the_first_equals_sign() -> None:
    context = CommandContext("run", settings=("datasets.orders.source.path=lake/day={partition}", " store =memory:"))
    assert context.parse_settings() == {"datasets.orders.source.path": "lake/day={partition}", "store": "memory:"}


@pytest.mark.parametrize("setting", ["store", "=memory:", ""])
def test_a_setting_without_a_key_or_a_value_is_refused(setting: str) -> None:
    with pytest.raises(MisuseError, match=r"has no value\. Write --set"):
        CommandContext("run", settings=(setting,)).parse_settings()


def test_line_breaks_and_tabs_stay_and_other_controls_are_escaped() -> None:
    assert escape_controls("a\n\tb\x1b[2J\x07\u202e") == "a\n\tb\\u001b[2J\\u0007\\u202e"


def test_secrets_of_the_configuration_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "headgate.yml").write_text("store: ${env:DQ_STORE}\n")
    monkeypatch.setenv("DQ_STORE", "memory:c4n4ry")
    CommandContext("run", config=str(tmp_path / "headgate.yml")).echo_err("cannot open memory:c4n4ry\x1b[2J")
    assert capsys.readouterr().err == "cannot open ***\\u001b[2J\n"


def test_standard_output_belongs_to_the_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    CommandContext("run", output_json="-").echo("a result")
    CommandContext("run", output_json="-").echo_raw("checks:")
    assert capsys.readouterr().out == ""
    CommandContext("run", output_json="out.json").echo("a result")
    assert capsys.readouterr().out == "a result\n"


def test_a_closed_pipe_ends_the_output_and_not_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        context = CommandContext("run")
        context.echo("the first line")
        context.echo("the second line")
        monkeypatch.undo()
        assert os.fstat(stream.fileno()).st_rdev == os.stat(os.devnull).st_rdev, "the rest goes to the null device"


def test_a_terminal_is_told_from_other_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    context = CommandContext("accept")
    person, terminal = pty.openpty()
    with open(person, "w", encoding="utf-8") as keyboard, open(terminal, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert context.has_terminal_input
        keyboard.write("y\nno\n")
        keyboard.flush()
        assert [context.ask("Go on?"), context.ask("Go on?")] == [True, False]
    assert not context.has_terminal_input, "it is closed"
    monkeypatch.setattr(sys, "stdin", None)
    assert not context.has_terminal_input
    with open(os.devnull, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert not context.has_terminal_input


def test_a_question_is_no_result(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert CommandContext("accept").ask("Go on\x1b?")
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert not CommandContext("accept").ask("Go on?")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "Go on\\u001b? [y/N] Go on? [y/N] \n")
