"""Menus: what a token may become, which of it is there for a value, and that keys and atoms tell the same pattern."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.patterns.enumerate import TAU, enumerate_patterns
from headgate.learn.patterns.generalize import (
    BARE_MENU,
    FULL_MENU,
    LEAN_MENU,
    MAX_PATTERNS,
    MAX_SLOTS,
    MEDIUM_MENU,
    SHORT_MENU,
    SOME_SLOTS,
    THREE_SLOTS,
    Choice,
    Menu,
    Step,
    is_open,
    menu_of,
)
from headgate.learn.patterns.generalize import make_atoms as atoms_of
from headgate.learn.patterns.lexer import MAX_LENGTH, Case, TokenArrays, TokenKind, lex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern

EXAMPLES = settings(max_examples=60)
MENUS = {"full": FULL_MENU, "short": SHORT_MENU, "middling": MEDIUM_MENU, "lean": LEAN_MENU, "bare": BARE_MENU}
FEW = 250  # patterns of a value that a test looks at one by one

WORDS = st.sampled_from(
    [
        "a",
        "Z",
        "ab",
        "AB",
        "Ab",
        "aB",
        "é",
        "中文",
        "Éa",
        "😀",
        "1",
        "12",
        "007",
        "1.5",
        "-3",
        "+2.50",
        "1,234",
        "1,234.5",
        "1.2.3",
        "12,34",
        "a1",
        "AB12",
        "1a",
        "12AB",
        "a1b",
        "Ab1CD",
        "1a2",
        "12é34",
        "a1b2",
        "1a2b3",
    ]
)
SYMBOLS = st.sampled_from(
    ["-", "/", ".", ",", " ", ": ", "<", "\\", "{2}", "+", "(", ")", "$", "€", "\n", "\x00", "&&", "[^", "|"]
)
VALUES = st.one_of(
    st.lists(st.one_of(WORDS, SYMBOLS), min_size=1, max_size=5).map("".join),
    st.lists(st.tuples(WORDS, SYMBOLS), min_size=1, max_size=9).map(lambda pairs: "".join(map("".join, pairs))),
    st.lists(st.tuples(SYMBOLS, WORDS), min_size=1, max_size=4).map(lambda pairs: "".join(map("".join, pairs))),
)


def slots_of(tokens: TokenArrays) -> int:
    return int((tokens.kind != TokenKind.SYMBOLS).sum())


def is_given(choice: Choice, tokens: TokenArrays, at: int) -> bool:
    """Whether the token can become that, read off its text."""
    run = int(tokens.run[at])
    cases = tokens.pieces.case[run : run + len(choice)] if len(choice) > 1 else tokens.case[at : at + 1]
    for step, case in zip(choice, cases.tolist(), strict=True):
        if step is Step.CASE_K and case not in (Case.UPPER, Case.LOWER):
            return False
        if step is Step.CASE and case == Case.ANY:
            return False
        if step is Step.DECIMAL and not tokens.decimals[at]:
            return False
        if step is Step.NUM and at + 1 < len(tokens.kind) and tokens.text(at + 1) in (".", ","):
            return False
    return True


def choices_of(value: str, tau: int = TAU) -> list[list[tuple[Choice, ...]]]:
    """Every combination of choices for one value in the order of the menus, in a list of those given and those not."""
    tokens = lex([value])
    menu = menu_of(len(tokens.kind), slots_of(tokens))
    if not 0 < len(tokens.kind) <= tau or menu is None:
        return [[], []]
    offered = [menu[TokenKind(int(kind))] for kind in tokens.kind]
    every = list(product(*offered))
    given = [
        all(is_given(choice, tokens, at) for at, choice in enumerate(each))
        and not {(Step.NUM,), (Step.SYMBOL,)} <= set(each)
        for each in every
    ]
    return [[each for each, there in zip(every, given, strict=True) if there == wanted] for wanted in (True, False)]


@cache
def patterns_of(value: str, tau: int = TAU) -> list[Pattern]:
    """All patterns of a value's tokens, one by one."""
    tokens = lex([value])
    return [
        Pattern(tuple(atom for at, choice in enumerate(each) for atom in atoms_of(choice, tokens, at)))
        for each in choices_of(value, tau)[0]
    ]


def few(value: str) -> bool:
    """Whether a value has patterns, and not too many to look at them so."""
    tokens = lex([value])
    menu = menu_of(len(tokens.kind), slots_of(tokens))
    return (
        menu is not None
        and len(tokens.kind) <= TAU
        and prod(len(menu[TokenKind(int(each))]) for each in tokens.kind) <= FEW
    )


@EXAMPLES
@given(VALUES.filter(few))
def test_the_vectorised_keys_are_those_of_the_patterns(value: str) -> None:
    (found,) = enumerate_patterns(lex([value]))
    patterns = patterns_of(value)
    assert found.keys[0][found.given[0]].tolist() == [pattern.key for pattern in patterns]
    assert found.open[found.given[0]].tolist() == [pattern.is_open for pattern in patterns]


@EXAMPLES
@given(st.lists(VALUES.filter(few), min_size=1, max_size=4))
def test_a_value_has_the_same_patterns_among_others_as_alone(values: list[str]) -> None:
    found: dict[int, list[int]] = {}
    for group in enumerate_patterns(lex(values)):
        for row, at in enumerate(group.values.tolist()):
            found[at] = group.keys[row][group.given[row]].tolist()
    assert found == {at: [pattern.key for pattern in patterns_of(value)] for at, value in enumerate(values)}


@EXAMPLES
@given(VALUES.filter(few))
def test_no_choice_is_there_twice(value: str) -> None:
    patterns = patterns_of(value)
    assert len(set(patterns)) == len(patterns)
    assert len({pattern.key for pattern in patterns}) == len(patterns)
    assert len({str(pattern) for pattern in patterns}) == len(patterns)


@EXAMPLES
@given(VALUES.filter(few))
def test_the_tokens_of_a_pattern_are_those_of_its_value(value: str) -> None:
    for pattern in patterns_of(value):
        assert len(list(pattern.tokens())) == len(lex([value]).kind)


@pytest.mark.parametrize("menu", MENUS.values(), ids=list(MENUS))
def test_every_kind_of_token_is_on_every_menu(menu: Menu) -> None:
    assert set(menu) == set(TokenKind)
    assert all(len(set(choices)) == len(choices) > 0 for choices in menu.values())


@pytest.mark.parametrize("menu", [FULL_MENU, SHORT_MENU], ids=["full", "short"])
def test_the_constant_is_the_first_choice_of_the_large_menus(menu: Menu) -> None:
    assert {choices[0] for choices in menu.values()} == {(Step.CONST,)}


def test_a_smaller_menu_offers_nothing_that_a_larger_one_does_not() -> None:
    for kind in TokenKind:
        assert set(BARE_MENU[kind]) <= set(LEAN_MENU[kind]) <= set(FULL_MENU[kind]) <= set(SHORT_MENU[kind])


def test_the_more_slots_the_smaller_the_menu() -> None:
    assert [menu_of(3, 2), menu_of(4, 2), menu_of(1, 0), menu_of(5, THREE_SLOTS)] == [
        SHORT_MENU,
        FULL_MENU,
        SHORT_MENU,
        MEDIUM_MENU,
    ]
    assert [menu_of(9, THREE_SLOTS + 1), menu_of(9, SOME_SLOTS), menu_of(9, SOME_SLOTS + 1)] == [
        LEAN_MENU,
        LEAN_MENU,
        BARE_MENU,
    ]
    assert [menu_of(20, MAX_SLOTS), menu_of(20, MAX_SLOTS + 1)] == [BARE_MENU, None]


@pytest.mark.parametrize("slots", range(1, MAX_SLOTS + 1))
def test_no_value_has_more_patterns_than_the_most(slots: int) -> None:
    for symbols in range(slots - 1, slots + 2):
        menu = menu_of(slots + symbols, slots)
        assert menu is not None
        widest = max(len(choices) for kind, choices in menu.items() if kind is not TokenKind.SYMBOLS)
        assert widest**slots * len(menu[TokenKind.SYMBOLS]) ** symbols <= MAX_PATTERNS


def test_what_a_word_may_become() -> None:
    assert {str(pattern) for pattern in patterns_of("Mar")} == {
        "Mar", "<upper><lower>+", "<letter>{3}", "<letter>+", "<alphanum>{3}", "<alphanum>+"
    }  # fmt: skip
    assert {str(pattern) for pattern in patterns_of("MAR")} == {
        "MAR", "<upper>{3}", "<upper>+", "<letter>{3}", "<letter>+", "<alphanum>{3}", "<alphanum>+"
    }  # fmt: skip


def test_what_digits_and_numbers_may_become() -> None:
    assert {str(pattern) for pattern in patterns_of("12")} == {
        "12", "<digit>{2}", "<digit>+", "<num>", "<alphanum>{2}", "<alphanum>+"
    }  # fmt: skip
    assert [str(pattern) for pattern in patterns_of("1.50")] == ["1.50", "<digit>+.<digit>{2}", "<num>"]
    assert [str(pattern) for pattern in patterns_of("-1.50")] == ["-1.50", "<num>"]


def test_the_runs_of_a_mixed_token_go_up_one_by_one() -> None:
    found = {str(pattern) for pattern in patterns_of("AB1")}
    assert {"AB<digit>{1}", "<upper>{2}<digit>+", "<letter>+1", "AB1", "<alphanum>{3}"} <= found
    assert {str(pattern) for pattern in patterns_of("a1b2")} == {"a1b2", "<alphanum>{4}", "<alphanum>+"}


@pytest.mark.parametrize("value", ["1.2.3", "1,2", "12.", "1, 5.", "1.5.", "1.5,"])
def test_a_number_before_a_lone_point_or_comma_stays_what_it_is(value: str) -> None:
    for pattern in patterns_of(value):
        for one, other in zip(pattern.atoms, pattern.atoms[1:], strict=False):
            assert not (
                one.kind is AtomKind.NUM and other == Atom(AtomKind.CONST, text=other.text) and other.text in (".", ",")
            )


def test_a_point_of_another_value_forbids_nothing() -> None:
    (alone,), both = enumerate_patterns(lex(["12"])), list(enumerate_patterns(lex(["12", "."])))
    assert both[0].given.sum() + both[1].given.sum() == alone.given.sum() + 2


def test_a_pattern_has_no_number_beside_any_symbols() -> None:
    found = {str(pattern) for pattern in patterns_of("1-2")}
    assert {"<num>-<num>", "<digit>+<symbol>+<digit>+"} <= found
    assert not any("<num>" in text and "<symbol>" in text for text in found)


def test_symbols_become_a_class_in_short_values_only() -> None:
    assert "<letter>+<symbol>+<letter>+" in {str(pattern) for pattern in patterns_of("a-b")}
    assert not any("<symbol>" in str(pattern) for pattern in patterns_of("a-b-"))


@pytest.mark.parametrize("value", ["", "x" * (MAX_LENGTH + 1), "1-" * 7, "a." * 9])
def test_of_a_value_without_tokens_or_with_too_many_nothing_is_enumerated(value: str) -> None:
    assert list(enumerate_patterns(lex([value]))) == []


@pytest.mark.parametrize("kind", list(TokenKind))
def test_a_choice_is_open_if_it_tells_no_letter_and_no_digit(kind: TokenKind) -> None:
    for choice in SHORT_MENU[kind]:
        assert is_open(choice, kind) == (kind is TokenKind.SYMBOLS or Step.CONST not in choice)


@pytest.mark.parametrize("value", ["ab", "12", "a1-b2", "12/34", "1.5 kg"])
def test_patterns_of_menus_are_open_where_their_choices_are(value: str) -> None:
    tokens = lex([value])
    for choices, pattern in zip(choices_of(value)[0], patterns_of(value), strict=True):
        free = [is_open(choice, TokenKind(int(kind))) for choice, kind in zip(choices, tokens.kind, strict=True)]
        assert all(free) == pattern.is_open
