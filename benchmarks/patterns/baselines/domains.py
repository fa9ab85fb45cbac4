"""The domains that structures are made of, and what it costs to write a text as one of them, in bits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

CHARACTERS = 111  # that a text may have, as in Potter's Wheel
LETTERS = 200  # beyond ASCII


class Domain(NamedTuple):
    """Texts of one or more characters of a class; `bits` is the cost of one character, `extra` that of a text.

    `unit` is the expression of one character, for texts of a fixed length; without it there is no such form. `python`
    is the expression where Python does not read the one of RE2.
    """

    name: str
    regex: str
    bits: float
    unit: str = ""
    extra: float = 0.0
    python: str = ""

    def takes(self, texts: Iterable[str]) -> bool:
        return all(map(re.compile(self.python or self.regex).fullmatch, texts))


class Part(NamedTuple):
    """One place of a structure: its text, its expression, the bits to write it and all values in it."""

    text: str
    regex: str
    bits: float


_TEN, _CASE, _BOTH = math.log2(10), math.log2(26), math.log2(52)
ANY = Domain("any", r"(?s:.+)", math.log2(CHARACTERS), r"(?s:.)")
DOMAINS = (
    Domain("digits", r"[0-9]+", _TEN, r"[0-9]"),
    Domain("integer", r"[+-]?[0-9]+", _TEN, extra=1.0),
    Domain("decimal", r"[+-]?[0-9]+(?:\.[0-9]+)?", _TEN, extra=2.0),
    Domain("upper", r"[A-Z]+", _CASE, r"[A-Z]"),
    Domain("lower", r"[a-z]+", _CASE, r"[a-z]"),
    Domain("capitalised", r"[A-Z][a-z]+", _CASE),
    Domain("letters", r"[A-Za-z]+", _BOTH, r"[A-Za-z]"),
    Domain("any letters", r"\pL+", math.log2(LETTERS), r"\pL", python=r"[^\W\d_]+"),
    Domain("alphanumeric", r"[A-Za-z0-9]+", math.log2(62), r"[A-Za-z0-9]"),
    Domain("punctuation", r"[!-/:-@\[-`{-~ ]+", math.log2(33), r"[!-/:-@\[-`{-~ ]"),
    ANY,
)
_CHOICE = math.log2(2 * len(DOMAINS) + 1)  # which domain, of fixed length or not; or a constant


def cheapest(texts: Sequence[str], longest: int, domains: Sequence[Domain] = DOMAINS) -> Part:
    """The least costly way to write down one place of a structure and what each value has there.

    A constant is written once. Else a domain is named, with the length if all have one, and then each text
    character by character, after its length if that is not fixed.

    >>> cheapest(["01", "12", "31"], 10).text, cheapest(["Mar"] * 3, 10).text, cheapest(["b", "CD", "a"], 10).text
    ('<digits>{2}', 'Mar', '<letters>')
    """
    length_bits = math.log2(longest + 1)
    different = set(texts)
    if len(different) == 1:
        return constant(texts[0], length_bits)
    fits = [domain for domain in domains if domain.takes(different)]
    return min((part for domain in fits for part in _forms(domain, texts, length_bits)), key=lambda part: part.bits)


def constant(text: str, length_bits: float) -> Part:
    return Part(text, re.escape(text), _CHOICE + length_bits + len(text) * ANY.bits)


def _forms(domain: Domain, texts: Sequence[str], length_bits: float) -> list[Part]:
    lengths = set(map(len, texts))
    written = _CHOICE + sum(map(len, texts)) * domain.bits + len(texts) * domain.extra
    forms = [Part(f"<{domain.name}>", domain.regex, written + len(texts) * length_bits)]
    if len(lengths) == 1 and domain.unit:
        (size,) = lengths
        forms.append(Part(f"<{domain.name}>{{{size}}}", f"{domain.unit}{{{size}}}", written + length_bits))
    return forms
