"""What a person is told when a command cannot do its work: one or few lines, and what to do."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from typing import Any

from headgate.cli import exit_codes

# user:password@ of an address; what is before the host is never for a screen
_LOGIN = re.compile(r"(?<=://)[^\s@'\"]+@")
_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_METHOD = re.compile(r"\bgate\.(?=(?:accept|reject|release|discard)\b)")  # hints of the library are of Python
_MIN_SECRET_LENGTH = 4  # characters of a secret: shorter ones would tear ordinary words apart
_MAX_CONFIG_BYTES = 1 << 22


def exit_code_of(trouble: BaseException) -> int:
    """Which code an error ends with: 2 if the caller can mend the call, 3 if the world is to blame."""
    from headgate.values.errors import DeliveryError, HeadgateError, MisuseError, UnknownRun

    match trouble:
        case KeyboardInterrupt():
            return exit_codes.INTERRUPTED
        case MisuseError() | UnknownRun():
            return exit_codes.MISUSED
        case DeliveryError():
            return exit_codes.UNDELIVERED
        case HeadgateError() if type(trouble).__name__ == "ConfigError":
            return exit_codes.MISUSED
    return exit_codes.UNKNOWN


def describe_error(trouble: BaseException) -> str:
    """The error in words; of one that nobody foresaw, its kind and how to see more."""
    from headgate.values.errors import HeadgateError

    if isinstance(trouble, KeyboardInterrupt):
        return "interrupted"
    if isinstance(trouble, HeadgateError):
        hint = "" if trouble.hint else hint_of(trouble)
        return f"error: {_METHOD.sub('headgate ', str(trouble))}{hint and ' ' + hint}"
    if isinstance(trouble, OSError) and trouble.strerror and trouble.filename:
        return f"error: {trouble.filename}: {trouble.strerror}. headgate doctor says what can be read and written."
    first = str(trouble).strip().splitlines()
    said = f"{type(trouble).__name__}: {first[0][:300]}" if first else type(trouble).__name__
    return f"error: {said} (unexpected; -vv shows the traceback)"


def hint_of(trouble: BaseException) -> str:
    """What to do about an error; of one that does not say it, what can be done about its kind."""
    from headgate.values.errors import CorruptBytes, StoreUnavailable

    if hint := str(getattr(trouble, "hint", "")):
        return hint
    match trouble:
        case CorruptBytes():
            return "It is damaged, or another file: restore it from a copy, or name the right one."
        case StoreUnavailable():
            return "Is store: right, and may it be written to? headgate doctor tries it."
    return ""


def error_to_dict(trouble: BaseException, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """The error as data."""
    message = redact_secrets(describe_error(trouble).removeprefix("error: "), secrets)
    hint = redact_secrets(hint_of(trouble), secrets)
    return {"kind": type(trouble).__name__, "message": message, "hint": hint}


def format_traceback(trouble: BaseException, secrets: tuple[str, ...] = ()) -> str:
    return redact_secrets("".join(traceback.format_exception(trouble)), secrets)


def redact_secrets(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text without logins of addresses and without these secrets.

    >>> redact_secrets("cannot reach postgresql://ann:pw@db/x?key=s3cret", ("s3cret",))
    'cannot reach postgresql://***@db/x?key=***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOGIN.sub("***@", text)


def secrets_of(config: str) -> tuple[str, ...]:
    """The values of the variables that a configuration refers to, the longest first. It never raises."""
    try:
        path = Path(config)
        if not path.is_file() or path.stat().st_size > _MAX_CONFIG_BYTES:
            return ()
        names = set(_REFERENCE.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ()
    values = {os.environ.get(name, "") for name in names}
    return tuple(sorted((each for each in values if len(each) >= _MIN_SECRET_LENGTH), key=len, reverse=True))
