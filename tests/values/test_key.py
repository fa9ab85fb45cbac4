"""A metric's key is text that parses back to the same key, whatever its columns are called."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headgate.values.errors import BadMetricKey, HeadgateError
from headgate.values.key import MetricKey, Parameter
from tests.strategies import HOSTILE_NAMES, names

words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
parameters: st.SearchStrategy[Parameter] = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False), names(), st.text(max_size=20)
)
keys = st.builds(
    MetricKey,
    words,
    st.lists(names(), max_size=4).map(tuple),
    st.lists(st.tuples(words, parameters), max_size=3).map(tuple),
    st.one_of(st.none(), st.text(max_size=20), st.just("a > 'x' and \"b\" = `c`")),
)


@settings(max_examples=300)
@given(keys)
@example(MetricKey("mean", ("where",), (), "where"))
@example(MetricKey("f", ('"', "\\", '\\"', "a=1", "a, b", ")"), (("p", '") where "x'),)))
@example(MetricKey("f", (), (("p", True), ("q", 1), ("r", 1.0), ("s", "1"))))
def test_the_text_of_a_key_parses_back_to_it(key: MetricKey) -> None:
    again = MetricKey.parse(str(key))
    assert again == key
    assert str(again) == str(key)
    kinds = [[type(value) for _, value in each.parameters] for each in (again, key)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: repr(name[:12]))
def test_a_column_may_be_called_anything(name: str) -> None:
    assert MetricKey.parse(str(MetricKey("mean", (name,)))).columns == (name,)


@settings(max_examples=200)
@given(st.lists(keys, min_size=2, max_size=2, unique=True))
def test_different_keys_have_different_texts(pair: list[MetricKey]) -> None:
    assert str(pair[0]) != str(pair[1])


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=30), st.text('mean(a,"b"=1) where', max_size=30)))
def test_any_text_is_a_key_or_a_typed_error(text: str) -> None:
    with contextlib.suppress(BadMetricKey):
        key = MetricKey.parse(text)
        assert MetricKey.parse(str(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        *("", "mean", "mean(", "mean(a", "mean(a,)", "mean(,a)", "mean(a))", "mean(a b)", 'mean("a)', "mean[a]", "(a)"),
        *("mean(a=)", "mean(a=b)", "mean(a=null)", "mean(a=[1])", 'mean("a"=1)', "1(a)", "mean(a);", "mean(a)(b)"),
        *("mean(a) x", 'mean(a) were "x"', "mean(a) where", "mean(a) where x", "mean(a) where 1"),
    ],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadMetricKey) as trouble:
        MetricKey.parse(text)
    assert isinstance(trouble.value, HeadgateError)
    assert "at character" in str(trouble.value)
    assert "Write it like" in trouble.value.hint


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("size()", MetricKey("size")),
        ("mean(price)", MetricKey("mean", ("price",))),
        (" mean ( price ) ", MetricKey("mean", ("price",))),
        ('mean("unit price")', MetricKey("mean", ("unit price",))),
        ("f(a, q=0.9, n=3, b=true)", MetricKey("f", ("a",), (("q", 0.9), ("n", 3), ("b", True)))),
        ("f(a) where \"r = 'EU'\"", MetricKey("f", ("a",), (), "r = 'EU'")),
    ],
)
def test_a_key_is_written_as_people_write_it(text: str, key: MetricKey) -> None:
    assert MetricKey.parse(text) == key


def test_plain_names_stand_bare_and_all_others_in_quotes() -> None:
    assert (
        str(MetricKey("mean", ("price", "unit price", "where", "1st"))) == 'mean(price, "unit price", "where", "1st")'
    )
