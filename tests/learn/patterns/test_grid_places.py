"""Places of a grid: the choices that the tokens of nearly all values share."""

from __future__ import annotations

import numpy as np

from headgate.learn.patterns.align import GAP
from headgate.learn.patterns.generalize import FULL_MENU, SHORT_MENU, Step
from headgate.learn.patterns.grid_places import GridPlace, place_of
from headgate.learn.patterns.lexer import TokenKind, lex


def place(values: list[str], weights: list[int] | None = None, tolerated: float = 0.0) -> GridPlace:
    """The place of values of one token each; an empty value has none."""
    tokens = lex(values)
    indices = np.where(tokens.count > 0, tokens.first, GAP)
    return place_of(tokens, indices, np.array(weights or [1] * len(values)), tolerated)


def test_words_of_one_length_share_the_choices_of_their_case_and_length() -> None:
    found = place(["ab", "cd"])
    assert found.kind is TokenKind.LETTERS
    assert (Step.CONST,) not in found.choices
    assert {(Step.CASE_K,), (Step.LETTER,), (Step.ALPHANUM_K,)} <= set(found.choices)
    assert found.meets.all()


def test_words_of_different_length_and_case_share_no_fixed_length() -> None:
    assert set(place(["ab", "CDE"]).choices) == {(Step.LETTER,), (Step.ALPHANUM,)}


def test_the_same_token_everywhere_keeps_its_constant() -> None:
    found = place(["-", "-"])
    assert found.is_constant
    assert found.choices == SHORT_MENU[TokenKind.SYMBOLS]
    assert found.choices_on(FULL_MENU) == [0]


def test_a_value_without_a_token_is_a_gap_and_meets_nothing() -> None:
    found = place(["-", "", "-"])
    assert found.gap.tolist() == [False, True, False]
    assert not found.meets[1].any()


def test_a_rare_token_costs_a_choice_unless_it_is_tolerated() -> None:
    values, weights = ["ab", "cd", "7"], [5, 4, 1]
    assert (Step.LETTER,) not in place(values, weights).choices
    tolerant = place(values, weights, tolerated=1.0)
    met = tolerant.meets[:, tolerant.choices.index((Step.LETTER,))]
    assert met.tolist() == [True, True, False]


def test_the_reference_is_the_most_frequent_token_of_the_most_frequent_kind() -> None:
    values = ["7", "ab", "xyz"]
    found = place(values, [4, 3, 5], tolerated=4.0)
    assert (found.kind, lex(values).text(found.token)) == (TokenKind.LETTERS, "xyz")
