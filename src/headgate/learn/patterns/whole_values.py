"""Finds patterns of whole values that token by token patterns cannot describe: phrases, URLs and e-mail addresses.

URLs vary in the number of their parts, and phrases in the number of their words. The paper lists URLs among its
failures and does not handle phrases.
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

PHRASE, URL, EMAIL = (Pattern((Atom(kind),)) for kind in (AtomKind.PHRASE, AtomKind.URL, AtomKind.EMAIL))

_URL, _EMAIL = (re.compile(pattern.body) for pattern in (URL, EMAIL))
_HOST = re.compile(r"https?://[^/?#]+")
_IN_PHRASE = np.array([ord(char) for char in alphabet.PHRASE_SYMBOLS], dtype=np.uint32)


def find_whole_patterns(tokens: TokenArrays, values: Sequence[str]) -> dict[Pattern, Flags]:
    """The patterns of whole values that occur, each with the values that have it."""
    by_pattern = {
        PHRASE: _find_phrases(tokens),
        EMAIL: _find_matching(values, "@", _EMAIL) & (tokens.count > 0),
        URL: _find_matching(values, "://", _URL) & (tokens.count > 0),
    }
    return {pattern: having for pattern, having in by_pattern.items() if having.any()}


def find_hosts(values: Sequence[str], urls: Flags) -> dict[str, Ints]:
    """The hosts of the URLs, each with the indices of the values at that host."""
    by_host: dict[str, list[int]] = {}
    for index in np.flatnonzero(urls).tolist():
        by_host.setdefault(host_of(values[index]), []).append(index)
    return {host: np.array(indices, dtype=np.int64) for host, indices in sorted(by_host.items())}


def commonest_host(values: Sequence[str], urls: Flags, weights: Ints) -> tuple[Pattern, Flags]:
    """The pattern of URLs at the most frequent host, and the values that have it."""
    host, indices = max(find_hosts(values, urls).items(), key=lambda each: int(weights[each[1]].sum()))
    having = np.zeros(len(values), dtype=bool)
    having[indices] = True
    return make_host_pattern(host), having


def host_of(url: str) -> str:
    """The scheme and host of a URL; the empty string if it has none."""
    match = _HOST.match(url)
    return match[0] if match else ""


def make_host_pattern(host: str) -> Pattern:
    """The pattern of all URLs at one host."""
    return Pattern((Atom(AtomKind.CONST, text=host), Atom(AtomKind.PATH)))


@lru_cache(maxsize=1_024)
def key_of(pattern: Pattern) -> int:
    return pattern.key


def keys_of(patterns: Sequence[Pattern]) -> Keys:
    return np.array([key_of(each) for each in patterns], dtype=np.uint64)


def _find_phrases(tokens: TokenArrays) -> Flags:
    nonempty = tokens.lengths > 0
    phrases = np.zeros(len(tokens.lengths), dtype=bool)
    if nonempty.any():
        letter = tokens.of >= alphabet.UPPER
        fits = letter | np.isin(tokens.codes, _IN_PHRASE)
        phrases[nonempty] = np.logical_and.reduceat(fits, tokens.begins[nonempty]) & letter[tokens.begins[nonempty]]
    return phrases


def _find_matching(values: Sequence[str], required: str, regex: re.Pattern[str]) -> Flags:
    # The substring test is much faster than the regular expression and rules out nearly all values.
    return np.fromiter(
        (required in value and regex.fullmatch(value) is not None for value in values), dtype=bool, count=len(values)
    )
