"""Errors as the command line prints them: a short message, a hint, an exit code, and no secret."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from typing import Any

from headgate.cli import exit_codes
from headgate.display.text import escape_line

# user:password@ of an address
_LOGIN = re.compile(r"(?<=://)[^\s@'\"]+@")
_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_METHOD = re.compile(r"\bgate\.(?=(?:accept|reject|release|discard)\b)")  # hints of the library name Python methods
_MIN_SECRET_LENGTH = 4  # characters; redacting shorter ones would make ordinary words unreadable
_MAX_CONFIG_BYTES = 1 << 22


def exit_code_of(error: BaseException) -> int:
    """The exit code of an error: 2 if the user can correct the call or the configuration, else 3."""
    from headgate.values.errors import DeliveryError, HeadgateError, MisuseError, UnknownRun

    match error:
        case KeyboardInterrupt():
            return exit_codes.INTERRUPTED
        case MisuseError() | UnknownRun():
            return exit_codes.MISUSED
        case DeliveryError():
            return exit_codes.UNDELIVERED
        case HeadgateError() if type(error).__name__ == "ConfigError":
            return exit_codes.MISUSED
    return exit_codes.UNKNOWN


def describe_error(error: BaseException) -> str:
    """The message of an error; an unexpected one is given with its type and how to see the traceback."""
    from headgate.values.errors import HeadgateError

    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, HeadgateError):
        hint = "" if error.hint else hint_of(error)
        lines = getattr(error, "mistakes", ()) or [error]  # of a configuration, a line for each mistake
        message = "\n".join(escape_line(str(line)) for line in lines)
        return f"error: {_METHOD.sub('headgate ', message)}{hint and ' ' + hint}"
    if isinstance(error, OSError) and error.strerror and error.filename:
        file = escape_line(str(error.filename))
        return f"error: {file}: {error.strerror}. headgate doctor says what can be read and written."
    first = next(iter(str(error).strip().splitlines()), "")
    message = f"{type(error).__name__}: {first[:300]}" if first else type(error).__name__
    return f"error: {message} (unexpected; -vv shows the traceback)"


def hint_of(error: BaseException) -> str:
    """The hint of an error, or a general one for its type; empty if there is none."""
    from headgate.values.errors import CorruptBytes, StoreUnavailable

    if hint := str(getattr(error, "hint", "")):
        return hint
    match error:
        case CorruptBytes():
            return "It is damaged, or another file: restore it from a copy, or name the right one."
        case StoreUnavailable():
            return "Is store: right, and may it be written to? headgate doctor tries it."
    return ""


def error_to_dict(error: BaseException, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """The error as the `error` member of the JSON document."""
    message = redact_secrets(describe_error(error).removeprefix("error: "), secrets)
    hint = redact_secrets(hint_of(error), secrets)
    return {"kind": type(error).__name__, "message": message, "hint": hint}


def format_traceback(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    return redact_secrets("".join(traceback.format_exception(error)), secrets)


def redact_secrets(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text with these secrets and the logins of addresses replaced by ***.

    >>> redact_secrets("cannot reach postgresql://ann:pw@db/x?key=s3cret", ("s3cret",))
    'cannot reach postgresql://***@db/x?key=***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOGIN.sub("***@", text)


def secrets_of(config: str) -> tuple[str, ...]:
    """The values of the environment variables that a configuration refers to, longest first. Never raises.

    The longest come first because one may contain another.
    """
    try:
        path = Path(config)
        if not path.is_file() or path.stat().st_size > _MAX_CONFIG_BYTES:
            return ()
        names = set(_REFERENCE.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ()
    values = {os.environ.get(name, "") for name in names}
    return tuple(sorted((each for each in values if len(each) >= _MIN_SECRET_LENGTH), key=len, reverse=True))
