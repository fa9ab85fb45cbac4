"""What makes a function a command: the shared options, the JSON document, errors in words, the exit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from headgate.cli import errors, exit_codes, options
from headgate.cli.context import STDOUT, Call
from headgate.cli.output import Answer, document, text_of, write

_OF_PROJECTS = {"config": (options.Config, options.CONFIG), "set_": (options.Settings, None)}
_OF_ALL = {
    "output_json": (options.Json, None),
    "verbose": (options.Verbose, 0),
    "quiet": (options.Quiet, False),
    "no_color": (options.NoColor, False),
}


def command(name: str, *, project: bool = True) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """A command of this name. The function gets the call first, then its own options, and gives its answer.

    `project=False` is for what reads no configuration.
    """

    def made(function: Callable[..., Answer]) -> Callable[..., None]:
        shared = {**(_OF_PROJECTS if project else {}), **_OF_ALL}
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run(**given: Any) -> None:
            words = {key: given.pop(key) for key in shared}
            words["settings"] = tuple(words.pop("set_", None) or ())
            raise typer.Exit(_ended(Call(name, **words), function, given))

        parameters = [*own, *(_option(key, kind, default) for key, (kind, default) in shared.items())]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        del run.__wrapped__
        return run

    return made


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _ended(call: Call, function: Callable[..., Answer], given: dict[str, Any]) -> int:
    """The command carried out, its document written, and the code that it ends with."""
    try:
        _writable(call)
        with call.open:
            answer = function(call, **given)
    except (Exception, KeyboardInterrupt) as trouble:
        answer = Answer(errors.exit_code_of(trouble), error=errors.record(trouble, call.secrets))
        tell(call, trouble)
    return _delivered(call, answer)


def tell(call: Call, trouble: BaseException) -> None:
    """Say what went wrong, on standard error; its traceback only to those who asked for it."""
    if call.verbose > 1:
        call.note(errors.trace(trouble, call.secrets))
    call.note(errors.told(trouble), style="" if isinstance(trouble, KeyboardInterrupt) else "red")


def _writable(call: Call) -> None:
    """Known before the work begins, not after it, and told once."""
    target = call.output_json
    if target in (None, STDOUT):
        return
    from pathlib import Path

    from headgate.values.errors import MisuseError

    path = Path(str(target))
    if path.is_dir() or not path.parent.is_dir():
        call.output_json = None
        raise MisuseError(f"--output-json cannot be written to {target}.", hint="Name a file in a folder that exists.")


def _delivered(call: Call, answer: Answer) -> int:
    if call.output_json is None:
        return answer.exit_code
    text = text_of(document(call.command, answer))
    try:
        if call.silent:
            Call(call.command).raw(text)
        else:
            write(call.output_json, text)
    except OSError as trouble:
        call.note(f"error: the JSON document could not be written to {call.output_json}: {trouble.strerror}", "red")
        return exit_codes.worst([answer.exit_code, exit_codes.UNDELIVERED])
    return answer.exit_code
