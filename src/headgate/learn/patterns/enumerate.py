"""Enumerates all patterns of many columns at once, and counts the values of each column that have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np

from headgate.learn.patterns import hashing, whole_values
from headgate.learn.patterns.entries import ENTRY, FAILED_SHARE, IMPURITY_ONE, MAJORITY, STRAYED_SHARE, Entries, Rows
from headgate.learn.patterns.generalize import Choices, Menu, find_unambiguous, is_open, menu_of
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind, lex
from headgate.learn.patterns.sample import SampledColumn

TAU = 13
"""The most tokens of a value whose patterns are enumerated (the paper's tau); inference cuts wider values."""


class KindPatterns(msgspec.Struct, frozen=True):
    """Values with the same kinds of tokens, and their patterns: `keys` and `given` have a row for each value.

    Their columns are the patterns. `tokens` is the number of tokens; `open` is whether a pattern has no constant letter
    or digit.
    """

    values: Ints
    keys: Keys
    given: Flags
    tokens: int
    open: Flags


class Columns(msgspec.Struct, frozen=True):
    """The distinct values of many columns, one after the other.

    For each value: how often it occurs, how often among the first values (`early`), and the index of its column
    (`owner`). For each column: the number of all values (`totals`) and of first values (`firsts`).
    """

    values: list[str]
    counts: Ints
    early: Ints
    owner: Ints
    totals: Ints
    firsts: Ints

    @classmethod
    def of(cls, columns: Sequence[SampledColumn]) -> Columns:
        counts, early = (_concat_ints([getattr(column, name) for column in columns]) for name in ("counts", "early"))
        owner = np.repeat(np.arange(len(columns)), [len(column.values) for column in columns])
        totals, firsts = (np.bincount(owner, weights=each, minlength=len(columns)) for each in (counts, early))
        values = [value for column in columns for value in column.values]
        return cls(values, counts, early, owner, totals.astype(np.int64), firsts.astype(np.int64))


def _concat_ints(lists: Sequence[Sequence[int]]) -> Ints:
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)


def count_patterns(columns: Columns, tau: int = TAU) -> Entries:
    """The entries of all patterns of these columns."""
    tokens = lex(columns.values)
    pairs = [_make_pairs(patterns) for patterns in enumerate_patterns(tokens, tau)]
    pairs.append(_make_whole_pairs(tokens, columns.values))
    return _count_pairs(columns, Pairs(*map(np.concatenate, zip(*pairs, strict=True))))


def enumerate_patterns(tokens: TokenArrays, tau: int = TAU) -> Iterator[KindPatterns]:
    """The patterns of the values with at most `tau` tokens, grouped by their kinds of tokens."""
    slots = np.bincount(tokens.value[tokens.kind != TokenKind.SYMBOLS], minlength=len(tokens.count))
    fits = (tokens.count > 0) & (tokens.count <= tau)
    positions = np.arange(len(tokens.kind)) - tokens.first[tokens.value]
    kinds_key = np.zeros(len(tokens.count), dtype=np.uint64)
    if len(tokens.kind):
        terms = hashing.place_keys(tokens.kind.astype(np.uint64), positions.astype(np.uint64))
        kinds_key[tokens.count > 0] = np.add.reduceat(terms, tokens.first[tokens.count > 0])
    chosen = np.flatnonzero(fits)
    _, which = np.unique(kinds_key[chosen], return_inverse=True)
    order = np.argsort(which, kind="stable")
    for group in np.split(chosen[order], np.flatnonzero(np.diff(which[order])) + 1):
        if len(group) and (menu := menu_of(int(tokens.count[group[0]]), int(slots[group[0]]))) is not None:
            yield _combine_choices(tokens, group, menu)


def _combine_choices(tokens: TokenArrays, group: Ints, menu: Menu) -> KindPatterns:
    """Every combination of choices, one for each token: the sums of terms by an outer sum over the tokens."""
    size = int(tokens.count[group[0]])
    keys, given = np.zeros((len(group), 1), dtype=np.uint64), np.ones((len(group), 1), dtype=bool)
    opens = np.ones(1, dtype=bool)
    kinds = [TokenKind(each) for each in tokens.kind[tokens.first[group[0]] : tokens.first[group[0]] + size].tolist()]
    for position in range(size):
        kind = kinds[position]
        choices = Choices.of(menu, kind, tokens, tokens.first[group] + position)
        terms = hashing.place_keys(choices.keys, position)
        keys = (keys[:, :, None] + terms[:, None, :]).reshape(len(group), -1)
        given = (given[:, :, None] & choices.given[:, None, :]).reshape(len(group), -1)
        choice_opens = np.array([is_open(choice, kind) for choice in menu[kind]])
        opens = (opens[:, None] & choice_opens[None, :]).reshape(-1)
    return KindPatterns(group, hashing.mix(keys), given & find_unambiguous(menu, kinds), size, opens)


class Pairs(NamedTuple):
    """All pairs of a value and a pattern that it has, with the pattern's key, token count and openness."""

    value: Ints
    key: Keys
    tokens: Ints
    open: Flags


def _make_pairs(patterns: KindPatterns) -> Pairs:
    row, column = np.nonzero(patterns.given)
    tokens = np.full(len(row), patterns.tokens, np.int64)
    return Pairs(patterns.values[row], patterns.keys[row, column], tokens, patterns.open[column])


def _make_whole_pairs(tokens: TokenArrays, values: Sequence[str]) -> Pairs:
    patterns = whole_values.find_whole_patterns(tokens, values)
    rows = {pattern: np.flatnonzero(having) for pattern, having in patterns.items()}
    if whole_values.URL in patterns:
        hosts = whole_values.find_hosts(values, patterns[whole_values.URL])
        rows |= {whole_values.make_host_pattern(host): indices for host, indices in hosts.items()}
    value = np.concatenate([*rows.values(), np.zeros(0, dtype=np.int64)])
    sizes = [len(each) for each in rows.values()]
    opens = np.repeat(np.array([each.is_open for each in rows], dtype=bool), sizes)
    return Pairs(value, np.repeat(whole_values.keys_of(list(rows)), sizes), np.ones(len(value), np.int64), opens)


def _count_pairs(columns: Columns, pairs: Pairs) -> Entries:
    """Make one entry for each column and pattern, then add over columns."""
    if not len(pairs.value):
        return Entries.empty()
    owner = columns.owner[pairs.value]
    # One number stands for column and pattern together, so that one sort groups the pairs of both.
    group = pairs.key ^ hashing.mix(owner.astype(np.uint64))
    order = np.argsort(group, kind="stable")
    # Prepending the complement of the first number makes the first difference nonzero.
    first = np.flatnonzero(np.diff(group[order], prepend=~group[order[:1]]))
    pair, value = order[first], pairs.value[order]
    entries = np.zeros(len(pair), dtype=ENTRY)
    entries["key"], entries["tokens"], entries["open"] = pairs.key[pair], pairs.tokens[pair], pairs.open[pair]
    matched, early = (np.add.reduceat(each[value], first) for each in (columns.counts, columns.early))
    return Entries.of(_fill_entries(entries, matched, early, columns.totals[owner[pair]], columns.firsts[owner[pair]]))


def _fill_entries(entries: Rows, matched: Ints, early: Ints, total: Ints, firsts: Ints) -> Rows:
    """Fill entries of one column each: the share of values with the pattern, and the backtest of the first values."""
    later = total - firsts
    missed = later - (matched - early)
    led = (firsts > 0) & (early == firsts) & (later > 0)
    entries["columns"] = 1
    entries["impurity"] = ((total - matched) * IMPURITY_ONE) // total
    entries["most"] = matched >= MAJORITY * total
    entries["led"], entries["slipped"] = led, led & (missed > 0)
    entries["strayed"], entries["failed"] = (
        led & (missed > STRAYED_SHARE * later),
        led & (missed > FAILED_SHARE * later),
    )
    return entries
