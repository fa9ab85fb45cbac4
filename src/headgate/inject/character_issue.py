"""What the three issues of single characters share: text as it is, numbers by the digits of their text."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.characters import CharacterArray, Places
from headgate.inject.issue import NUMBERS, Issue
from headgate.inject.numbers import parse_numbers
from headgate.inject.parameters import check_share
from headgate.metrics.base.arrow import kind_of
from headgate.values.schema import TEXT, Kind


class CharacterIssue(Issue, frozen=True):
    """An issue of single characters. In a number they are digits, never the sign, the point or the exponent.

    The text of the number is read back into the column's type, or into a wider one where it does not fit; decimals
    are rounded to their scale. A number whose last digit is gone is null. NaN and infinities have no digits.
    """

    share: float
    accepts: ClassVar = NUMBERS | TEXT

    def __post_init__(self) -> None:
        check_share(self)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        if kind_of(values.type) is Kind.STRING:
            text = CharacterArray.of(values)
            return self.edit_characters(text, text.everywhere(), False, rng).texts(values.type)
        text = CharacterArray.of(values.cast(pa.string()))
        digits = text.digits()
        edited = self.edit_characters(text, digits, True, rng)
        texts = edited.texts(pa.string())
        if len(edited.codes) < len(text.codes):
            lost = (edited.digits().counts == 0) & (digits.counts > 0)
            texts = pc.if_else(pa.array(lost), pa.scalar(None, pa.string()), texts)
        return parse_numbers(texts, values.type)

    def edit_characters(
        self, text: CharacterArray, places: Places, numeric: bool, rng: np.random.Generator
    ) -> CharacterArray:
        """The characters after the issue, which may happen at these places only."""
        raise NotImplementedError(f"{type(self).__name__} has no edit_characters")
