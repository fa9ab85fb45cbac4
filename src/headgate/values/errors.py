"""Every error a caller can meet, as one tree.

HeadgateError
├── MisuseError            the call itself is wrong; raised at construction
│   ├── UnknownMetric      no registered metric has this name
│   ├── BadMetricKey       a text is not a metric key
│   └── BadPredicate       a row predicate or an expectation's predicate cannot be understood
├── StoredDataError        bytes that were stored cannot be trusted or read
│   ├── CorruptBytes       truncated, flipped or foreign bytes, refused before decoding
│   └── NewerFormat        written by a newer version of the format
└── EngineError            a batch could not be read at all

Trouble in data is not here: it is a value (`Undefined`, `Failed`), see `values.outcome`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HeadgateError(Exception):
    """The root of the tree; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


class MisuseError(HeadgateError, ValueError):
    """The call itself is wrong."""


class UnknownMetric(MisuseError):
    """No registered metric has this name."""


class BadMetricKey(MisuseError):
    """A text is not a metric key."""


class BadPredicate(MisuseError):
    """A predicate cannot be understood."""


class StoredDataError(HeadgateError):
    """Stored bytes cannot be trusted or read."""


class CorruptBytes(StoredDataError):
    """Truncated, altered or foreign bytes."""


class NewerFormat(StoredDataError):
    """Written by a newer version of the format than this one reads."""


class EngineError(HeadgateError):
    """A batch could not be read at all."""


def did_you_mean(name: str, known: Iterable[str], most: int = 8) -> str:
    """A hint that names the nearest known word.

    >>> did_you_mean("prise", ["price", "quantity"])
    "there are price, quantity. Did you mean 'price'?"
    """
    names = list(known)
    shown = ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
    near = difflib.get_close_matches(name, names, n=1)
    return f"there are {shown or 'none'}." + (f" Did you mean {near[0]!r}?" if near else "")
