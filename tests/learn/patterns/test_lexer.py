"""Tokens are what the lexer's docstring says: a slow reference reads every value for itself."""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headgate.learn.patterns.alphabet import SYMBOL_BLOCKS
from headgate.learn.patterns.lexer import MAX_GROUPS, MAX_LENGTH, Case, TokenArrays, TokenKind, lex

EXAMPLES = settings(max_examples=300)
CHAIN = re.compile("[0-9]+(?:[.,][0-9]+)*")
NUMBER = re.compile(rf"(?:[0-9]+|[0-9]{{1,3}}(?:,[0-9]{{3}}){{1,{MAX_GROUPS}}})(?:\.[0-9]+)?")
MIXED = {
    "LD": TokenKind.LETTERS_DIGITS,
    "DL": TokenKind.DIGITS_LETTERS,
    "LDL": TokenKind.LETTERS_DIGITS_LETTERS,
    "DLD": TokenKind.DIGITS_LETTERS_DIGITS,
}

CHARACTERS = st.one_of(
    st.sampled_from("0123456789" + "..,,++-- ([;:=|" + "azAZ" + "_/@#'\"\\<>{}$"),
    st.sampled_from("éßÀ\u00bf\u00c0中\u1fff\u2000\u206f\u2070€\u20a0\u20cf\u20d0\u2fff\u3000、\u303f\u3040"),
    st.sampled_from("😀𐐷\U00010000\U0010ffff\ufffd\ue000\x00\t\n\r\x1f\x7f\x80\x85\u0301\u2028٣"),
    st.characters(exclude_categories=["Cs"]),
)
NUMBERS = st.sampled_from(
    [
        "1",
        "12",
        "123",
        "1234",
        "1.5",
        "-1",
        "+2.50",
        "1,234",
        "1,234,567.8",
        "1.2.3",
        "1,2,3",
        "12,34",
        "-1e",
        "0123,456",
    ]
)
VALUES = st.lists(st.one_of(CHARACTERS, CHARACTERS, NUMBERS), max_size=14).map("".join)
LONG = st.sampled_from(
    ["1" * MAX_LENGTH, "a-" * (MAX_LENGTH // 2), "1.5 " * 200, "x" * (MAX_LENGTH + 1), "é" * MAX_LENGTH]
)


class Token(NamedTuple):
    text: str
    kind: TokenKind
    case: Case
    runs: int
    decimals: int


def letter_or_digit(char: str) -> str:
    """D for a digit, L for a letter, S for a symbol."""
    code = ord(char)
    if code < 128:
        return "D" if char.isdigit() else "L" if char.isalpha() else "S"
    return "S" if any(first <= code <= last for first, last in SYMBOL_BLOCKS) else "L"


def numbers_of(value: str) -> dict[int, str]:
    """The numbers of a value, by where they begin."""
    found = {}
    for chain in CHAIN.finditer(value):
        start, stop = chain.span()
        signed = start > 0 and value[start - 1] in "+-" and (start == 1 or value[start - 2] in " ([,;:=|")
        touches = "L" in (letter_or_digit(value[start - 1]) if start else "", letter_or_digit((value + " ")[stop]))
        if not touches and NUMBER.fullmatch(chain[0]) and (signed or not chain[0].isdigit()):
            found[start - signed] = value[start - signed : stop]
    return found


def tokens_of(value: str) -> list[Token]:
    """The tokens of a value, one character after the other."""
    if len(value) > MAX_LENGTH:
        return []
    numbers, found, at = numbers_of(value), [], 0
    while at < len(value):
        if at in numbers:
            text = numbers[at]
        else:
            symbols = letter_or_digit(value[at]) == "S"
            stop = at + 1
            while stop < len(value) and stop not in numbers and (letter_or_digit(value[stop]) == "S") == symbols:
                stop += 1
            text = value[at:stop]
        found.append(token_of(text, at in numbers))
        at += len(text)
    return found


def token_of(text: str, is_number: bool) -> Token:
    if is_number:
        plain = text[0] not in "+-" and "," not in text
        return Token(text, TokenKind.NUMBER, Case.ANY, 0, len(text.partition(".")[2]) if plain else 0)
    runs = "".join(kind for kind, _ in groupby(map(letter_or_digit, text)))
    if len(runs) > 1:
        return Token(text, MIXED.get(runs, TokenKind.MIXED), Case.ANY, len(runs), 0)
    kind = {"S": TokenKind.SYMBOLS, "D": TokenKind.DIGITS, "L": TokenKind.LETTERS}[runs]
    return Token(text, kind, case_of(text), 1 if kind is not TokenKind.SYMBOLS else 0, 0)


def case_of(text: str) -> Case:
    forms = {Case.UPPER: "[A-Z]+", Case.LOWER: "[a-z]+", Case.TITLE: "[A-Z][a-z]+"}
    return next((case for case, form in forms.items() if re.fullmatch(form, text)), Case.ANY)


def lexed(tokens: TokenArrays, value: int) -> list[Token]:
    """The runs of a number and of symbols say nothing to patterns and are not compared."""
    found = []
    for at in range(tokens.first[value], tokens.first[value] + tokens.count[value]):
        kind = TokenKind(int(tokens.kind[at]))
        runs = 0 if kind in (TokenKind.NUMBER, TokenKind.SYMBOLS) else int(tokens.runs[at])
        found.append(Token(tokens.text(at), kind, Case(int(tokens.case[at])), runs, int(tokens.decimals[at])))
    return found


def texts(value: str) -> list[str]:
    return [token.text for token in lexed(lex([value]), 0)]


def kinds(value: str) -> list[TokenKind]:
    return [token.kind for token in lexed(lex([value]), 0)]


@EXAMPLES
@given(VALUES)
def test_the_tokens_of_a_value_are_those_of_the_reference(value: str) -> None:
    assert lexed(lex([value]), 0) == tokens_of(value)


@EXAMPLES
@given(st.lists(st.one_of(VALUES, VALUES, LONG, st.just("")), max_size=12))
@example(["1", "2"])
@example(["1", ".", "5"])
@example(["1,", "-5"])
@example([",", "-", "5"])
@example(["", "a", "", "1", ""])
def test_values_do_not_influence_each_other(values: list[str]) -> None:
    tokens = lex(values)
    assert [lexed(tokens, at) for at in range(len(values))] == [tokens_of(value) for value in values]
    assert tokens.value.tolist() == [at for at, value in enumerate(values) for _ in tokens_of(value)]


@EXAMPLES
@given(st.lists(st.one_of(VALUES, LONG), max_size=8))
def test_the_pieces_of_a_token_make_it_up_and_are_known_by_their_text(values: list[str]) -> None:
    tokens = lex(values)
    keys: dict[int, str] = {}
    for at in range(len(tokens.kind)):
        run, runs = int(tokens.run[at]), int(tokens.runs[at])
        pieces = [tokens.piece(each) for each in range(run, run + runs)]
        assert "".join(pieces) == tokens.text(at)
        known = [(int(tokens.pieces.key[run + each]), piece) for each, piece in enumerate(pieces)]
        for key, text in [(int(tokens.key[at]), tokens.text(at)), *known]:
            assert keys.setdefault(key, text) == text
    assert len(set(keys.values())) == len(keys)


def test_no_values_have_no_tokens() -> None:
    assert len(lex([]).kind) == 0
    assert lex(["", ""]).count.tolist() == [0, 0]


def test_a_value_is_lexed_up_to_the_longest_and_not_beyond() -> None:
    tokens = lex(["a" * MAX_LENGTH, "a" * (MAX_LENGTH + 1), "b"])
    assert tokens.count.tolist() == [1, 0, 1]
    assert tokens.lengths.tolist() == [MAX_LENGTH, 0, 1]


def test_a_token_is_a_run_of_symbols_or_of_letters_and_digits_between_them() -> None:
    assert texts("ab12 -- cd") == ["ab12", " -- ", "cd"]
    assert kinds("ab12 -- 7") == [TokenKind.LETTERS_DIGITS, TokenKind.SYMBOLS, TokenKind.DIGITS]
    assert texts("\t\n\x00") == ["\t\n\x00"]


@pytest.mark.parametrize("value", ["-5", "+5", "1.5", "0.001", "1,234", "1,234.5", "-1,234,567.89", "12345.6"])
def test_a_number_with_a_sign_a_point_or_groups_is_one_token(value: str) -> None:
    assert kinds(value) == [TokenKind.NUMBER]
    assert texts(f"({value})") == ["(", value, ")"]


@pytest.mark.parametrize(
    "value", ["1.2.3", "1,2,3", "1,23", "1234,567", "1.234,5", "1,234,56", "0.1,234", "1.2.3.4", "1,2345"]
)
def test_the_same_characters_in_another_chain_are_no_number(value: str) -> None:
    assert TokenKind.NUMBER not in kinds(value)
    assert texts(value) == re.findall("[0-9]+|[.,]", value)


def test_digits_alone_are_no_number() -> None:
    assert kinds("1234") == [TokenKind.DIGITS]


def test_a_number_with_too_many_groups_is_a_list() -> None:
    assert kinds("1" + ",234" * MAX_GROUPS) == [TokenKind.NUMBER]
    assert len(texts("1" + ",234" * (MAX_GROUPS + 1))) == 2 * MAX_GROUPS + 3


@pytest.mark.parametrize("before", list(" ([,;:=|"))
def test_a_sign_may_stand_after_what_a_number_may_follow(before: str) -> None:
    assert texts(f"x{before}-5") == ["x", before, "-5"]


@pytest.mark.parametrize("before", list("x5._/-+){é"))
def test_after_anything_else_it_is_a_symbol(before: str) -> None:
    assert TokenKind.NUMBER not in kinds(f"{before}-5")


def test_a_sign_that_no_number_follows_is_a_symbol_like_any_other() -> None:
    assert texts("a -5b") == ["a", " -", "5b"]
    assert texts("-1.2.3") == ["-", "1", ".", "2", ".", "3"]
    assert texts("-x") == ["-", "x"]
    assert texts("-") == ["-"]


@pytest.mark.parametrize("value", ["v1.5", "1.5kg", "é1.5", "1.5é", "-5x", "1,234x"])
def test_what_touches_a_letter_is_no_number(value: str) -> None:
    assert TokenKind.NUMBER not in kinds(value)


def test_a_number_ends_before_a_point_or_comma_that_no_digit_follows() -> None:
    assert texts("1.5.") == ["1.5", "."]
    assert texts("1.5, -2") == ["1.5", ", ", "-2"]
    assert texts("1,-2") == ["1", ",", "-2"]
    assert texts("1..5") == ["1", "..", "5"]


def test_decimals_are_counted_of_plain_numbers_only() -> None:
    tokens = lex(["1.50", "-1.50", "1,234.50", "1,234", "15", "1.5.0"])
    assert tokens.decimals[tokens.first].tolist() == [2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("value", "case"),
    [("AB", Case.UPPER), ("A", Case.UPPER), ("ab", Case.LOWER), ("Ab", Case.TITLE), ("aB", Case.ANY), ("ABc", Case.ANY),
     ("É", Case.ANY), ("Éa", Case.ANY), ("Aé", Case.ANY), ("1", Case.ANY), ("-", Case.ANY), ("A1", Case.ANY)],
)  # fmt: skip
def test_case_is_that_of_letters_of_ascii_alone(value: str, case: Case) -> None:
    assert lex([value]).case.tolist() == [case]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a1", TokenKind.LETTERS_DIGITS),
        ("1a", TokenKind.DIGITS_LETTERS),
        ("a1b", TokenKind.LETTERS_DIGITS_LETTERS),
        ("1a2", TokenKind.DIGITS_LETTERS_DIGITS),
        ("a1b2", TokenKind.MIXED),
        ("1a2b", TokenKind.MIXED),
        ("aB", TokenKind.LETTERS),
        ("é1", TokenKind.LETTERS_DIGITS),
        ("😀", TokenKind.LETTERS),
        ("€", TokenKind.SYMBOLS),
        ("\u3000", TokenKind.SYMBOLS),
        ("٣", TokenKind.LETTERS),
    ],
)
def test_the_kind_of_a_token_says_which_runs_it_has(value: str, kind: TokenKind) -> None:
    tokens = lex([value])
    assert tokens.kind.tolist() == [kind]
    np.testing.assert_array_equal(tokens.length, [len(value)])
