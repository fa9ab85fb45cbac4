"""One call of the command line: its shared options, where its words go, and how long work is shown."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headgate.cli.errors import redact_secrets, secrets_of
from headgate.cli.options import CONFIG

if TYPE_CHECKING:
    from rich.console import Console

    from headgate.engine.progress import Progress
    from headgate.project.project import Project

STDOUT = "-"


class CommandContext:
    """What every command is given first. Results go to standard output, everything else to standard error."""

    def __init__(
        self,
        command: str,
        *,
        config: str = CONFIG,
        settings: tuple[str, ...] = (),
        output_json: str | None = None,
        verbose: int = 0,
        quiet: bool = False,
        no_color: bool = False,
    ) -> None:
        self.command = command
        self.config = config
        self.settings = settings
        self.output_json = output_json
        self.verbose = verbose
        self.quiet = quiet
        self.no_color = no_color
        self.exit_stack = contextlib.ExitStack()  # what must be closed when the command ends
        self._project: Project | None = None

    # --- words

    @property
    def is_silent(self) -> bool:
        """Whether standard output belongs to the JSON document."""
        return self.output_json == STDOUT

    @cached_property
    def out(self) -> Console:
        return _make_console(sys.stdout, self.no_color)

    @property
    def width(self) -> int:
        """The characters of a line that is not broken; without a terminal none is."""
        return self.out.width if self.out.is_terminal else 1_000_000

    @cached_property
    def err(self) -> Console:
        return _make_console(sys.stderr, self.no_color)

    def echo(self, *things: Any) -> None:
        """Print results: as they render themselves on a terminal, as plain text that no line is cut of elsewhere."""
        if self.is_silent:
            return
        for thing in things:
            _write_text(sys.stdout, _render_text(self.out, escape_controls(thing) if isinstance(thing, str) else thing))

    def echo_raw(self, text: str) -> None:
        """Print a text as it is: YAML and Python are copied from the screen."""
        if not self.is_silent:
            _write_text(sys.stdout, text.rstrip("\n") + "\n")

    def echo_err(self, text: str, style: str = "") -> None:
        """Say something that is not a result."""
        from rich.text import Text

        cleaned = self.clean_text(text)
        _write_text(sys.stderr, _render_text(self.err, Text(cleaned, style=style) if style else cleaned))

    def clean_text(self, text: str) -> str:
        """The text without secrets that the configuration refers to, and without control characters."""
        return escape_controls(redact_secrets(text, self.secrets))

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        return secrets_of(self.config)

    # --- work

    @contextlib.contextmanager
    def show_progress(self, title: str, stage: str = "") -> Iterator[Callable[[Progress], None] | None]:
        """What long work reports to; None where nobody watches."""
        if self.quiet or not self.err.file.isatty() or self.err.is_dumb_terminal:  # FORCE_COLOR makes no terminal
            yield None
            return
        from headgate.cli.progress_bar import show_progress_bar

        with show_progress_bar(self.err, title, stage) as report:
            yield report

    def open_project(self) -> Project:
        """The project that the configuration describes, opened once."""
        if self._project is None:
            from headgate.project.project import Project

            self._project = self.exit_stack.enter_context(Project.open(self.config, settings=self.parse_settings()))
        return self._project

    def parse_settings(self) -> dict[str, str]:
        """What `--set` says, by key."""
        from headgate.values.errors import MisuseError

        found = {}
        for each in self.settings:
            key, equals, value = each.partition("=")
            if not equals or not key.strip():
                raise MisuseError(
                    f"--set {each!r} has no value.", hint="Write --set datasets.orders.false_alarms=0.02."
                )
            found[key.strip()] = value
        return found


def escape_controls(text: str) -> str:
    """The text with control characters spelled out: a name must not move the reader's cursor.

    >>> escape_controls("a\\x1b[2Jb")
    'a\\\\u001b[2Jb'
    """
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\u{ord(char):04x}" for char in text)


def _make_console(file: Any, no_color: bool) -> Console:
    from rich.console import Console

    return Console(file=file, markup=False, highlight=False, emoji=False, no_color=no_color or None)


def _render_text(console: Console, thing: Any) -> str:
    if not console.is_terminal:
        return f"{thing}\n"
    with console.capture() as caught:
        console.print(thing)
    return caught.get()


def _write_text(file: Any, text: str) -> None:
    """A reader that has gone away (`| head`) ends the words, not the work."""
    try:
        file.write(text)
        file.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, file.fileno())
            os.close(nowhere)
