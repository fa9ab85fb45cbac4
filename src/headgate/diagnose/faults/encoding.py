"""Texts in UTF-8 were read in another encoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.text_change import Undo, fit_text_change
from headgate.display.numbers import format_share
from headgate.values.diagnosis import FaultParameters

_ENCODINGS = {"Latin-1": "latin-1", "Windows-1252": "cp1252"}
_REPLACED = "\N{REPLACEMENT CHARACTER}"


@fault
class Encoding(KnownFault):
    """UTF-8 that was read as Latin-1 or Windows-1252, or characters that were lost."""

    name: ClassVar = "encoding"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_text:
            return
        for name, codec in _ENCODINGS.items():

            def restore(text: str, codec: str = codec) -> str:
                return decode_again(text, codec)

            share = _measure_share(pair, restore)
            if not share:
                continue
            change = fit_text_change(pair, restore, restore, forward=False)
            yield _make_fit(pair, name, share, 0.2 if change is None else change.unexplained)
        lost = sum(part for text, part in pair.now.values.items() if _REPLACED in text)
        if lost > 0.001:
            what = f"has characters that could not be read ({_REPLACED}) in {format_share(lost)} of its values"
            yield Fit(self.name, what, 0.2, (pair.label,), {"encoding": "unknown"}, lost)

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        codec = _ENCODINGS.get(str(parameters.get("encoding")), "latin-1")
        return pa.array(
            [None if each is None else decode_again(each, codec) for each in values.to_pylist()], values.type
        )


def decode_again(text: str, codec: str) -> str:
    """The text read as UTF-8; as it is if its bytes are none, or if it has no other characters than ASCII.

    >>> decode_again("Ã\\u0096sterreich", "latin-1"), decode_again("Österreich", "latin-1")
    ('Österreich', 'Österreich')
    """
    if text.isascii():
        return text
    try:
        return text.encode(codec).decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return text


def _measure_share(pair: ColumnPair, restore: Undo) -> float:
    """The part of the values, or of the patterns, that were read in a wrong encoding."""
    of_values = sum(part for text, part in pair.now.values.items() if restore(text) != text)
    of_patterns = sum(part for text, part in pair.now.patterns.items() if restore(text) != text)
    return max(of_values, of_patterns)


def _make_fit(pair: ColumnPair, name: str, share: float, unexplained: float) -> Fit:
    what = f"is UTF-8 that was read as {name}"
    cost = 0.02 * (name != "Latin-1")
    return Fit(Encoding.name, what, min(unexplained, 0.2), (pair.label,), {"encoding": name}, share, cost)
