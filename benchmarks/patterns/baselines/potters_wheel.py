"""Potter's Wheel (Raman and Hellerstein 2001): the structure that describes the values in the fewest bits."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from benchmarks.patterns.baselines.domains import ANY, Part, cheapest
from benchmarks.patterns.protocol import Method, RegexRule, matches

SEQUENCES = 3  # of each way to cut values, the commonest ones become structures
MOST_PIECES = 60
MOST_DELIMITERS = 8
DEPTH = 1  # how often a piece is cut again
Pieces: TypeAlias = tuple[str, ...]

_LETTERS = r"[^\W\d_]+"
_NUMBER = r"(?<![^\W_])[+-]?[0-9]+(?:\.[0-9]+)?"
_CUTS = tuple(
    re.compile(each, re.DOTALL)
    for each in (rf"{_LETTERS}|[0-9]+|.", rf"{_NUMBER}|{_LETTERS}|[0-9]+|.", r"[^\W_]+|.", r"\S+|\s+")
)
_RUNS = re.compile(r"[^\W_]+|[\W_]+")
_WORD = re.compile(r"[^\W_]")
_ANY = f"<{ANY.name}>"
_SPLIT_WORD = re.compile(r"[^\W_]+\Z")


class Structure(NamedTuple):
    """A sequence of domains, and the bits that it takes to write it down with all values, so many of them outside."""

    text: str
    regex: str
    bits: float
    outside: int


def rule(train: Sequence[str], values: Sequence[str] | None = None) -> RegexRule | None:
    """The structure of fewest bits for the values (or those that train), among those that fit all that train.

    None where no structure is better than `any`.
    """
    own = pa.array(sorted(set(train)))
    for structure in sorted(structures(values or train), key=lambda each: each.bits):
        if structure.text == _ANY:
            return None
        if matches(own, structure.regex).all():
            return RegexRule(structure.text, structure.regex, seen=len(train))
    return None


def structures(values: Sequence[str], depth: int = DEPTH) -> Iterator[Structure]:
    """Structures after every way to cut the values in pieces, with the best domain at every place.

    Bits add up over the places, so that the best domain of each place makes the best structure. Pieces that only
    `any` fits are cut again. Values that are cut in another way are written out, character by character.
    """
    for cut in _cuts(values):
        pieces = [cut.pieces(value) for value in values]
        shapes = [cut.shape(each) for each in pieces]
        for shape, _ in Counter(shapes).most_common(SEQUENCES):
            inside = [each for each, its in zip(pieces, shapes, strict=True) if its == shape]
            others = [each for each, its in zip(values, shapes, strict=True) if its != shape]
            found = _structure(inside, others, max(map(len, values)), depth)
            if found:
                yield found


def _structure(inside: Sequence[Pieces], others: Sequence[str], longest: int, depth: int) -> Structure | None:
    places = list(zip(*inside, strict=True))
    if any("" in texts and len(set(texts)) > 1 for texts in places) or len(places) > MOST_PIECES:
        return None
    again = depth if len(places) > 1 else 0
    parts = [_part(texts, longest, again) for texts in places]
    written_out = sum(len(value) * ANY.bits + math.log2(longest + 1) for value in others)
    marks = len(inside) + len(others) if others else 0
    bits = sum(part.bits for part in parts) + written_out + marks
    return Structure("".join(part.text for part in parts), "".join(part.regex for part in parts), bits, len(others))


def _part(texts: Sequence[str], longest: int, depth: int) -> Part:
    best = cheapest(texts, longest)
    if depth == 0 or best.text != _ANY:
        return best
    finer = [Part(each.text, each.regex, each.bits) for each in structures(texts, depth - 1) if not each.outside]
    return min([best, *finer], key=lambda each: each.bits)


class Cut(NamedTuple):
    """A way to cut values in pieces, and what of the pieces must agree for values to be built alike."""

    pieces: Callable[[str], Pieces]
    shape: Callable[[Pieces], Hashable]


def _cuts(values: Sequence[str]) -> Iterator[Cut]:
    yield Cut(lambda value: (value,), len)
    yield from (Cut(partial(_found, cut), _symbols) for cut in _CUTS)
    yield Cut(partial(_found, _RUNS), lambda pieces: tuple(map(_is_word, pieces)))
    symbols = dict.fromkeys(re.findall(r"[\W_]", values[0]))
    yield from (Cut(partial(_split, symbol), len) for symbol in list(symbols)[:MOST_DELIMITERS])
    first, last = map(len, shared_ends(values))
    if first or last:
        yield Cut(lambda value: (value[:first], value[first : len(value) - last], value[len(value) - last :]), len)


@lru_cache(2**18)
def _found(cut: re.Pattern[str], value: str) -> Pieces:
    return tuple(cut.findall(value))


def _split(symbol: str, value: str) -> Pieces:
    """Fields with the symbol between them.

    >>> _split("@", "a@b.c")
    ('a', '@', 'b.c')
    """
    return tuple(re.split(f"({re.escape(symbol)})", value))


@lru_cache(2**18)
def _symbols(pieces: Pieces) -> Pieces:
    return tuple("" if _is_word(each) else each for each in pieces)


@lru_cache(2**16)
def _is_word(piece: str) -> bool:
    return _WORD.search(piece) is not None


def shared_ends(values: Sequence[str]) -> tuple[str, str]:
    """What all values begin and end with, without cutting through a word.

    >>> shared_ends(["http://a.org/x.html", "http://abc.org/y.html"])
    ('http://', '.html')
    """
    first = _SPLIT_WORD.sub("", _beginning(values))
    last = _beginning([value[len(first) :][::-1] for value in values])
    return first, _SPLIT_WORD.sub("", last)[::-1]


def _beginning(values: Sequence[str]) -> str:
    low, high = min(values), max(values)  # all others lie between them and begin alike
    differs = (at for at, (one, two) in enumerate(zip(low, high, strict=False)) if one != two)
    return low[: next(differs, len(low))]


METHOD = Method("Potter's Wheel", rule)
