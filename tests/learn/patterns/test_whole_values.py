"""Patterns of whole values: phrases, URLs and e-mail addresses, and the hosts of URLs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate.learn.patterns import whole_values
from headgate.learn.patterns.lexer import MAX_LENGTH, lex
from tests.learn.patterns.test_generalize import VALUES
from tests.learn.patterns.test_pattern import EXAMPLES, WHOLES, in_re2


@pytest.mark.parametrize("value", WHOLES, ids=ascii)
def test_a_whole_is_found_where_its_expression_matches(value: str) -> None:
    found = {
        pattern for pattern, having in whole_values.find_whole_patterns(lex([value]), [value]).items() if having[0]
    }
    expected = {
        pattern for pattern in (whole_values.PHRASE, whole_values.URL, whole_values.EMAIL) if pattern.matches(value)
    }
    assert found == expected
    urls = np.array([whole_values.URL in found])
    hosts = whole_values.find_hosts([value], urls)
    assert list(hosts) == ([whole_values.host_of(value)] if urls[0] else [])
    for pattern in (*found, *map(whole_values.make_host_pattern, hosts)):
        assert pattern.matches(value)
        assert in_re2(pattern.regex, value)


@EXAMPLES
@given(st.lists(st.one_of(VALUES, st.sampled_from(WHOLES), st.just("")), max_size=8))
@example(["http://a.b/" + "x" * MAX_LENGTH, "a" * (MAX_LENGTH + 1), ""])
def test_wholes_of_many_values_are_those_of_each(values: list[str]) -> None:
    found = whole_values.find_whole_patterns(lex(values), values)
    for at, value in enumerate(values):
        alone = {
            pattern for pattern, having in whole_values.find_whole_patterns(lex([value]), [value]).items() if having[0]
        }
        assert {pattern for pattern, having in found.items() if having[at]} == alone
        assert not (alone and len(value) > MAX_LENGTH)


def test_the_commonest_host_is_the_one_of_most_values() -> None:
    values = ["http://a.b/1", "http://c.d", "http://a.b", "x"]
    urls = np.array([True, True, True, False])
    pattern, having = whole_values.commonest_host(values, urls, np.array([1, 9, 2, 50]))
    assert (pattern, having.tolist()) == (whole_values.make_host_pattern("http://c.d"), [False, True, False, False])


def test_every_address_at_a_host_is_below_it() -> None:
    below = whole_values.make_host_pattern("http://a.b")
    assert [below.matches(each) for each in ("http://a.b", "http://a.b/c d", "http://a.b?x", "http://a.bc")] == [
        True, False, True, False
    ]  # fmt: skip
