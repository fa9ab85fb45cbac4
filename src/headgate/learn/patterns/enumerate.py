"""All patterns of many columns at once, with the share of each column's values that has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from headgate.learn.patterns import hashing, whole_values
from headgate.learn.patterns.entries import ENTRY, FAILED, MOST, ONE, STRAYED, Entries, Rows
from headgate.learn.patterns.generalize import Choices, Menu, find_unambiguous, is_open, menu_of
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind, lex
from headgate.learn.patterns.sample import SampledColumn

TAU = 13
"""Tokens of a value whose patterns are enumerated (the paper's tau); a wider one is cut when it is asked for."""


class ShapePatterns(msgspec.Struct, frozen=True):
    """Values of one shape and their patterns: `keys` has a row for each value and a column for each pattern."""

    values: Ints
    keys: Keys
    given: Flags
    tokens: int
    open: Flags


class Columns(msgspec.Struct, frozen=True):
    """The distinct values of many columns in a row, how often each occurs, also among the first, and whose it is."""

    values: list[str]
    counts: Ints
    early: Ints
    owner: Ints
    totals: Ints
    firsts: Ints

    @classmethod
    def of(cls, columns: Sequence[SampledColumn]) -> Columns:
        counts, early = (_concat_ints([getattr(each, name) for each in columns]) for name in ("counts", "early"))
        owner = np.repeat(np.arange(len(columns)), [len(each.values) for each in columns])
        totals, firsts = (np.bincount(owner, weights=each, minlength=len(columns)) for each in (counts, early))
        values = [value for each in columns for value in each.values]
        return cls(values, counts, early, owner, totals.astype(np.int64), firsts.astype(np.int64))


def _concat_ints(lists: Sequence[Sequence[int]]) -> Ints:
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)


def count_patterns(columns: Columns, tau: int = TAU) -> Entries:
    """What these columns say of each pattern: in how many it occurs, and how much of them does not have it."""
    tokens = lex(columns.values)
    pairs = [_make_pairs(each) for each in enumerate_patterns(tokens, tau)]
    pairs.append(_make_whole_pairs(tokens, columns.values))
    return _count_pairs(columns, Pairs(*map(np.concatenate, zip(*pairs, strict=True))))


def enumerate_patterns(tokens: TokenArrays, tau: int = TAU) -> Iterator[ShapePatterns]:
    """The patterns of the values, those of one shape together."""
    slots = np.bincount(tokens.value[tokens.kind != TokenKind.SYMBOLS], minlength=len(tokens.count))
    fits = (tokens.count > 0) & (tokens.count <= tau)
    at = np.arange(len(tokens.kind)) - tokens.first[tokens.value]
    shape = np.zeros(len(tokens.count), dtype=np.uint64)
    if len(tokens.kind):
        terms = hashing.place_keys(tokens.kind.astype(np.uint64), at.astype(np.uint64))
        shape[tokens.count > 0] = np.add.reduceat(terms, tokens.first[tokens.count > 0])
    chosen = np.flatnonzero(fits)
    _, which = np.unique(shape[chosen], return_inverse=True)
    order = np.argsort(which, kind="stable")
    for group in np.split(chosen[order], np.flatnonzero(np.diff(which[order])) + 1):
        if len(group) and (menu := menu_of(int(tokens.count[group[0]]), int(slots[group[0]]))) is not None:
            yield _combine_choices(tokens, group, menu)


def _combine_choices(tokens: TokenArrays, group: Ints, menu: Menu) -> ShapePatterns:
    size = int(tokens.count[group[0]])
    keys, given = np.zeros((len(group), 1), dtype=np.uint64), np.ones((len(group), 1), dtype=bool)
    opens = np.ones(1, dtype=bool)
    kinds = [TokenKind(each) for each in tokens.kind[tokens.first[group[0]] : tokens.first[group[0]] + size].tolist()]
    for place in range(size):
        at = tokens.first[group] + place
        kind = kinds[place]
        choices = Choices.of(menu, kind, tokens, at)
        terms = hashing.place_keys(choices.keys, place)
        keys = (keys[:, :, None] + terms[:, None, :]).reshape(len(group), -1)
        given = (given[:, :, None] & choices.given[:, None, :]).reshape(len(group), -1)
        free = np.array([is_open(choice, kind) for choice in menu[kind]])
        opens = (opens[:, None] & free[None, :]).reshape(-1)
    return ShapePatterns(group, hashing.mix(keys), given & find_unambiguous(menu, kinds), size, opens)


class Pairs(NamedTuple):
    """A value and a pattern that it has, for all values and patterns: with the pattern's key, length and openness."""

    value: Ints
    key: Keys
    tokens: Ints
    open: Flags


def _make_pairs(found: ShapePatterns) -> Pairs:
    row, choice = np.nonzero(found.given)
    return Pairs(
        found.values[row], found.keys[row, choice], np.full(len(row), found.tokens, np.int64), found.open[choice]
    )


def _make_whole_pairs(tokens: TokenArrays, values: Sequence[str]) -> Pairs:
    found = whole_values.find_whole_patterns(tokens, values)
    rows = {pattern: np.flatnonzero(having) for pattern, having in found.items()}
    if whole_values.URL in found:
        rows |= {
            whole_values.make_host_pattern(host): at
            for host, at in whole_values.find_hosts(values, found[whole_values.URL]).items()
        }
    value = np.concatenate([*rows.values(), np.zeros(0, dtype=np.int64)])
    sizes = [len(each) for each in rows.values()]
    opens = np.repeat(np.array([each.is_open for each in rows], dtype=bool), sizes)
    return Pairs(value, np.repeat(whole_values.keys_of(list(rows)), sizes), np.ones(len(value), np.int64), opens)


def _count_pairs(columns: Columns, pairs: Pairs) -> Entries:
    """One entry for each column and pattern, then the sum over columns."""
    if not len(pairs.value):
        return Entries.empty()
    owner = columns.owner[pairs.value]
    both = pairs.key ^ hashing.mix(owner.astype(np.uint64))
    order = np.argsort(both, kind="stable")
    first = np.flatnonzero(np.diff(both[order], prepend=~both[order[:1]]))
    at, value = order[first], pairs.value[order]
    entries = np.zeros(len(at), dtype=ENTRY)
    entries["key"], entries["tokens"], entries["open"] = pairs.key[at], pairs.tokens[at], pairs.open[at]
    matched, early = (np.add.reduceat(each[value], first) for each in (columns.counts, columns.early))
    return Entries.of(_fill_entries(entries, matched, early, columns.totals[owner[at]], columns.firsts[owner[at]]))


def _fill_entries(entries: Rows, matched: Ints, early: Ints, total: Ints, firsts: Ints) -> Rows:
    """Entries of one column each: what share of it has the pattern, and what came after first values that had it."""
    later = total - firsts
    missed = later - (matched - early)
    led = (firsts > 0) & (early == firsts) & (later > 0)
    entries["columns"] = 1
    entries["impurity"] = ((total - matched) * ONE) // total
    entries["most"] = matched >= MOST * total
    entries["led"], entries["slipped"] = led, led & (missed > 0)
    entries["strayed"], entries["failed"] = led & (missed > STRAYED * later), led & (missed > FAILED * later)
    return entries
