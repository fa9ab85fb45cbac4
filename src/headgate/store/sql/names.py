"""Names as SQL keeps them: readable, in the order of their code points, whatever characters they hold."""

from __future__ import annotations

import hashlib
import re

from headgate.values.errors import MisuseError

LONGEST_STANDING = 200  # characters of a place that are indexed; PostgreSQL's index entries have at most 2,700 bytes

_KEPT = {"\0": "\1\1", "\1": "\1\2"}
_MEANT = {text: name for name, text in _KEPT.items()}


def kept(name: str) -> str:
    r"""A name without NUL, which PostgreSQL's text cannot hold. Order is kept; other names stay as they are.

    >>> kept("a\0b"), kept("orders")
    ('a\x01\x01b', 'orders')
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise MisuseError(
            f"{name[:80]!r} has half of a surrogate pair, which is no character.", hint="Repair the name's encoding."
        ) from None
    return re.sub("[\0\1]", lambda found: _KEPT[found.group()], name)


def meant(text: str) -> str:
    r"""The name that a stored text stands for.

    >>> meant(kept("a\0\1b")) == "a\0\1b"
    True
    """
    return re.sub("\1[\1\2]", lambda found: _MEANT[found.group()], text)


def digest(name: str) -> bytes:
    """By what a name of any length is looked up in an index."""
    return hashlib.sha256(kept(name).encode()).digest()
