"""The context of one call of the command line: shared options, output streams, progress, project."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headgate.cli.errors import redact_secrets, secrets_of
from headgate.cli.options import CONFIG
from headgate.display.text import escape_controls, escape_line

if TYPE_CHECKING:
    from rich.console import Console

    from headgate.engine.progress import Progress
    from headgate.project.project import Project

STDOUT = "-"


class CommandContext:
    """The first argument of every command. Results go to standard output, everything else to standard error."""

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
        self.exit_stack = contextlib.ExitStack()  # closed when the command ends
        self._project: Project | None = None

    # --- output

    @property
    def is_silent(self) -> bool:
        """Whether standard output belongs to the JSON document."""
        return self.output_json == STDOUT

    @cached_property
    def out(self) -> Console:
        return _make_console(sys.stdout, self.no_color)

    @property
    def width(self) -> int:
        """The number of characters in a line; practically unlimited where there is no terminal."""
        return self.out.width if self.out.is_terminal else 1_000_000

    @cached_property
    def err(self) -> Console:
        return _make_console(sys.stderr, self.no_color)

    def echo(self, *things: Any) -> None:
        """Print results: rendered on a terminal, as plain text with lines of any length elsewhere.

        A string is one line: line breaks in it, such as those of a name, are escaped.
        """
        if self.is_silent:
            return
        for thing in things:
            printable = escape_line(thing) if isinstance(thing, str) else thing
            _write_text(sys.stdout, _render_text(self.out, printable))

    def echo_raw(self, text: str) -> None:
        """Print a text as it is, such as YAML or Python that is copied from the screen; only controls are escaped."""
        if not self.is_silent:
            _write_text(sys.stdout, escape_controls(text.rstrip("\n")) + "\n")

    def echo_err(self, text: str, style: str = "") -> None:
        """Print on standard error what is not a result."""
        from rich.text import Text

        cleaned = self.clean_text(text)
        _write_text(sys.stderr, _render_text(self.err, Text(cleaned, style=style) if style else cleaned))

    # --- questions

    @property
    def has_terminal_input(self) -> bool:
        """Whether a person can answer a question: standard input is a terminal."""
        return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()

    def ask(self, question: str) -> bool:
        """Ask on standard error. Everything but y and yes is a no, and so is the end of the input."""
        _write_text(sys.stderr, f"{self.clean_text(question)} [y/N] ")
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            _write_text(sys.stderr, "\n")
        return answer.strip().lower() in ("y", "yes")

    # --- secrets

    def clean_text(self, text: str) -> str:
        """The text with the secrets of the configuration redacted and control characters escaped."""
        return escape_controls(redact_secrets(text, self.secrets))

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        return secrets_of(self.config)

    # --- work

    @contextlib.contextmanager
    def show_progress(self, title: str, stage: str = "") -> Iterator[Callable[[Progress], None] | None]:
        """Give the callback that long work reports its progress to, or None where no progress is shown."""
        # The file is asked, not rich: with FORCE_COLOR, rich takes a pipe for a terminal.
        if self.quiet or not self.err.file.isatty() or self.err.is_dumb_terminal:
            yield None
            return
        from headgate.cli.progress_bar import show_progress_bar

        with show_progress_bar(self.err, title, stage) as report:
            yield report

    def open_project(self) -> Project:
        """The project of the configuration, opened at the first call and closed when the command ends."""
        if self._project is None:
            from headgate.project.project import Project

            self._project = self.exit_stack.enter_context(Project.open(self.config, settings=self.parse_settings()))
        return self._project

    def parse_settings(self) -> dict[str, str]:
        """The values of `--set` by key."""
        from headgate.values.errors import MisuseError

        values = {}
        for setting in self.settings:
            key, equals, value = setting.partition("=")
            if not equals or not key.strip():
                raise MisuseError(
                    f"--set {setting!r} has no value.", hint="Write --set datasets.orders.false_alarms=0.02."
                )
            values[key.strip()] = value
        return values


def _make_console(file: Any, no_color: bool) -> Console:
    from headgate.cli.safe_console import SafeConsole

    return SafeConsole(file=file, markup=False, highlight=False, emoji=False, no_color=no_color or None)


def _render_text(console: Console, thing: Any) -> str:
    if not console.is_terminal:
        return f"{escape_controls(str(thing))}\n"
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def _write_text(file: Any, text: str) -> None:
    """Write a text. A closed pipe (`| head`) ends the output, not the command."""
    try:
        file.write(text)
        file.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):
            # Python flushes standard output again at exit: with the null device behind it that cannot fail.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, file.fileno())
            os.close(null)
