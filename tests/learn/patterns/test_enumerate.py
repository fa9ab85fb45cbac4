"""Evidence of columns, against a reference that looks at each pattern of each value by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headgate.learn.patterns import whole_values
from headgate.learn.patterns.entries import ENTRY, IMPURITY_ONE, Entries
from headgate.learn.patterns.enumerate import TAU, Columns, count_patterns
from headgate.learn.patterns.lexer import MAX_LENGTH, lex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.sample import SampledColumn, first_values
from tests.learn.patterns.test_generalize import VALUES, few, patterns_of

EXAMPLES = settings(max_examples=30)
SPECIAL = [
    "",
    "x" * (MAX_LENGTH + 1),
    "1-" * 7,
    "http://a.b/c",
    "http://a.b",
    "https://c.d?e",
    "a@b.c",
    "Main St.",
    "12,5.2",
    "ab,5.2",
]
POOL = st.one_of(VALUES.filter(few), st.sampled_from(SPECIAL))


@st.composite
def columns(draw: st.DrawFn) -> list[str]:
    """A column of few different values; in some the first ones are all the same."""
    pool = draw(st.lists(POOL, min_size=1, max_size=4))
    drawn = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=45))
    return [pool[0]] * draw(st.sampled_from([0, 0, 5, 6, 40])) + drawn


@cache
def all_patterns(value: str, tau: int) -> dict[Pattern, int]:
    """The patterns of a value, with how many tokens each counts for."""
    found = {pattern: len(lex([value]).kind) for pattern in patterns_of(value, tau)}
    if 0 < len(value) <= MAX_LENGTH:
        found |= {
            each: 1 for each in (whole_values.PHRASE, whole_values.URL, whole_values.EMAIL) if each.matches(value)
        }
        if whole_values.URL in found:
            found[whole_values.make_host_pattern(whole_values.host_of(value))] = 1
    return found


def entry_of(pattern: Pattern, values: Sequence[str], tau: int) -> dict[str, int]:
    """What one column says of a pattern that one of its values has."""
    having = {value: pattern in all_patterns(value, tau) for value in set(values)}
    has = [having[value] for value in values]
    first = first_values(len(values))
    missed, later = has[first:].count(False), len(values) - first
    led = first > 0 and all(has[:first]) and later > 0
    return {
        "impurity": has.count(False) * IMPURITY_ONE // len(values),
        "columns": 1,
        "most": 2 * has.count(True) >= len(values),
        "led": led,
        "slipped": led and missed > 0,
        "strayed": led and 100 * missed > 5 * later,
        "failed": led and 100 * missed > 40 * later,
    }


def reference(lake: Sequence[Sequence[str]], tau: int) -> dict[int, dict[str, int]]:
    total: dict[int, Counter[str]] = {}
    fixed: dict[int, dict[str, int]] = {}
    for values in lake:
        for pattern, tokens in {p: n for value in set(values) for p, n in all_patterns(value, tau).items()}.items():
            total.setdefault(pattern.key, Counter()).update(entry_of(pattern, values, tau))
            fixed[pattern.key] = {"tokens": tokens, "open": int(pattern.is_open), "spare": 0}
    return {key: {**fixed[key], **counts} for key, counts in total.items()}


def as_dicts(entries: Entries) -> dict[int, dict[str, int]]:
    names = [name for name in ENTRY.names or () if name != "key"]
    return {int(row["key"]): {name: int(row[name]) for name in names} for row in entries.rows}


def evidence_of(lake: Sequence[Sequence[str]], tau: int = TAU) -> Entries:
    return count_patterns(Columns.of([SampledColumn.of(values) for values in lake]), tau)


@EXAMPLES
@given(st.lists(columns(), min_size=1, max_size=3), st.sampled_from([TAU, 3]))
@example([["a"] * 20], TAU)
@example([["12,5.2"] * 19 + ["ab,5.2"]], TAU)
@example([["1"] * 24 + ["a"]], TAU)  # exactly 5% of the later values
@example([["1"] * 17 + ["a"] * 8], TAU)  # and exactly 40%
@example([["1", "a"]], TAU)  # exactly half
@example([[""], ["", "x" * (MAX_LENGTH + 1)]], TAU)
def test_evidence_is_what_the_patterns_of_each_value_say(lake: list[list[str]], tau: int) -> None:
    assert as_dicts(evidence_of(lake, tau)) == reference(lake, tau)


@EXAMPLES
@given(st.lists(columns(), min_size=1, max_size=4))
def test_columns_together_say_what_they_say_one_by_one(lake: list[list[str]]) -> None:
    apart = Entries.empty()
    for values in lake:
        apart = apart + evidence_of([values])
    assert evidence_of(lake) == apart
    assert evidence_of(lake[::-1]) == apart


@pytest.mark.parametrize(
    "lake", [[], [[]], [[""]], [["", ""], ["x" * (MAX_LENGTH + 1)]]], ids=["none", "empty", "blank", "long"]
)
def test_columns_without_tokens_say_nothing(lake: list[list[str]]) -> None:
    assert len(evidence_of(lake)) == 0


def test_a_column_without_values_takes_nothing_from_its_neighbours() -> None:
    assert evidence_of([[], ["a1"], []]) == evidence_of([["a1"]])


def test_no_key_is_there_for_two_patterns_of_one_column() -> None:
    lake = [["ab-12", "ab-34", "cd-12"], ["1.5", "2.5"], ["a@b.c"]]
    patterns = {pattern for values in lake for value in values for pattern in all_patterns(value, TAU)}
    assert len(evidence_of(lake)) == len(patterns) == len(np.unique([pattern.key for pattern in patterns]))


def test_the_backtest_counts_how_often_later_values_broke_what_the_first_ones_had() -> None:
    steady = [f"{at % 9}a" for at in range(100)]
    broken = [f"{at % 9}a" for at in range(10)] + ["zz"] * 90
    slipping = [f"{at % 9}a" for at in range(97)] + ["zz"] * 3
    entries = evidence_of([steady, broken, slipping])
    pattern = Pattern((Atom(AtomKind.DIGIT, 1), Atom(AtomKind.CONST, text="a")))
    row = entries.rows[entries.rows["key"] == np.uint64(pattern.key)][0]
    assert [int(row[name]) for name in ("columns", "led", "slipped", "strayed", "failed", "most")] == [3, 3, 2, 1, 1, 2]
