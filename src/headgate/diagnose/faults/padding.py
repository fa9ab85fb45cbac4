"""Texts have blanks around them that they did not have, or lost them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.text_change import fit_text_change
from headgate.display.numbers import format_share
from headgate.values.diagnosis import FaultParameters


@fault
class Padding(KnownFault):
    """Blanks before or after the values."""

    name: ClassVar = "padding"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_text:
            return
        padded = [*pair.now.values, *pair.now.patterns]
        if not any(text != text.strip() for text in padded):
            return
        change = fit_text_change(pair, str.strip, str.strip, forward=False)
        if change is not None:
            part = "" if change.share > 0.97 else f" in {format_share(change.share)} of its values"
            what = f"has blanks around the values{part}"
            yield Fit(self.name, what, change.unexplained, (pair.label,), {}, change.share)

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return pc.utf8_trim_whitespace(values)
