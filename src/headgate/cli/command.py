"""The decorator that makes a function a command: shared options, JSON document, error messages, exit code.

Tested by `tests/cli/test_output.py` and `tests/cli/test_errors.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from textwrap import indent
from typing import Any

import typer

from headgate.cli import errors, exit_codes, options
from headgate.cli.context import STDOUT, CommandContext
from headgate.cli.output import CommandResult, format_json, make_document, write_atomically

_PROJECT_OPTIONS = {"config": (options.Config, options.CONFIG), "set_": (options.Settings, None)}
_SHARED_OPTIONS = {
    "output_json": (options.Json, None),
    "verbose": (options.Verbose, 0),
    "quiet": (options.Quiet, False),
    "no_color": (options.NoColor, False),
}


def command(name: str, *, project: bool = True) -> Callable[[Callable[..., CommandResult]], Callable[..., None]]:
    """Make a function the command of this name.

    The function takes a `CommandContext` first, then its own options, and returns a `CommandResult`.
    `project=False` is for commands that read no configuration: they have no `--config` and no `--set`.
    """

    def decorate(function: Callable[..., CommandResult]) -> Callable[..., None]:
        shared = {**(_PROJECT_OPTIONS if project else {}), **_SHARED_OPTIONS}
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run_command(**arguments: Any) -> None:
            given = {key: arguments.pop(key) for key in shared}
            given["settings"] = tuple(given.pop("set_", None) or ())
            raise typer.Exit(_execute_command(CommandContext(name, **given), function, arguments))

        # typer builds the options from this signature; __wrapped__ would lead it to that of the function.
        parameters = [*own, *(_make_parameter(key, kind, default) for key, (kind, default) in shared.items())]
        run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run_command.__annotations__ = {each.name: each.annotation for each in parameters}
        del run_command.__wrapped__
        return run_command

    return decorate


def _make_parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _execute_command(context: CommandContext, function: Callable[..., CommandResult], arguments: dict[str, Any]) -> int:
    """Run the command, write its JSON document, and return the exit code."""
    try:
        _check_json_target(context)
        with context.exit_stack:
            result = function(context, **arguments)
    except (Exception, KeyboardInterrupt) as error:
        result = CommandResult(errors.exit_code_of(error), error=errors.error_to_dict(error, context.secrets))
        report_error(context, error)
    return _write_result(context, result)


def report_error(context: CommandContext, error: BaseException) -> None:
    """Print an error on standard error, with its traceback if `-vv` is given."""
    if context.verbose > 1:
        context.echo_err(indent(errors.format_traceback(error, context.secrets), "  "))
    context.echo_err(errors.describe_error(error), style="" if isinstance(error, KeyboardInterrupt) else "red")


def _check_json_target(context: CommandContext) -> None:
    """Refuse a JSON target that cannot be written before the work begins."""
    target = context.output_json
    if target in (None, STDOUT):
        return
    from pathlib import Path

    from headgate.values.errors import MisuseError

    path = Path(str(target))
    if path.is_dir() or not path.parent.is_dir():
        context.output_json = None  # so that the document of this error is not written there either
        raise MisuseError(f"--output-json cannot be written to {target}.", hint="Name a file in a folder that exists.")


def _write_result(context: CommandContext, result: CommandResult) -> int:
    if context.output_json is None:
        return result.exit_code
    text = format_json(make_document(context.command, result))
    try:
        if context.is_silent:
            CommandContext(context.command).echo_raw(text)
        else:
            write_atomically(context.output_json, text)
    except OSError as error:
        context.echo_err(
            f"error: the JSON document could not be written to {context.output_json}: {error.strerror}", "red"
        )
        return exit_codes.worst_code([result.exit_code, exit_codes.UNDELIVERED])
    return result.exit_code
