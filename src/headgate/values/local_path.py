"""Paths of this machine. An address such as `s3a://bucket/x` is refused, since it would name a local folder `s3a:`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from headgate.values.errors import MisuseError

# One slash suffices: dbfs:/x is an address too, and a Path makes one of two. Windows has drives of one letter.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_FILE = re.compile(r"file:(?://(?:localhost)?)?(?=/[^/])", re.IGNORECASE)


def to_local_path(path: str | os.PathLike[str], what: str, hint: str = "Name a path of this machine.") -> Path:
    """The path; `file:///x` is `/x`. Any other address is refused, and the message begins with `what`.

    >>> str(to_local_path("lake/orders", "publish")), str(to_local_path("file:///lake/a%20b", "publish"))
    ('lake/orders', '/lake/a b')
    """
    text = os.fspath(path)
    if _FILE.match(text):
        return Path(unquote(_FILE.sub("", text, count=1)))
    if scheme := _SCHEME.match(text):
        raise MisuseError(f"{what} is an address ({scheme[1]}:), not a path of this machine.", hint=hint)
    return Path(text)
