"""Row predicates without Spark: SQL's three-valued logic, and a refusal with a hint for all that is not understood."""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.analyze import analyze
from headgate.engine.predicates import RowPredicate
from headgate.values.errors import BadPredicate
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured
from tests.strategies import TEXT_VIEWS

NAN = float("nan")
ROWS: dict[str, pa.Array] = {
    "n": pa.array([1, 2, None]),
    "m": pa.array([0, None, None]),
    "f": pa.array([1.5, NAN, None]),
    "g": pa.array([NAN, NAN, NAN]),
    "s": pa.array(["  ab ", "x", None]),
    "b": pa.array([True, False, None]),
    "d": pa.array([date(2020, 1, 1), date(2021, 1, 1), None]),
    "t": pa.array([datetime(2020, 1, 1), datetime(2021, 1, 1, 5), None]),
    "z": pa.array([datetime(2020, 1, 1, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
    "c": pa.array([Decimal("1.50"), Decimal("2.50"), None]),
    "a.b": pa.array([1, 2, 3]),
    "unit price": pa.array([1, 2, 3]),
    "é": pa.array([1, 2, 3]),
}
T, F, U = True, False, None


def met(text: str, rows: dict[str, Any] | None = None) -> list[bool | None]:
    given_rows = ROWS if rows is None else rows
    found: list[bool | None] = RowPredicate(text, tuple(given_rows))(given_rows, 3).to_pylist()
    return found


@pytest.mark.parametrize("left", [T, F, U], ids=str)
@pytest.mark.parametrize("right", [T, F, U], ids=str)
def test_and_or_and_not_have_three_values(left: bool | None, right: bool | None) -> None:
    rows = {"p": pa.array([left] * 3, pa.bool_()), "q": pa.array([right] * 3, pa.bool_())}
    conjunction = F if F in (left, right) else U if U in (left, right) else T
    disjunction = T if T in (left, right) else U if U in (left, right) else F
    assert met("p and q", rows)[0] is conjunction
    assert met("p or q", rows)[0] is disjunction
    assert met("not p", rows)[0] is (None if left is None else not left)
    words = {T: "true", F: "false", U: "null"}
    assert met(f"{words[left]} and {words[right]}", rows)[0] is conjunction
    assert met(f"p or {words[right]}", rows)[0] is disjunction
    assert met(f"not {words[left]}", rows)[0] is (None if left is None else not left)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 1", [T, F, U]),
        ("n == 1", [T, F, U]),
        ("n <> 1", [F, T, U]),
        ("n != 1", [F, T, U]),
        ("n < 2", [T, F, U]),
        ("n >= 2", [F, T, U]),
        ("n = null", [U, U, U]),
        ("n > m", [T, U, U]),
        ("n + 1 = 2", [T, F, U]),
        ("n - 1 = 0", [T, F, U]),
        ("n * 2 = 4", [F, T, U]),
        ("-n < -1", [F, T, U]),
        ("n > 1e0", [F, T, U]),
        ("n < 99999999999999999999", [T, T, U]),
        ("c > 2", [F, T, U]),
        ("c = 1.5", [T, F, U]),
        ("b", [T, F, U]),
        ("b = true", [T, F, U]),
        ("true", [T, T, T]),
        ("null", [U, U, U]),
        ("(n = 1)", [T, F, U]),
        ("n = 1 -- why not", [T, F, U]),
        ('s = "x"', [F, T, U]),
    ],
)
def test_comparisons_and_arithmetic(text: str, expected: list[bool | None]) -> None:
    assert met(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n is null", [F, F, T]),
        ("n is not null", [T, T, F]),
        ("b is true", [T, F, F]),
        ("b is not true", [F, T, T]),
        ("b is false", [F, T, F]),
        ("n in (1, 3)", [T, F, U]),
        ("n not in (1, 3)", [F, T, U]),
        ("n in (1, null)", [T, U, U]),
        ("n not in (1, null)", [F, U, U]),
        ("n in (m, 2)", [F, T, U]),
        ("s in ('x')", [F, T, U]),
        ("n between 1 and 1", [T, F, U]),
        ("n not between 1 and 1", [F, T, U]),
        ("n between 2 and null", [F, U, U]),
        ("n between null and 1", [U, F, U]),
        ("coalesce(n, 0) = 0", [F, F, T]),
        ("ifnull(n, 7) = 7", [F, F, T]),
    ],
)
def test_nulls_in_is_in_between_and_coalesce(text: str, expected: list[bool | None]) -> None:
    assert met(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s like '%b%'", [T, F, U]),
        ("s like 'x'", [F, T, U]),
        ("s like '_'", [F, T, U]),
        ("s not like 'x'", [T, F, U]),
        ("s rlike '^x$'", [F, T, U]),
        ("s rlike 'b'", [T, F, U]),
        ("s regexp 'b'", [T, F, U]),
        ("upper(s) = 'X'", [F, T, U]),
        ("lower('X') = s", [F, T, U]),
        ("length(s) = 5", [T, F, U]),
        ("trim(s) = 'ab'", [T, F, U]),
        ("abs(-n) = 2", [F, T, U]),
    ],
)
def test_text_and_functions(text: str, expected: list[bool | None]) -> None:
    assert met(text) == expected


def test_trim_takes_off_spaces_and_no_other_white_space() -> None:
    rows = {"s": pa.array([" a ", "\ta", "a\n"])}
    assert met("trim(s) = 'a'", rows) == [T, F, F]


def test_division_is_never_whole_and_by_zero_gives_null() -> None:
    assert met("n / 2 = 0.5") == [T, F, U]
    assert met("n / m is null") == [T, T, T]
    assert met("n / 0 > 1") == [U, U, U]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = f", [T, T, U]),
        ("f = g", [F, T, U]),
        ("f < g", [T, F, U]),
        ("f >= g", [F, T, U]),
        ("f > 5", [F, T, U]),
        ("f <= 5", [T, F, U]),
        ("f <> g", [T, F, U]),
        ("n < g", [T, T, U]),
        ("f between 1 and 2", [T, F, U]),
        ("f in (1.5, 2)", [T, F, U]),
        ("isnan(f)", [F, T, F]),
    ],
)
def test_nan_equals_nan_and_is_greater_than_every_number_as_in_spark(text: str, expected: list[bool | None]) -> None:
    assert met(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d > '2020-06-01'", [F, T, U]),
        ("'2020-06-01' < d", [F, T, U]),
        ("d = '2020-01-01'", [T, F, U]),
        ("d in ('2020-01-01', '2022-01-01')", [T, F, U]),
        ("d between '2020-01-01' and '2020-12-31'", [T, F, U]),
        ("d > date '2020-06-01'", [F, T, U]),
        ("d > cast('2020-06-01' as date)", [F, T, U]),
        ("t >= '2021-01-01'", [F, T, U]),
        ("t >= '2021-01-01 06:00:00'", [F, F, U]),
        ("t > timestamp '2020-06-01 00:00:00'", [F, T, U]),
        ("t > cast('2020-06-01' as date)", [F, T, U]),
        ("z = '2020-01-01T00:00:00Z'", [T, U, U]),
        ("cast(n as string) = '1'", [T, F, U]),
        ("cast(n as double) / 2 = 0.5", [T, F, U]),
        ("cast('1' as int) = n", [T, F, U]),
    ],
)
def test_dates_compare_with_text_as_dates_and_casts_are_explicit(text: str, expected: list[bool | None]) -> None:
    assert met(text) == expected


@pytest.mark.parametrize("text", ["`a.b` > 1", "`unit price` > 1", "`é` > 1", "é > 1"])
def test_a_column_of_any_name_is_named_in_backticks(text: str) -> None:
    assert met(text) == [F, T, T]


@pytest.mark.parametrize(
    "encode",
    [
        lambda array: array.dictionary_encode(),
        lambda array: pc.run_end_encode(array),
        lambda array: array.cast(pa.large_string()),
        lambda array: array.cast(*(TEXT_VIEWS or [pa.string()])),
        lambda array: pa.chunked_array([array.slice(0, 1), array.slice(1)]),
        lambda array: pa.concat_arrays([pa.array(["no"]), array]).slice(1),
    ],
    ids=["dictionary", "run-end", "large", "view", "chunks", "slice"],
)
def test_a_column_means_the_same_however_it_is_encoded(encode: Any) -> None:
    rows = {"s": encode(pa.array(["ab", "x", None]))}
    for text in (
        "s = 'x'",
        "s in ('x', 'y')",
        "s like 'x%'",
        "upper(s) = 'X'",
        "s between 'b' and 'z'",
        "length(s) = 1",
    ):
        assert met(text, rows) == [F, T, U], text


def test_a_predicate_knows_the_columns_it_reads() -> None:
    assert RowPredicate("n > 1 and `a.b` is null or s = 'd'", tuple(ROWS)).columns == {"n", "a.b", "s"}


# --- what is refused


@pytest.mark.parametrize(
    "text",
    [
        "n > (select 1)",
        "n in (select 1)",
        "exists(select 1)",
        "n = any(select 1)",
        "reflect('java.lang.Runtime', 'exit')",
        "java_method('java.lang.System', 'exit', 0)",
        "my_udf(n) > 1",
        "explode(n)",
        "sum(n) > 1",
        "count(*) > 1",
        "n > row_number() over (order by n)",
        "rand() > 0.5",
        "current_date() > d",
        "input_file_name() = 'x'",
        "n > 1; drop table t",
        "select * from parquet.`/etc/passwd`",
        "drop table t",
        "case when n > 1 then true end",
        "if(n > 1, true, false)",
        "n % 2 = 0",
        "n div 2 = 1",
        "n <=> 1",
        "s ilike 'X'",
        "s like 'x' escape '!'",
        "s like any ('x', 'y')",
        "s like n",
        "s || 'x' = 'xx'",
        "ltrim(s) = 'x'",
        "rtrim(s) = 'x'",
        "trim(both 'x' from s) = ''",
        "n between symmetric 2 and 1",
        "cast(n as decimal(10, 2)) = 1",
        "array(1)[0] = n",
        "x'ff' = s",
        "transform(array(1), y -> y + n) is null",
        "*",
    ],
)
def test_what_is_not_understood_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(BadPredicate, match=r"cannot be evaluated without Spark\. Use comparisons"):
        RowPredicate(text, tuple(ROWS))


@pytest.mark.parametrize(
    "text", ["", "   ", "n >", "n > 1)", "((", "n n", "'open", "and", "n > 1 or", "map . 5.", "map ( ? rand()"]
)
def test_what_is_no_sql_is_refused(text: str) -> None:
    with pytest.raises(BadPredicate):
        RowPredicate(text, tuple(ROWS))


@pytest.mark.parametrize("text", ["prise > 1", "t.price > 1", "a.b > 1", "`N` > 1"])
def test_an_unknown_column_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadPredicate, match="there are price, quantity"):
        RowPredicate(text, ("price", "quantity"))


def test_an_unknown_column_comes_with_the_nearest_name() -> None:
    with pytest.raises(BadPredicate, match="Did you mean 'price'"):
        RowPredicate("prise > 1", ("price", "quantity"))


@pytest.mark.parametrize("text", ["(" * 3_000 + "b" + ")" * 3_000, " and ".join(["b"] * 5_000), "not " * 5_000 + "b"])
def test_a_predicate_nested_without_end_is_refused_and_costs_no_other_metric(text: str) -> None:
    found = analyze(pa.table({"b": [True, False]}), [MetricKey("compliance", (), (("predicate", text),)), "size()"])
    outcomes = list(found.values())
    assert outcomes[1] == Measured(2.0)
    assert isinstance(outcomes[0], Failed)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("n", "it gives int64, not boolean"),
        ("n + 1", "it gives int64, not boolean"),
        ("lower(s)", "it gives string, not boolean"),
        ("1", "it gives int64, not boolean"),
        ("n = 'x'", "equal"),
        ("s rlike '('", "regular expression"),
        ("d > 'soon'", "soon"),
        ("cast(s as int) = 1", "Failed to parse"),
    ],
)
def test_a_predicate_that_does_not_fit_the_data_fails_its_metrics_alone(text: str, why: str) -> None:
    table = pa.table({"n": [1], "s": ["a"], "d": [date(2020, 1, 1)]})
    key = MetricKey("compliance", (), (("predicate", text),))
    found = analyze(table, [key, MetricKey("mean", ("n",), (), text), "mean(n)"])
    broken, filtered, whole = found.values()
    assert isinstance(broken, Failed)
    assert isinstance(filtered, Failed)
    assert why in broken.why
    assert text in broken.why
    assert whole == Measured(1.0)


WORDS = [
    *(
        "n",
        "f",
        "s",
        "b",
        "d",
        "`q`",
        "1",
        "0",
        "2.5",
        "1L",
        "0x1F",
        "1.5BD",
        "'x'",
        "null",
        "true",
        "interval",
        "date",
        "?",
    ),
    *(
        "and",
        "or",
        "not",
        "=",
        "<",
        ">",
        "<=",
        "in",
        "between",
        "is",
        "like",
        "rlike",
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "::",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        ";",
        "length(",
        "trim(",
        "abs(",
        "coalesce(",
        "isnan(",
        "cast(",
        "as",
        "int",
        "string",
    ),
    *("case", "when", "then", "end", "select", "from"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join))
def test_any_text_is_evaluated_refused_or_fails_but_never_breaks_the_scan(text: str) -> None:
    with contextlib.suppress(BadPredicate, pa.ArrowException, TypeError):
        found = RowPredicate(text, tuple(ROWS))(ROWS, 3)
        assert (found.type, len(found)) == (pa.bool_(), 3)
