"""Alignment: values are grouped by skeleton, and skeletons laid over one another with gaps."""

from __future__ import annotations

from itertools import product

import numpy as np

from headgate.learn.patterns.align import GAP, MAX_WIDTH, align_groups, grid_of, group_values
from headgate.learn.patterns.lexer import lex


def cells(values: list[str], weights: list[int], late: bool = True) -> list[list[str]]:
    """The texts of the aligned values, with an empty text for a gap."""
    tokens = lex(values)
    grid = align_groups(tokens, group_values(tokens, np.array(weights)), late)
    assert grid is not None
    return [[tokens.text(token) if token != GAP else "" for token in row] for row in grid.tokens.tolist()]


def test_alignment_puts_equal_symbols_over_one_another() -> None:
    values = ["1-2-3", "1-2", "a:1-2-3"]
    tokens, weights = lex(values), np.array([5, 3, 1])
    grid = align_groups(tokens, group_values(tokens, weights))
    rows = [[tokens.text(at) if at >= 0 else "" for at in row] for row in grid.tokens.tolist()]
    widths = {len(row) for row in rows}
    assert widths == {7}
    assert sorted("".join(row) for row in rows) == sorted(values)
    for first, second in product(rows, rows):
        for one, other in zip(first, second, strict=True):
            assert not one or not other or one.isalnum() == other.isalnum()


def test_values_with_the_same_symbols_are_one_group_and_the_heaviest_comes_first() -> None:
    tokens = lex(["a-1", "x", "22-b", "", "y:z"])
    groups = group_values(tokens, np.array([1, 5, 2, 9, 1]))
    assert [(group.rows.tolist(), group.weight) for group in groups] == [([1], 5), ([0, 2], 3), ([4], 1)]


def test_gaps_are_late_or_early_where_both_fit() -> None:
    assert cells(["1-2-3", "1-2"], [2, 1])[1] == ["1", "-", "2", "", ""]
    assert cells(["1-2-3", "1-2"], [2, 1], late=False)[1] == ["", "", "1", "-", "2"]


def test_a_symbol_and_a_word_are_never_in_one_place() -> None:
    rows = cells(["1", "-"], [2, 1])
    assert sorted(map(tuple, rows)) in ([("", "-"), ("1", "")], [("", "1"), ("-", "")])


def test_an_alignment_that_is_too_wide_is_given_up() -> None:
    tokens = lex(["-".join("1" * 20), ":".join("1" * 20)])
    assert align_groups(tokens, group_values(tokens, np.array([1, 1]))) is None
    assert int(tokens.count.max()) <= MAX_WIDTH


def test_values_with_as_many_tokens_need_no_alignment() -> None:
    tokens = lex(["a", "1-2", "x:y"])
    assert grid_of(tokens, np.array([1, 2])).tokens.tolist() == [[1, 2, 3], [4, 5, 6]]
