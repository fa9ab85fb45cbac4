"""Character classes and patterns of whole string columns, computed by arithmetic on their byte buffers.

A character is a letter (Unicode L), a digit (Nd), white space (Z, tab, newline and their kin), punctuation (P and S) or
other (marks, controls, numerals that are no digits). A pattern replaces each run of letters and digits by one symbol
and keeps every other ASCII character, repeats once:

    9 digits   A upper case   a lower case   Aa both   X, x, Xx the same with digits   ¶ a control character
    é after it: the run has characters beyond ASCII

so `2026-11-15` and `1999-1-1` are both `9-9-9`, and a UUID is `x-x-x-x-x`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

LONGEST_PATTERNED = 256  # bytes of a value that its pattern covers
BLOCK = 1 << 17  # bytes; a few buffers of this size fit in the cache of a core
LONGEST_LABEL = 200  # characters of a value that a label keeps

# bits of a run of letters and digits; every other ASCII character is its own code, from 32 on
_DIGIT, _UPPER, _LOWER, _FOREIGN = 1, 2, 4, 8
_FIRST_SYMBOL = 16
_CONTROL = 127
_LETTER_CLASS, _DIGIT_CLASS, _PUNCTUATION_CLASS, _SPACE_CLASS, _OTHER_CLASS = 1, 2, 3, 4, 5
CLASSES = ("letters", "digits", "punctuation", "spaces", "other")


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
        """The values in blocks of about `BLOCK` bytes, so that several passes over a block find it in the cache."""
        return [self] if len(self.data) <= BLOCK else self._small_blocks

    @cached_property
    def _small_blocks(self) -> list[Texts]:
        cuts = np.searchsorted(self.offsets, np.arange(BLOCK, len(self.data), BLOCK)).tolist()
        ends = sorted({*cuts, len(self)} - {0})
        return [Texts(self.array.slice(start, end - start)) for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def codes(self) -> Bytes:
        """For every byte the bit of its run (digit, upper, lower, foreign) or, from 16 on, the character itself."""
        return _encode_bytes(self.data)

    @cached_property
    def lengths(self) -> Integers:
        """The number of characters (code points) of each value."""
        if self.ascii:
            return np.diff(self.offsets)
        return self._per_value((self.data & 0xC0) != 0x80)

    def classes(self, weights: Integers | None = None) -> dict[str, int]:
        """The number of characters of each class in all values together, with each value counted `weights` times."""
        totals = dict.fromkeys(CLASSES, 0)
        done = 0
        for block in self.blocks:
            own = None if weights is None else weights[done : done + len(block)]
            for name, count in block._class_counts(own).items():
                totals[name] += count
            done += len(block)
        return totals

    def _class_counts(self, weights: Integers | None) -> dict[str, int]:
        if weights is None and self.ascii and not (self.codes == _CONTROL).any():
            words, digits = _count_true(self.codes < _FIRST_SYMBOL), _count_true(self.codes == _DIGIT)
            spaces = _count_true(self.codes == 32)
            rest = len(self.codes) - words - spaces
            return {"letters": words - digits, "digits": digits, "punctuation": rest, "spaces": spaces}
        marks = self._class_marks()
        if weights is None:
            return {name: _count_true(mark) for name, mark in marks.items()}
        return {name: int(self._per_value(mark) @ weights) for name, mark in marks.items()}

    def _class_marks(self) -> dict[str, npt.NDArray[np.bool_]]:
        if not self.ascii:
            kinds = _unicode_classes(self.data, self.offsets)
            return {name: kinds == at for at, name in enumerate(CLASSES, start=1)}
        codes, digits = self.codes, self.codes == _DIGIT
        letters = codes < _FIRST_SYMBOL
        letters ^= digits
        space = codes == 32
        control = codes == _CONTROL
        punctuation = codes > 32
        punctuation ^= control
        if control.any():
            blank = (self.data - 9) < 5
            space |= blank
            control &= ~blank
        return {"letters": letters, "digits": digits, "punctuation": punctuation, "spaces": space, "other": control}

    def _per_value(self, mark: npt.NDArray[np.bool_]) -> Integers:
        sums = np.zeros(len(mark) + 1, np.int64)
        np.cumsum(mark, out=sums[1:])
        return sums[self.offsets[1:]] - sums[self.offsets[:-1]]

    def patterns(self) -> pa.DictionaryArray:
        """The pattern of each value in symbol codes (see `pattern_label`), dictionary encoded."""
        if len(self.data) and int(np.diff(self.offsets).max()) > LONGEST_PATTERNED:
            short = pc.binary_slice(self.array.cast(pa.large_binary()), 0, LONGEST_PATTERNED)
            return Texts(short).patterns()
        return pa.concat_arrays([_run_symbols(each.codes, each.offsets) for each in self.blocks]).dictionary_encode()


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


def pattern_label(symbols: bytes) -> str:
    """The text of a pattern in symbol codes.

    >>> pattern_label(bytes([1, 45, 2, 45, 7]))
    '9-A-Xx'
    """
    return "".join(_SYMBOLS[code] for code in symbols)


def _symbol_text(code: int) -> str:
    if code >= _FIRST_SYMBOL:
        return "¶" if code == _CONTROL else chr(code)
    letters, digits = {0: "", 2: "A", 4: "a", 6: "Aa"}[code & 6], {0: "", 2: "X", 4: "x", 6: "Xx"}[code & 6]
    run = (digits or "9") if code & _DIGIT else letters
    return run + "é" * bool(code & _FOREIGN)


_SYMBOLS = {code: _symbol_text(code) for code in range(1, 128)}


def _count_true(mark: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(mark))


def _encode_bytes(data: Bytes) -> Bytes:
    """See `Texts.codes`. It reuses few buffers, because every byte of every string column passes here."""
    codes, scratch, mark = np.empty_like(data), np.empty_like(data), np.empty(len(data), np.bool_)
    bits = mark.view(np.uint8)
    np.right_shift(data, 7, out=codes)
    np.multiply(codes, _FOREIGN, out=codes)
    for first, size, bit in ((48, 10, _DIGIT), (65, 26, _UPPER), (97, 26, _LOWER)):
        np.subtract(data, first, out=scratch)
        np.less(scratch, size, out=mark)
        np.multiply(bits, bit, out=scratch)
        np.bitwise_or(codes, scratch, out=codes)
    np.equal(codes, 0, out=mark)
    np.multiply(data, bits, out=scratch)
    np.bitwise_or(codes, scratch, out=codes)
    if len(data) and int(data.min()) < 32:
        # control characters would collide with the bits of a run, so all share one symbol
        codes[data < 32] = _CONTROL
    return codes


def _run_symbols(codes: Bytes, offsets: Integers) -> pa.Array:
    """One symbol for each run: the union of its bits for letters and digits, the character itself for the rest."""
    starts = offsets[:-1]
    if not len(codes):
        return pa.array([b""] * len(starts), pa.large_binary())
    joined = _same_run_mask(codes, starts)
    ends = np.flatnonzero(~np.append(joined[1:], False))
    symbols = _union_along(codes, joined)[ends]
    sizes = np.searchsorted(ends, offsets)
    buffers = [None, pa.py_buffer(sizes.astype(np.int64)), pa.py_buffer(symbols)]
    return pa.Array.from_buffers(pa.large_binary(), len(starts), buffers)


def _same_run_mask(codes: Bytes, starts: Integers) -> npt.NDArray[np.bool_]:
    """Whether each byte is in the same run as the byte before it."""
    word = codes < _FIRST_SYMBOL
    joined = np.empty(len(codes), np.bool_)
    np.equal(codes[1:], codes[:-1], out=joined[1:])
    both = word[1:] & word[:-1]
    np.logical_or(joined[1:], both, out=joined[1:])
    joined[0] = False
    joined[starts[starts < len(codes)]] = False
    return joined


def _union_along(codes: Bytes, joined: npt.NDArray[np.bool_]) -> Bytes:
    """The union of bits from the start of each run up to each byte, by a segmented scan that doubles its step."""
    union, reaches = codes.copy(), joined.view(np.uint8).copy()
    scratch = np.empty_like(codes)
    step = 1
    while reaches.any():
        taken = np.multiply(union[:-step], reaches[step:], out=scratch[step:])
        np.bitwise_or(union[step:], taken, out=union[step:])
        shifted = scratch[step:]
        shifted[:] = reaches[:-step]
        np.bitwise_and(reaches[step:], shifted, out=reaches[step:])
        reaches[:step] = 0
        step *= 2
    return union


def _unicode_classes(data: Bytes, offsets: Integers) -> Bytes:
    """The class of the character that begins at each byte; 0 inside a character."""
    kinds: Bytes = _class_table()[data.astype(np.int32) & 0x7F]
    foreign = np.flatnonzero(data >= 0x80)
    kinds[foreign] = 0
    leads = foreign[data[foreign] >= 0xC0]
    kinds[leads] = _class_table()[_code_points(data, offsets, leads)]
    return kinds


def _code_points(data: Bytes, offsets: Integers, leads: Integers) -> npt.NDArray[np.int32]:
    """The code points of the characters that begin at `leads`; invalid UTF-8 gives some code point, not an error."""
    padded = np.concatenate([data, np.zeros(3, np.uint8)]).astype(np.int32)
    starts = offsets[:-1][offsets[:-1] < len(data)]
    # a value that begins with a continuation byte must not complete a truncated character of the value before it
    padded[starts[_is_continuation(data[starts])]] = 0
    lead, second, third, fourth = (padded[leads + step] for step in range(4))
    two = (lead & 0x1F) << 6 | (second & 0x3F)
    three = (lead & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
    four = (lead & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
    points = np.where(lead < 0xE0, two, np.where(lead < 0xF0, three, four))
    whole = (
        _is_continuation(second)
        & (_is_continuation(third) | (lead < 0xE0))
        & (_is_continuation(fourth) | (lead < 0xF0))
    )
    beyond = len(_class_table()) - 1
    return np.where(whole, np.minimum(points, beyond), beyond)


def _is_continuation(value: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
    """Whether a byte continues a character of UTF-8."""
    return np.asarray((value & 0xC0) == 0x80, np.bool_)


@cache
def _class_table() -> Bytes:
    """The class of every code point in the planes with scripts; all above count as other."""
    by_category = {"L": _LETTER_CLASS, "P": _PUNCTUATION_CLASS, "S": _PUNCTUATION_CLASS, "Z": _SPACE_CLASS}
    table = np.full(0x32000, _OTHER_CLASS, np.uint8)
    for point in range(len(table) - 1):
        category = unicodedata.category(chr(point))
        table[point] = _DIGIT_CLASS if category == "Nd" else by_category.get(category[0], _OTHER_CLASS)
    table[9:14] = _SPACE_CLASS
    return table
