"""The encoding of names in SQL: readable, sorted by code points, for any characters."""

from __future__ import annotations

import hashlib
import re

from headgate.values.errors import refuse_surrogates

LONGEST_INDEXED = 200  # characters of a sort key that are indexed; PostgreSQL's index entries have at most 2,700 bytes

_ENCODED = {"\0": "\1\1", "\1": "\1\2"}
_DECODED = {text: name for name, text in _ENCODED.items()}


def encode_name(name: str) -> str:
    r"""A name without NUL, which PostgreSQL's text cannot contain. The order of names is kept, and most stay the same.

    >>> encode_name("a\0b"), encode_name("orders")
    ('a\x01\x01b', 'orders')
    """
    return re.sub("[\0\1]", lambda found: _ENCODED[found.group()], refuse_surrogates(name))


def decode_name(text: str) -> str:
    r"""The name that a stored text encodes.

    >>> decode_name(encode_name("a\0\1b")) == "a\0\1b"
    True
    """
    return re.sub("\1[\1\2]", lambda found: _DECODED[found.group()], text)


def hash_name(name: str) -> bytes:
    """The hash by which a name of any length is looked up in an index."""
    return hashlib.sha256(encode_name(name).encode()).digest()
