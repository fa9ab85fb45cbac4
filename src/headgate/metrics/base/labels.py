"""Labels: the values of a column as people see them in lists of frequent values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.hashing import Words, hash_bytes
from headgate.metrics.base.text import Texts

Integers = npt.NDArray[np.int64]

_FEW = 128  # labels
LONGEST_LABEL = 200  # characters of a value that a label keeps


class Labels(NamedTuple):
    """Labels in UTF-8, one after the other, with the offset of each.

    `are_values` says that the labels are the very bytes of the values, so that a value and its label have one hash.
    `hashes` are those of the labels, if they are known.
    """

    texts: bytes
    offsets: Integers
    are_values: bool = False
    hashes: Words | None = None

    @classmethod
    def of(cls, names: Sequence[str], hashes: Words | None = None) -> Labels:
        texts = "".join(names).encode()
        sizes = list(map(len, names))
        if sum(sizes) < len(texts):
            sizes = [len(name.encode()) for name in names]
        return cls(texts, np.array([0, *accumulate(sizes)], np.int64), hashes=hashes)

    @classmethod
    def of_values(cls, array: pa.Array) -> Labels:
        """The labels of strings or bytes without nulls."""
        texts = Texts(array)
        if _are_labels(texts):
            return cls(texts.data.tobytes(), texts.offsets, are_values=True)
        return cls.of(format_labels(array))

    def hash(self) -> Words:
        if self.hashes is not None:
            return self.hashes
        return hash_bytes(np.frombuffer(self.texts, np.uint8), self.offsets)[0]

    def to_array(self) -> pa.Array:
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.texts)]
        return pa.Array.from_buffers(pa.large_binary(), len(self.offsets) - 1, buffers)

    def take(self, places: npt.NDArray[np.intp]) -> Labels:
        """The labels at these places, in this order."""
        if len(places) <= _FEW:  # a look-up of Arrow takes longer than to cut out and join so many
            starts, ends = self.offsets[places].tolist(), self.offsets[places + 1].tolist()
            pieces = [self.texts[start:end] for start, end in zip(starts, ends, strict=True)]
            offsets = np.array([0, *accumulate(map(len, pieces))], np.int64)
            return Labels(b"".join(pieces), offsets, self.are_values)
        texts = Texts(self.to_array().take(pa.array(places)))
        return Labels(texts.data.tobytes(), texts.offsets, self.are_values)


def _are_labels(texts: Texts) -> bool:
    """Whether all values are short and valid UTF-8, so that each is its own label."""
    if not len(texts) or int((texts.offsets[1:] - texts.offsets[:-1]).max()) > LONGEST_LABEL:
        return False
    if texts.ascii:
        return True
    starts = texts.offsets[:-1]
    if ((texts.data[starts[starts < len(texts.data)]] & 0xC0) == 0x80).any():
        return False  # a character would begin in one value and end in the next
    try:
        texts.data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def format_labels(array: pa.Array) -> list[str]:
    """Values as unique labels: invalid UTF-8 is escaped, and long values are cut and get a digest."""
    if not _is_binary(array.type):
        try:
            return [text if len(text) <= LONGEST_LABEL else _long_label(text.encode()) for text in array.to_pylist()]
        except UnicodeDecodeError:
            array = array.cast(pa.large_binary())
    texts = ((value, value.decode("utf-8", "backslashreplace")) for value in array.to_pylist())
    return [text if len(text) <= LONGEST_LABEL else _long_label(value) for value, text in texts]


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _long_label(value: bytes) -> str:
    start = value[: 4 * LONGEST_LABEL].decode("utf-8", "backslashreplace")[:LONGEST_LABEL]
    digest = hashlib.blake2b(value, digest_size=8).hexdigest()
    return f"{start}… ({len(value):,} bytes, {digest})"
