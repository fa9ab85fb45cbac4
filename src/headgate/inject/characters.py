"""All characters of a column as one array of code points, so that one pass of numpy edits every value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.text import Texts

Codes = npt.NDArray[Any]  # of 8 bits where all of a column is ASCII or no UTF-8, of 32 elsewhere
Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_ZERO, _NINE = ord("0"), ord("9")
_EXPONENTS = (ord("e"), ord("E"))


class Places(NamedTuple):
    """Where in the codes something may be done, and for each value (and past the last) the first of its places."""

    at: Integers
    first: Integers

    @property
    def counts(self) -> Integers:
        return np.diff(self.first)


class CharacterArray(NamedTuple):
    """The code points of all values, one after the other, and where each value begins (and the last ends).

    Bytes that are no UTF-8 are each a character of their own, for the whole column.
    """

    codes: Codes
    offsets: Integers
    decoded: bool = True

    @classmethod
    def of(cls, array: pa.Array) -> CharacterArray:
        """Those of a string array without nulls."""
        texts = Texts(array)
        if texts.ascii:
            return cls(texts.data, texts.offsets)
        try:
            wide = np.frombuffer(texts.data.tobytes().decode().encode("utf-32-le"), np.uint32)
        except UnicodeDecodeError:
            return cls(texts.data, texts.offsets, decoded=False)
        begins = np.zeros(len(texts.data) + 1, np.int64)
        np.cumsum((texts.data & 0xC0) != 0x80, out=begins[1:])
        return cls(wide, begins[texts.offsets])

    def texts(self, kind: pa.DataType) -> pa.Array:
        """The values as an array of this string type."""
        codes, offsets = self.codes, self.offsets
        if codes.dtype == np.uint32:
            sizes = np.zeros(len(codes) + 1, np.int64)
            np.cumsum(1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000), out=sizes[1:])
            offsets = sizes[offsets]
            codes = np.frombuffer(codes.tobytes().decode("utf-32-le").encode(), np.uint8)
        made = pa.large_string() if pa.types.is_large_string(kind) or offsets[-1] >= 2**31 else pa.string()
        width = np.int64 if pa.types.is_large_string(made) else np.int32
        buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(np.ascontiguousarray(codes))]
        return pa.Array.from_buffers(made, len(offsets) - 1, buffers)

    @property
    def lengths(self) -> Integers:
        return np.diff(self.offsets)

    def everywhere(self) -> Places:
        return Places(np.arange(len(self.codes)), self.offsets)

    def digits(self) -> Places:
        """The digits of texts of numbers, but for those of exponents: one of these changed is a number of any size."""
        marks = (self.codes >= _ZERO) & (self.codes <= _NINE)
        exponents = np.flatnonzero((self.codes == _EXPONENTS[0]) | (self.codes == _EXPONENTS[1]))
        if len(exponents):
            values = np.searchsorted(self.offsets, exponents, side="right") - 1
            ends = self.offsets[1:].copy()
            ends[values] = exponents
            marks &= np.arange(len(self.codes)) < np.repeat(ends, self.lengths)
        at = np.flatnonzero(marks)
        return Places(at, np.searchsorted(at, self.offsets))

    def without(self, at: Integers, values: Marks) -> CharacterArray:
        """Less the characters at these places: one of each value that is marked."""
        kept = np.ones(len(self.codes), np.bool_)
        kept[at] = False
        return self._replace(codes=self.codes[kept], offsets=self._shift_offsets(values, -1))

    def having(self, at: Integers, codes: Codes, values: Marks) -> CharacterArray:
        """With these characters before those at these places: one in each value that is marked."""
        return self._replace(codes=np.insert(self.codes, at, codes), offsets=self._shift_offsets(values, 1))

    def _shift_offsets(self, values: Marks, by: int) -> Integers:
        moved = self.offsets.copy()
        moved[1:] += by * np.cumsum(values)
        return moved
