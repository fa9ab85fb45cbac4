"""The result of a command as one JSON document, in the stable format of output.schema.json."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headgate.values.version import __version__

FORMAT = 1


class CommandResult:
    """The result of a command: its exit code and the members of its JSON document."""

    def __init__(self, exit_code: int = 0, **body: Any) -> None:
        self.exit_code = exit_code
        self.body = body


def schema_text() -> str:
    """The text of output.schema.json, the JSON schema of every document."""
    return (Path(__file__).parent / "output.schema.json").read_text(encoding="utf-8")


def make_document(command: str, result: CommandResult) -> dict[str, Any]:
    head = {"headgate": __version__, "format": FORMAT, "command": command, "exit_code": result.exit_code}
    return {**head, **to_json_value(result.body)}


def to_json_value(value: Any) -> Any:
    """A value as JSON can hold it; NaN and infinities become null.

    >>> to_json_value({"mean": float("nan"), 3: (1, {"x"})})
    {'mean': None, '3': [1, ['x']]}
    """
    match value:
        case None | bool() | int():
            return value
        case str():
            return str(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): to_json_value(each) for key, each in value.items()}
        case list() | tuple():
            return [to_json_value(each) for each in value]
        case set() | frozenset():
            return [to_json_value(each) for each in sorted(value, key=str)]
    return to_json_value(value.item()) if hasattr(value, "item") else str(value)


def format_json(document: Mapping[str, Any]) -> str:
    """The document as text. Characters that a terminal would obey are written as escapes, which mean the same."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text) + "\n"


def write_atomically(target: str, text: str) -> None:
    """Write a file completely or not at all; a lone surrogate in a name becomes an escape, which JSON allows."""
    data = text.encode("utf-8", "backslashreplace")
    path = Path(target)
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe
        path.write_bytes(data)
        return
    number, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        Path(draft).chmod(0o666 & ~_read_umask())  # mkstemp lets only the owner read
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _read_umask() -> int:
    """The umask of the process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
