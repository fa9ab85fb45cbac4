"""What makes a function a command: the shared options, the JSON document, errors in words, the exit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
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
    """A command of this name. The function gets the call first, then its own options, and gives its answer.

    `project=False` is for what reads no configuration.
    """

    def decorate(function: Callable[..., CommandResult]) -> Callable[..., None]:
        shared = {**(_PROJECT_OPTIONS if project else {}), **_SHARED_OPTIONS}
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run_command(**arguments: Any) -> None:
            words = {key: arguments.pop(key) for key in shared}
            words["settings"] = tuple(words.pop("set_", None) or ())
            raise typer.Exit(_execute_command(CommandContext(name, **words), function, arguments))

        parameters = [*own, *(_make_parameter(key, kind, default) for key, (kind, default) in shared.items())]
        run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run_command.__annotations__ = {each.name: each.annotation for each in parameters}
        del run_command.__wrapped__
        return run_command

    return decorate


def _make_parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _execute_command(context: CommandContext, function: Callable[..., CommandResult], arguments: dict[str, Any]) -> int:
    """The command carried out, its document written, and the code that it ends with."""
    try:
        _check_json_target(context)
        with context.exit_stack:
            result = function(context, **arguments)
    except (Exception, KeyboardInterrupt) as trouble:
        result = CommandResult(errors.exit_code_of(trouble), error=errors.error_to_dict(trouble, context.secrets))
        report_error(context, trouble)
    return _write_result(context, result)


def report_error(context: CommandContext, trouble: BaseException) -> None:
    """Say what went wrong, on standard error; its traceback only to those who asked for it."""
    if context.verbose > 1:
        context.echo_err(errors.format_traceback(trouble, context.secrets))
    context.echo_err(errors.describe_error(trouble), style="" if isinstance(trouble, KeyboardInterrupt) else "red")


def _check_json_target(context: CommandContext) -> None:
    """Known before the work begins, not after it, and told once."""
    target = context.output_json
    if target in (None, STDOUT):
        return
    from pathlib import Path

    from headgate.values.errors import MisuseError

    path = Path(str(target))
    if path.is_dir() or not path.parent.is_dir():
        context.output_json = None
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
    except OSError as trouble:
        context.echo_err(
            f"error: the JSON document could not be written to {context.output_json}: {trouble.strerror}", "red"
        )
        return exit_codes.worst_code([result.exit_code, exit_codes.UNDELIVERED])
    return result.exit_code
