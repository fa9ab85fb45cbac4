"""Every metric equals a plain pandas, numpy, scipy or Python reference, on random data with everything odd in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.registry import metrics
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome, Undefined
from tests.metrics.reference import OF_COLUMNS, OF_GROUPS, OF_PAIRS, PARAMETERS, Expected, Values, rows_in_groups

ROWS = 190  # quantile sketches hold so many exactly
ROUNDED = {"approx_count_distinct", "unique_ratio"}  # a set of coupons is counted by an estimate

TEXTS = (
    "", " ", "a", "abc", "ABC", "Abc", "a1", "12", "-3.5", "1e9", "true", "False", "2026-11-15", "2026-11-15 10:30:00",
    "2026-11-15T10:30:00.5Z", "é", "Ünïcödé", "中文字", "😀", "a😀b", "𐐷x", "١٢٣", "a\u0301", "x--y", "\t\ttab",
    "a\x00b", "x\ny", "$1,000.00", "550e8400-e29b-41d4-a716-446655440000", "mail@example.org", "«q»", "ℵ₀", "½",
)  # fmt: skip


def floats(chance: np.random.Generator) -> pa.Array:
    values = np.round(chance.normal(3.0, 40.0, ROWS), 1)
    values[chance.random(ROWS) < 0.2] = chance.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-9, 1e9])
    return pa.array(values.tolist(), pa.float64())


def moments(chance: np.random.Generator, zone: str | None) -> pa.Array:
    micros = chance.integers(-(10**15), 2 * 10**15, 60)
    return pa.array(chance.choice(micros, ROWS)).view(pa.timestamp("us", zone))


def decimals(whole: npt.NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    return pa.array([Decimal(f"{each}E-5") for each in whole], kind)


def days(chance: np.random.Generator) -> pa.Array:
    return pa.array([date(2024, 1, 1) + timedelta(int(each)) for each in chance.integers(-9999, 999, ROWS)])


MAKERS: dict[str, Callable[[np.random.Generator], pa.Array]] = {
    "integers": lambda chance: pa.array(chance.integers(-50, 50, ROWS)),
    "bigints": lambda chance: pa.array(chance.integers(-(2**63), 2**63 - 1, ROWS)),
    "floats": floats,
    "floats far from zero": lambda chance: pa.array(1e9 + chance.random(ROWS)),
    "decimals": lambda chance: decimals(chance.integers(-(10**7), 10**7, ROWS), pa.decimal128(18, 5)),
    "long decimals": lambda chance: decimals(chance.integers(-(10**18), 10**18, ROWS), pa.decimal128(38, 18)),
    "booleans": lambda chance: pa.array(chance.random(ROWS) < 0.3),
    "strings": lambda chance: pa.array(chance.choice(np.array(TEXTS, object), ROWS).tolist(), pa.string()),
    "numerals": lambda chance: pa.array([f"{each}" for each in chance.integers(0, 900, ROWS)], pa.large_string()),
    "dates": days,
    "timestamps": lambda chance: moments(chance, None),
    "zoned timestamps": lambda chance: moments(chance, "UTC"),
    "binary": lambda chance: pa.array([chance.bytes(each) for each in chance.integers(0, 3, ROWS)], pa.binary()),
    "nested": lambda chance: pa.array([[int(each)] for each in chance.integers(0, 9, ROWS)]),
    "one value": lambda chance: pa.array([0.1] * ROWS),
    "one text": lambda chance: pa.array(["same"] * ROWS),
    "no values": lambda chance: pa.array([None] * ROWS, pa.float64()),
    "no texts": lambda chance: pa.array([None] * ROWS, pa.string()),
    "no rows": lambda chance: pa.array([], pa.int64()),
    "one row": lambda chance: pa.array([7.5]),
}


@cache
def column(name: str, seed: int = 7) -> pa.Array:
    """A column by its name, with nulls."""
    chance = np.random.default_rng([seed, *name.encode()])
    whole = MAKERS[name](chance)
    absent = pa.array(chance.random(len(whole)) < (0.15 if len(whole) > 1 else 0.0))
    return pc.if_else(absent, pa.scalar(None, whole.type), whole)


def key(name: str, *columns: str) -> MetricKey:
    return MetricKey(name, columns, PARAMETERS.get(name, ()))


@cache
def measured(name: str) -> Analysis:
    """All metrics that a column can have, in one scan."""
    table = pa.table({"x": column(name)})
    accepted = [each for each in (*OF_COLUMNS, *OF_GROUPS) if kind_of(table["x"].type) in metrics()[each].accepts]
    return analyze(table, [key(each, "x") for each in accepted])


def asked() -> list[Any]:
    return [
        pytest.param(data, found, id=f"{found.name}-{data.replace(' ', '_')}")
        for data in MAKERS
        for found in measured(data)
    ]


def assert_equal(outcome: Outcome, expected: Expected, within: float = 1e-9) -> None:
    match outcome:
        case Measured(Distribution() as found):
            assert found.counts == expected
            assert found.total == sum(found.counts.values())
        case Measured(value):
            assert value == pytest.approx(expected, rel=within, abs=1e-12)
        case Undefined():
            assert expected is None
        case _:
            pytest.fail(f"{outcome}, expected {expected}")


@pytest.mark.parametrize(("data", "found"), asked())
def test_a_metric_of_a_column_equals_its_reference(data: str, found: MetricKey) -> None:
    values = Values(column(data).to_pylist())
    if found.name in OF_GROUPS:
        expected: Expected = OF_GROUPS[found.name](rows_in_groups([values]))
    else:
        expected = OF_COLUMNS[found.name](values)
    within = 1e-5 if found.name in ROUNDED else 1e-7 if data == "floats far from zero" else 1e-9
    assert_equal(measured(data)[found], expected, within)


PAIRS = [
    ("integers", "floats"),
    ("floats", "decimals"),
    ("dates", "booleans"),
    ("strings", "booleans"),
    ("binary", "strings"),
    ("one value", "floats"),
    ("no values", "integers"),
    ("zoned timestamps", "integers"),
]


def fits(name: str, pair: tuple[str, str]) -> bool:
    return {kind_of(column(each).type) for each in pair} <= metrics()[name].accepts


@pytest.mark.parametrize(("name", "pair"), [(name, pair) for name in OF_PAIRS for pair in PAIRS if fits(name, pair)])
def test_a_metric_of_two_columns_equals_its_reference(name: str, pair: tuple[str, str]) -> None:
    left, right = (column(each) for each in pair)
    found = analyze(pa.table({"a": left, "b": right}), [key(name, "a", "b")])
    expected = OF_PAIRS[name](Values(left.to_pylist()), Values(right.to_pylist()))
    assert_equal(found[key(name, "a", "b")], expected)


@pytest.mark.parametrize("pair", [*PAIRS, ("strings", "floats")], ids="-".join)
@pytest.mark.parametrize("name", OF_GROUPS)
def test_a_grouping_of_two_columns_equals_its_reference(name: str, pair: tuple[str, str]) -> None:
    left, right = (column(each) for each in pair)
    found = analyze(pa.table({"a": left, "b": right}), [key(name, "a", "b")])
    sizes = rows_in_groups([Values(left.to_pylist()), Values(right.to_pylist())])
    assert_equal(found[key(name, "a", "b")], OF_GROUPS[name](sizes))


@pytest.mark.parametrize("data", MAKERS)
def test_the_size_is_the_number_of_rows(data: str) -> None:
    assert analyze(pa.table({"x": column(data)}), ["size()"]).value("size()") == len(column(data))


def test_compliance_is_the_share_of_rows_for_which_the_predicate_is_true() -> None:
    left, right = column("integers").to_pylist(), column("strings").to_pylist()
    table = pa.table({"n": column("integers"), "s": column("strings")})
    met = [
        (number is not None and number > 3) or (text is not None and text.startswith("a"))
        for number, text in zip(left, right, strict=True)
    ]
    found = analyze(table, ["compliance(predicate=\"n > 3 or s like 'a%'\")"])
    assert next(iter(found.values())) == Measured(sum(met) / ROWS)


def test_a_filter_leaves_the_rows_for_which_it_is_true() -> None:
    numbers, texts = column("floats").to_pylist(), column("strings").to_pylist()
    kept = Values([number for number, text in zip(numbers, texts, strict=True) if text is not None and text > "b"])
    asked = [MetricKey(name, ("x",), where="s > 'b'") for name in ("mean", "completeness", "median")]
    found = analyze(pa.table({"x": column("floats"), "s": column("strings")}), asked)
    for each, outcome in found.items():
        assert_equal(outcome, OF_COLUMNS[each.name](kept))


@pytest.mark.parametrize("q", [0.0, 0.01, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("data", ["integers", "floats", "dates"])
def test_a_quantile_is_the_least_value_whose_rank_reaches_it(data: str, q: float) -> None:
    found = Values(column(data).to_pylist()).numbers
    wanted = MetricKey("approx_quantile", ("x",), (("q", q),))
    value = analyze(pa.table({"x": column(data)}), [wanted]).value(wanted)
    assert value == np.quantile(found, q, method="inverted_cdf")


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 100])
def test_a_histogram_has_the_bins_of_numpy(bins: int) -> None:
    found = Values(column("integers").to_pylist()).numbers
    wanted = MetricKey("histogram", ("x",), (("bins", bins),))
    value = analyze(pa.table({"x": column("integers")}), [wanted]).value(wanted)
    assert isinstance(value, Distribution)
    assert list(value.counts.values()) == np.histogram(found, bins)[0].tolist()


def test_every_metric_is_named_by_a_test_of_this_folder() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert [name for name in metrics() if f'"{name}"' not in written and f"{name}(" not in written] == []


def test_the_reference_reads_a_zoned_timestamp_as_an_instant() -> None:
    assert Values([datetime(1970, 1, 2, tzinfo=UTC)]).numbers.tolist() == [86_400.0]
