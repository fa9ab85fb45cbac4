"""Splits many values into tokens at once: runs of letters, digits and symbols, with numbers kept whole.

A token is a run of symbols, a number, or a run of letters and digits between symbols. A number with a sign, a decimal
part or groups of thousands is one token. The same characters in a longer chain (1.2.3, 1,2,3) are not a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.learn.patterns import alphabet, hashing
from headgate.learn.patterns.alphabet import Classes, Codes
from headgate.learn.patterns.hashing import Keys

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MAX_LENGTH = 400
"""The most characters of a value that is split into tokens; a longer value is free text and has no pattern."""

_BEFORE_SIGN = np.array([ord(char) for char in " ([,;:=|"], dtype=np.uint32)
_PLUS, _MINUS, _DOT, _COMMA = (ord(char) for char in "+-.,")
_GROUP_DIGITS = 3  # digits in a group of thousands
MAX_GROUPS = 6  # groups of thousands after the first; a longer chain is a list of numbers


class TokenKind(IntEnum):
    """What a token is made of. Mixed tokens of two or three runs have a kind for each order of their runs."""

    SYMBOLS = 0
    DIGITS = 1
    LETTERS = 2
    NUMBER = 3
    LETTERS_DIGITS = 4
    DIGITS_LETTERS = 5
    LETTERS_DIGITS_LETTERS = 6
    DIGITS_LETTERS_DIGITS = 7
    MIXED = 8


class Case(IntEnum):
    """The case of a run of letters: all upper, all lower, one capital followed by lower-case letters, or other."""

    ANY = 0
    UPPER = 1
    LOWER = 2
    TITLE = 3


_RUN_SYMBOLS, _RUN_DIGITS, _RUN_LETTERS, _RUN_SIGN = range(4)
_RUN_OF = np.array([_RUN_SYMBOLS, _RUN_DIGITS, _RUN_LETTERS, _RUN_LETTERS, _RUN_LETTERS], dtype=np.uint8)
_MIXED = {
    (_RUN_LETTERS, 2): TokenKind.LETTERS_DIGITS,
    (_RUN_DIGITS, 2): TokenKind.DIGITS_LETTERS,
    (_RUN_LETTERS, 3): TokenKind.LETTERS_DIGITS_LETTERS,
    (_RUN_DIGITS, 3): TokenKind.DIGITS_LETTERS_DIGITS,
}


class Runs(msgspec.Struct, frozen=True):
    """Runs of characters of one class: where each starts in the text, its length, and the index of its value."""

    start: Ints
    length: Ints
    kind: Classes
    value: Ints
    key: Keys
    case: Classes

    def __len__(self) -> int:
        return len(self.start)


class TokenArrays(msgspec.Struct, frozen=True):
    """The tokens of many values, in order, as parallel arrays.

    The tokens of value i are those from `first[i]` to `first[i] + count[i]`. `run` is the index of a token's first run
    and `runs` the number of its runs. `decimals` is the number of digits after the point of a number without sign and
    groups, and 0 for other tokens.
    """

    count: Ints
    first: Ints
    value: Ints
    kind: Classes
    length: Ints
    key: Keys
    case: Classes
    run: Ints
    runs: Ints
    decimals: Ints
    start: Ints
    pieces: Runs
    codes: Codes
    of: Classes  # the class of each character
    begins: Ints  # where each value starts in the text
    lengths: Ints  # the length of each value

    def text(self, token: int) -> str:
        return (
            self.codes[self.start[token] : self.start[token] + self.length[token]]
            .tobytes()
            .decode("utf-32-le", "surrogatepass")
        )

    def piece(self, run: int) -> str:
        start = self.pieces.start[run]
        return self.codes[start : start + self.pieces.length[run]].tobytes().decode("utf-32-le", "surrogatepass")


def lex(values: Sequence[str]) -> TokenArrays:
    """The tokens of the values; a value that is empty or longer than `MAX_LENGTH` characters has none."""
    texts = [value if len(value) <= MAX_LENGTH else "" for value in values]
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    begins = np.cumsum(lengths) - lengths
    of = alphabet.classify_codes(codes)
    owner = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    runs = _find_runs(codes, of, owner)
    return _make_tokens(runs, codes, of, begins, lengths)


def _find_runs(codes: Codes, of: Classes, owner: Ints) -> Runs:
    kind = _RUN_OF[of]
    kind[_find_signs(codes, kind, owner)] = _RUN_SIGN
    fresh = np.ones(len(codes), dtype=bool)
    fresh[1:] = (kind[1:] != kind[:-1]) | (owner[1:] != owner[:-1])
    start = np.flatnonzero(fresh)
    length = np.diff(start, append=len(codes))
    return Runs(
        start,
        length,
        kind[start],
        owner[start],
        hashing.hash_texts(codes, start, length),
        _find_case(of, start, length),
    )


def _find_signs(codes: Codes, kind: Classes, owner: Ints) -> Flags:
    """Plus and minus signs before a digit, at the start of a value or after a character that a number may follow."""
    signs = np.zeros(len(codes), dtype=bool)
    index = np.flatnonzero((codes == _PLUS) | (codes == _MINUS))
    index = index[index + 1 < len(codes)]
    index = index[(kind[index + 1] == _RUN_DIGITS) & (owner[index + 1] == owner[index])]
    starts_value = (index == 0) | (owner[index] != owner[index - 1])
    signs[index[starts_value | np.isin(codes[index - 1], _BEFORE_SIGN)]] = True
    return signs


def _find_case(of: Classes, start: Ints, length: Ints) -> Classes:
    case = np.full(len(start), Case.ANY, dtype=np.uint8)
    if not len(start):
        return case
    upper = np.add.reduceat((of == alphabet.UPPER).astype(np.int64), start)
    lower = np.add.reduceat((of == alphabet.LOWER).astype(np.int64), start)
    case[upper == length] = Case.UPPER
    case[lower == length] = Case.LOWER
    case[(of[start] == alphabet.UPPER) & (upper == 1) & (lower == length - 1) & (length > 1)] = Case.TITLE
    return case


def _make_tokens(runs: Runs, codes: Codes, of: Classes, begins: Ints, lengths: Ints) -> TokenArrays:
    inside, is_number, decimals = _find_numbers(runs, codes)
    fresh = ~inside
    words = (runs.kind == _RUN_DIGITS) | (runs.kind == _RUN_LETTERS)
    same = runs.value[1:] == runs.value[:-1]
    fresh[1:] &= ~(words[1:] & words[:-1] & same)
    # A sign that no number follows is a symbol like any other.
    symbols = ((runs.kind == _RUN_SYMBOLS) | (runs.kind == _RUN_SIGN)) & ~is_number & ~inside
    fresh[1:] &= ~(symbols[1:] & symbols[:-1] & same)
    run = np.flatnonzero(fresh)
    count_of_runs = np.diff(run, append=len(runs))
    start, value = runs.start[run], runs.value[run]
    length = np.add.reduceat(runs.length, run) if len(run) else np.zeros(0, dtype=np.int64)
    count = np.bincount(value, minlength=len(lengths)).astype(np.int64)
    return TokenArrays(
        count=count,
        first=np.cumsum(count) - count,
        value=value,
        kind=_find_kinds(runs, run, count_of_runs, is_number),
        length=length,
        key=hashing.hash_texts(codes, start, length),
        case=np.where(count_of_runs == 1, runs.case[run], np.uint8(Case.ANY)),
        run=run,
        runs=count_of_runs,
        decimals=decimals[run],
        start=start,
        pieces=runs,
        codes=codes,
        of=of,
        begins=begins,
        lengths=lengths,
    )


def _find_kinds(runs: Runs, run: Ints, count: Ints, is_number: Flags) -> Classes:
    kinds = np.full(len(run), TokenKind.MIXED, dtype=np.uint8)
    first = runs.kind[run]
    kinds[(count == 1) & (first == _RUN_DIGITS)] = TokenKind.DIGITS
    kinds[(count == 1) & (first == _RUN_LETTERS)] = TokenKind.LETTERS
    for (kind, many), named in _MIXED.items():
        kinds[(first == kind) & (count == many)] = named
    kinds[(first == _RUN_SYMBOLS) | (first == _RUN_SIGN)] = TokenKind.SYMBOLS
    kinds[is_number[run]] = TokenKind.NUMBER
    return kinds


def _find_numbers(runs: Runs, codes: Codes) -> tuple[Flags, Flags, Ints]:
    """Which runs continue a number, which begin one, and the number of decimals of plain numbers.

    A number is a chain of digits that fits and has no letters beside it. A chain of one run of digits without a sign
    stays a token of digits.
    """
    size = len(runs)
    begins, decimals = np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64)
    first, last, point, comma, fits = _find_chains(runs, codes)
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, size - 1)
    has_before = (first > 0) & (runs.value[before] == runs.value[first])
    has_after = (last + 1 < size) & (runs.value[after] == runs.value[last])
    apart = ~(has_before & (runs.kind[before] == _RUN_LETTERS)) & ~(has_after & (runs.kind[after] == _RUN_LETTERS))
    signed = has_before & (runs.kind[before] == _RUN_SIGN)
    good = fits & apart & (signed | point | comma)
    start = (first - signed)[good]
    begins[start] = True
    # A difference array: +1 after the first run of a number, -1 after its last; the running sum is 1 inside a number.
    change = np.zeros(size + 1, dtype=np.int64)
    change[start + 1] += 1
    change[last[good] + 1] -= 1
    inside = np.cumsum(change[:-1]) > 0
    plain = (point & ~comma & ~signed)[good]
    decimals[start[plain]] = runs.length[last[good][plain]]
    return inside, begins, decimals


def _find_chains(runs: Runs, codes: Codes) -> tuple[Ints, Ints, Flags, Flags, Flags]:
    """Digits joined by single points and commas: first and last run, whether there is a point or a comma, and fit.

    A chain fits if its only point comes last, and if its commas separate groups of three digits.
    """
    digits = runs.kind == _RUN_DIGITS
    char = codes[runs.start] if len(runs) else codes
    joint = (runs.kind == _RUN_SYMBOLS) & (runs.length == 1) & ((char == _DOT) | (char == _COMMA))
    link = np.zeros(len(runs), dtype=bool)
    same_value = runs.value[1:] == runs.value[:-1]
    link[1:-1] = joint[1:-1] & digits[:-2] & digits[2:] & same_value[:-1] & same_value[1:]
    begins = digits.copy()
    begins[2:] &= ~link[1:-1]
    first = np.flatnonzero(begins)
    chain = np.cumsum(begins) - 1
    links = np.flatnonzero(link)
    of = chain[links]
    count = np.bincount(of, minlength=len(first)).astype(np.int64)
    last = first + 2 * count
    is_point = char[links] == _DOT
    points = np.bincount(of, weights=is_point, minlength=len(first)).astype(np.int64)
    final = links == last[of] - 1
    misplaced = (is_point & ~final) | (~is_point & (runs.length[links + 1] != _GROUP_DIGITS))
    wrong = np.bincount(of, weights=misplaced, minlength=len(first)) > 0
    commas = count - points
    fits = ~wrong & (commas <= MAX_GROUPS) & ((commas == 0) | (runs.length[first] <= _GROUP_DIGITS))
    return first, last, points > 0, commas > 0, fits
