"""The values of whole string columns as byte buffers, and what is read from them at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.metrics.base.classes import (
    CLASSES,
    count_ascii_classes,
    count_plain_classes,
    count_unicode_classes,
)
from headgate.metrics.base.codes import Bytes, encode_bytes
from headgate.metrics.base.layout import Layout, find_layout
from headgate.metrics.base.patterns import count_patterns, cut_blocks

Integers = npt.NDArray[np.int64]

_START = np.zeros(1, np.int64)
LONGEST_PATTERNED = 256  # bytes of a value that its pattern covers


def join_texts(many: Sequence[Texts]) -> tuple[Bytes, Integers]:
    """The bytes of all values of several columns, and the offset of each value."""
    if len(many) == 1:
        return many[0].data, many[0].offsets
    before = [0, *accumulate(len(each.data) for each in many)]
    offsets = [each.offsets[1:] + start for each, start in zip(many, before, strict=False)]
    return np.concatenate([each.data for each in many]), np.concatenate([_START, *offsets])


class Texts:
    """Values of a string or binary column, none of them null, as one byte buffer with offsets."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array
        wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
        _, offsets, data = array.buffers()
        width = np.dtype(np.int64 if wide else np.int32)
        if len(array) == 0 or offsets is None:
            self.offsets = np.zeros(1, np.int64)
        else:
            self.offsets = np.frombuffer(offsets, width, len(array) + 1, array.offset * width.itemsize).astype(np.int64)
        whole = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
        self.data: Bytes = whole[self.offsets[0] : self.offsets[-1]]
        self.offsets -= self.offsets[0]

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def ascii(self) -> bool:
        return not len(self.data) or int(self.data.view(np.int8).min()) >= 0

    @property
    def blocks(self) -> list[Texts]:
        """The values in blocks of bytes, so that several passes over a block find it in the cache of a core."""
        cuts = cut_blocks(self.offsets)
        if len(cuts) == 1:
            return [self]
        counts = [0, *np.cumsum([len(own) - 1 for own in cuts]).tolist()]
        return [Texts(self.array.slice(start, end - start)) for start, end in pairwise(counts)]

    @cached_property
    def codes(self) -> Bytes:
        """The code of every byte: see `codes.py`."""
        return encode_bytes(self.data)

    @cached_property
    def _layout(self) -> Layout | None:
        return find_layout(self.codes, self.offsets, LONGEST_PATTERNED)

    @cached_property
    def lengths(self) -> Integers:
        """The number of characters (code points) of each value."""
        if self.ascii:
            return self.offsets[1:] - self.offsets[:-1]
        sums = np.zeros(len(self.data) + 1, np.int64)
        np.cumsum((self.data & 0xC0) != 0x80, out=sums[1:])
        return sums[self.offsets[1:]] - sums[self.offsets[:-1]]

    def classes(self, weights: Integers | None = None) -> dict[str, int]:
        """The number of characters of each class in all values together, with each value counted `weights` times."""
        if not len(self.data):
            return dict.fromkeys(CLASSES, 0)
        if not self.ascii:
            return count_unicode_classes(self.data, self.offsets, weights)
        plain = count_plain_classes(self.codes) if weights is None else None
        return count_ascii_classes(self.data, self.offsets, weights) if plain is None else plain

    def patterns(self, weights: Integers | None = None) -> tuple[pa.Array, Integers]:
        """The patterns that occur, in symbol codes (see `pattern_label`), and how many values have each."""
        if len(self.data) and int((self.offsets[1:] - self.offsets[:-1]).max()) > LONGEST_PATTERNED:
            short = pc.binary_slice(self.array.cast(pa.large_binary()), 0, LONGEST_PATTERNED)
            return Texts(short).patterns(weights)
        if self._layout is not None:
            return self._layout.count_patterns(weights)
        return count_patterns(self.codes, self.offsets, weights)
