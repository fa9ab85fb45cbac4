"""Patterns of whole values that runs of characters cannot tell: phrases, addresses of the web and of e-mail.

Addresses vary in how many parts they have, and texts in how many words: the paper names the first among its failures
and gives up on the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from headgate.learn.patterns import alphabet
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern

PHRASE, URL, EMAIL = (Pattern((Atom(sort),)) for sort in (AtomKind.PHRASE, AtomKind.URL, AtomKind.EMAIL))

_URL, _EMAIL = (re.compile(pattern.body) for pattern in (URL, EMAIL))
_HOST = re.compile(r"https?://[^/?#]+")
_IN_PHRASE = np.array([ord(char) for char in alphabet.PHRASE_SYMBOLS], dtype=np.uint32)


def find_whole_patterns(tokens: TokenArrays, values: Sequence[str]) -> dict[Pattern, Flags]:
    """Each pattern of whole values that one of these has, with which of them have it."""
    found = {PHRASE: _find_phrases(tokens)}
    urls = _find_matching(values, "://", _URL) & (tokens.count > 0)
    emails = _find_matching(values, "@", _EMAIL) & (tokens.count > 0)
    if emails.any():
        found[EMAIL] = emails
    if urls.any():
        found[URL] = urls
    return found if found[PHRASE].any() else {each: having for each, having in found.items() if each != PHRASE}


def find_hosts(values: Sequence[str], urls: Flags) -> dict[str, Ints]:
    """The hosts of addresses, with the places of the values that are at each."""
    found: dict[str, list[int]] = {}
    for at in np.flatnonzero(urls).tolist():
        found.setdefault(host_of(values[at]), []).append(at)
    return {host: np.array(places, dtype=np.int64) for host, places in sorted(found.items())}


def commonest_host(values: Sequence[str], urls: Flags, weights: Ints) -> tuple[Pattern, Flags]:
    """All addresses at the host that most values are at."""
    host, places = max(find_hosts(values, urls).items(), key=lambda each: int(weights[each[1]].sum()))
    having = np.zeros(len(values), dtype=bool)
    having[places] = True
    return make_host_pattern(host), having


def host_of(url: str) -> str:
    found = _HOST.match(url)
    return found[0] if found else ""


def make_host_pattern(host: str) -> Pattern:
    """Every address at one host."""
    return Pattern((Atom(AtomKind.CONST, text=host), Atom(AtomKind.PATH)))


@lru_cache(maxsize=1_024)
def key_of(pattern: Pattern) -> int:
    return pattern.key


def keys_of(patterns: Sequence[Pattern]) -> Keys:
    return np.array([key_of(each) for each in patterns], dtype=np.uint64)


def _find_phrases(tokens: TokenArrays) -> Flags:
    some = tokens.lengths > 0
    found = np.zeros(len(tokens.lengths), dtype=bool)
    if some.any():
        letter = tokens.of >= alphabet.UPPER
        fits = letter | np.isin(tokens.codes, _IN_PHRASE)
        found[some] = np.logical_and.reduceat(fits, tokens.begins[some]) & letter[tokens.begins[some]]
    return found


def _find_matching(values: Sequence[str], sign: str, form: re.Pattern[str]) -> Flags:
    return np.fromiter(
        (sign in value and form.fullmatch(value) is not None for value in values), dtype=bool, count=len(values)
    )
