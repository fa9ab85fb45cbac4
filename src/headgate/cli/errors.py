"""What a person is told when a command cannot do its work: one or few lines, and what to do."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from typing import Any

from headgate.cli import exits

# user:password@ of an address; what is before the host is never for a screen
_LOGIN = re.compile(r"(?<=://)[^\s@'\"]+@")
_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_METHOD = re.compile(r"\bgate\.(?=(?:accept|reject|release|discard)\b)")  # hints of the library are of Python
_SHORTEST = 4  # characters of a secret: shorter ones would tear ordinary words apart
_LONGEST = 1 << 22


def exit_code_of(trouble: BaseException) -> int:
    """Which code an error ends with: 2 if the caller can mend the call, 3 if the world is to blame."""
    from headgate.values.errors import DeliveryError, HeadgateError, MisuseError, UnknownRun

    match trouble:
        case KeyboardInterrupt():
            return exits.INTERRUPTED
        case MisuseError() | UnknownRun():
            return exits.MISUSED
        case DeliveryError():
            return exits.UNDELIVERED
        case HeadgateError() if type(trouble).__name__ == "ConfigError":
            return exits.MISUSED
    return exits.UNKNOWN


def told(trouble: BaseException) -> str:
    """The error in words; of one that nobody foresaw, its kind and how to see more."""
    from headgate.values.errors import HeadgateError

    if isinstance(trouble, KeyboardInterrupt):
        return "interrupted"
    if isinstance(trouble, HeadgateError):
        return f"error: {_METHOD.sub('headgate ', str(trouble))}"
    first = str(trouble).strip().splitlines()
    said = f"{type(trouble).__name__}: {first[0][:300]}" if first else type(trouble).__name__
    return f"error: {said} (unexpected; -vv shows the traceback)"


def record(trouble: BaseException, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """The error as data."""
    message = scrubbed(told(trouble).removeprefix("error: "), secrets)
    hint = scrubbed(str(getattr(trouble, "hint", "")), secrets)
    return {"kind": type(trouble).__name__, "message": message, "hint": hint}


def trace(trouble: BaseException, secrets: tuple[str, ...] = ()) -> str:
    return scrubbed("".join(traceback.format_exception(trouble)), secrets)


def scrubbed(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text without logins of addresses and without these secrets.

    >>> scrubbed("cannot reach postgresql://ann:pw@db/x?key=s3cret", ("s3cret",))
    'cannot reach postgresql://***@db/x?key=***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOGIN.sub("***@", text)


def secrets_of(config: str) -> tuple[str, ...]:
    """The values of the variables that a configuration refers to, the longest first. It never raises."""
    try:
        path = Path(config)
        if not path.is_file() or path.stat().st_size > _LONGEST:
            return ()
        names = set(_REFERENCE.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ()
    values = {os.environ.get(name, "") for name in names}
    return tuple(sorted((each for each in values if len(each) >= _SHORTEST), key=len, reverse=True))
