"""What the guard of predicates refuses, and that what it lets through means what it meant."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.checks.guard import FUNCTIONS, MOST_CHARACTERS, guard_predicate
from headgate.engine.predicates import RowPredicate
from headgate.values.errors import BadPredicate
from tests.checks.hostile import HONEST, HOSTILE

NAN = float("nan")
ROWS: dict[str, pa.Array] = {
    "n": pa.array([1, 2, 5, None], pa.int64()),
    "f": pa.array([1.5, NAN, -2.25, None]),
    "s": pa.array(["ab", "x", "  1,2 ", None]),
    "b": pa.array([True, False, None, True]),
    "d": pa.array([date(2020, 1, 1), date(2021, 6, 5), date(2020, 2, 29), None]),
    "t": pa.array([datetime(2020, 1, 1), datetime(2021, 1, 1, 5), datetime(2020, 2, 1), None], pa.timestamp("us")),
    "unit price": pa.array([1, 2, 3, None]),
    "a.b": pa.array([1, 2, 3, None]),
    "c`d": pa.array([1, 2, 3, None]),
}


def refusal(text: str) -> str:
    with pytest.raises(BadPredicate) as caught:
        guard_predicate(text)
    return str(caught.value)


def met(text: str, rows: dict[str, pa.Array]) -> list[bool | None] | None:
    """What the engine without Spark says of each row; None if it does not know the form, or the types do not fit."""
    try:
        found: list[bool | None] = RowPredicate(text, tuple(rows))(rows, len(next(iter(rows.values())))).to_pylist()
        return found
    except (BadPredicate, pa.ArrowException, TypeError):
        return None


@pytest.mark.parametrize("text", [text for texts in HOSTILE.values() for text in texts], ids=lambda text: text[:60])
def test_a_hostile_predicate_is_refused(text: str) -> None:
    assert len(refusal(text)) < 1_500


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_predicate_passes_and_passes_again_unchanged(text: str) -> None:
    assert guard_predicate(guard_predicate(text)) == guard_predicate(text)


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_predicate_means_the_same_without_spark(text: str) -> None:
    assert met(text, ROWS) in (None, met(guard_predicate(text), ROWS))


def test_the_engine_without_spark_knows_much_of_what_is_honest() -> None:
    """Else the test above would compare nothing."""
    assert sum(met(text, ROWS) is not None for text in HONEST) >= 45


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len({text for texts in HOSTILE.values() for text in texts}) >= 80
    assert len(set(HONEST)) >= 50


def test_every_listed_function_passes_in_some_honest_predicate() -> None:
    said = " ".join(HONEST).lower()
    unsaid = [name for name in FUNCTIONS if f"{name}(" not in said]
    assert unsaid == ["array_contains"]
    assert guard_predicate("array_contains(a, 1)") == "ARRAY_CONTAINS(a, 1)"


def test_comments_are_left_out() -> None:
    assert guard_predicate("n = 1 -- OR true") == guard_predicate("/* a */ n /* b */ = 1") == "n = 1"


def test_a_refusal_names_the_function_and_what_may_be_used() -> None:
    said = refusal("my_udf(a) > 1")
    assert said.startswith("'my_udf(a) > 1': the function my_udf may not be used in a predicate. Use comparisons, AND")
    assert all(name in said for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a IN (SELECT 1)", "a IN (SELECT 1)"),
        ("a = 'it''s'", r"Write a quote inside a text as \'."),
        ("a.b = 1", "A name with a dot is `a.b`."),
        ("CAST(a AS ARRAY<INT>) IS NULL", "Types are boolean, tinyint"),
        ("extract(epoch from a) = 1", "Units are year"),
        ("a = 1;", "Write one condition."),
        ("a = b = c", "Put parentheses"),
        ("a = '${env:HOME}'", "[$][{]"),
        ("a > ", "is not a SQL predicate"),
    ],
)
def test_a_refusal_says_what_to_write(text: str, said: str) -> None:
    assert said in refusal(text)


def test_length_and_depth_have_limits_that_honest_predicates_do_not_reach() -> None:
    assert guard_predicate(" OR ".join(f"a = {n}" for n in range(500)))
    assert guard_predicate(f"a IN ({', '.join(map(str, range(1_500)))})")
    assert guard_predicate("(" * 20 + "a" + ")" * 20)
    assert "characters" in refusal("a = '" + "x" * MOST_CHARACTERS + "'")
    assert "nested too deeply" in refusal("(" * 21 + "a" + ")" * 21)


def test_a_text_that_grows_when_written_anew_is_measured_again() -> None:
    text = "n > " + " + ".join(["1L"] * 1_400)
    assert len(text) < MOST_CHARACTERS
    assert "characters" in refusal(text) or "deeply" in refusal(text)


@settings(max_examples=300)
@given(st.text(max_size=40))
def test_any_text_passes_or_is_refused(text: str) -> None:
    try:
        once = guard_predicate(text)
    except BadPredicate:
        return
    assert guard_predicate(once) == once


_WORDS = re.compile(r"\w+|'[^']*'|`[^`]*`|\s+|.", re.DOTALL)
_EVERY = (*HONEST, *(text for texts in HOSTILE.values() for text in texts))
_CUT = [_WORDS.findall(text) for text in _EVERY if len(text) < 200]
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`", re.DOTALL)
_BEFORE_BRACKETS = {*FUNCTIONS, "cast", "try_cast", "decimal", "in", "and", "or", "not", "case", "when", "then", "else",
                    "is", "between", "from", "div"}  # fmt: skip


@settings(max_examples=1_500)
@given(st.sampled_from(_CUT), st.sampled_from(_CUT), st.randoms(use_true_random=False))
def test_whatever_is_spliced_together_calls_only_what_is_listed(one: list[str], two: list[str], chance: Any) -> None:
    text = "".join(one[: chance.randint(0, len(one))] + two[chance.randint(0, len(two)) :])
    try:
        written = guard_predicate(text)
    except BadPredicate:
        return
    assert guard_predicate(written) == written
    called = re.findall(r"(\w+)\s*\(", _QUOTED.sub("x", written).lower())
    assert set(called) <= _BEFORE_BRACKETS


_NUMBERS = st.sampled_from(["n", "m", "1", "0", "2.5", "-1", "null", "abs(n)", "length(s)"])
_TEXTS = st.sampled_from(["s", "u", "'a'", "'A\\\\'", "'it\\'s'", "lower(s)", "upper(u)", "trim(s)", "coalesce(s, u)"])
_ATOMS = st.one_of(
    st.tuples(_NUMBERS, st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">="]), _NUMBERS).map(" ".join),
    st.tuples(_TEXTS, st.sampled_from(["=", "<>", "<", ">="]), _TEXTS).map(" ".join),
    st.tuples(_NUMBERS, st.sampled_from(["+", "-", "*", "/"]), _NUMBERS).map(lambda of: f"{' '.join(of)} > 1"),
    st.tuples(_NUMBERS, _NUMBERS, _NUMBERS).map(lambda of: f"{of[0]} between {of[1]} and {of[2]}"),
    st.tuples(_NUMBERS, _NUMBERS, _NUMBERS).map(lambda of: f"{of[0]} not in ({of[1]}, {of[2]})"),
    st.tuples(_TEXTS, _TEXTS).map(lambda of: f"{of[0]} in ({of[1]}, 'b')"),
    _TEXTS.map(lambda text: f"{text} not like 'a%'"),
    _TEXTS.map(lambda text: f"{text} rlike '^[a-c]'"),
    _TEXTS.map(lambda text: f"{text} is not null"),
    _NUMBERS.map(lambda number: f"{number} is null"),
    st.sampled_from(["p", "not p", "p is true", "p is not false", "true", "null"]),
)
_PREDICATES = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or", "AND", "OR"]), inner).map(" ".join),
        inner.map(lambda of: f"({of})"),
        inner.map(lambda of: f"not ({of})"),
        inner.map(lambda of: f"not {of}"),
        inner.map(lambda of: f"({of}) is null"),
    ),
    max_leaves=6,
)


def _column(values: st.SearchStrategy[Any], kind: pa.DataType) -> st.SearchStrategy[pa.Array]:
    return st.lists(st.none() | values, min_size=4, max_size=4).map(lambda found: pa.array(found, kind))


_TABLES = st.fixed_dictionaries(
    {
        "n": _column(st.integers(-3, 3), pa.int64()),
        "m": _column(st.floats(-3, 3) | st.just(NAN), pa.float64()),
        "s": _column(st.sampled_from(["a", "A\\", "it's", " b ", ""]), pa.string()),
        "u": _column(st.sampled_from(["a", "B", "c"]), pa.string()),
        "p": _column(st.booleans(), pa.bool_()),
    }
)


@settings(max_examples=400)
@given(_PREDICATES, _TABLES)
def test_a_predicate_written_anew_means_the_same(text: str, rows: dict[str, pa.Array]) -> None:
    written = guard_predicate(text)
    assert guard_predicate(written) == written
    assert met(text, rows) == met(written, rows)
