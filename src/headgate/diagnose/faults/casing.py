"""Texts are written in another case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.text_change import Undo, fit_text_change
from headgate.display.numbers import format_share
from headgate.values.diagnosis import FaultParameters

_FORMS: dict[str, Undo] = {
    "lower case": str.lower,
    "upper case": str.upper,
    "title case": str.title,
    "sentence case": str.capitalize,
}
_WORD = re.compile("[Aa]+")  # of a pattern
_UNDO = {"lower": pc.utf8_lower, "upper": pc.utf8_upper}


@fault
class Casing(KnownFault):
    """Values in upper case, in lower case or with capitals."""

    name: ClassVar = "casing"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_text:
            return
        for name, form in _FORMS.items():
            wrong = [text for text in pair.now.values if not pair.knows_value(text)]
            if wrong and sum(text == form(text) for text in wrong) < 0.8 * len(wrong):
                continue

            def restore(text: str) -> str:
                """The text in the case that a run before had it in."""
                return next((each for change in _FORMS.values() if pair.knows_value(each := change(text))), text)

            def write_pattern(pattern: str, form: Undo = form) -> str:
                return _collapse(_WORD.sub("Aa", pattern) if form is str.title else form(pattern))

            is_all = all(text == form(text) for text in pair.now.values) and pair.now.listed > 0
            change = fit_text_change(pair, restore, write_pattern, all_changed=is_all)
            if change is None:
                continue
            part = "" if change.share > 0.97 else f" in {format_share(change.share)} of its values"
            yield Fit(
                self.name,
                f"is written in {name}{part}",
                change.unexplained,
                (pair.label,),
                {"case": name.split()[0]},
                change.share,
            )

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return _UNDO[str(parameters["was"])](values)


def _collapse(pattern: str) -> str:
    """A pattern with each run of one symbol as one symbol.

    >>> _collapse("AA A9")
    'A A9'
    """
    return re.sub(r"([Aa9Xx])\1+", r"\1", pattern)
