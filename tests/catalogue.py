"""Catalogues B (bad input) and N (numbers) of TRUST.md on both engines, as one table: `python -m tests.catalogue`.

A case passes if the batch gives the right metric, or an outcome of its own type for what it cannot give: never an
exception, never NaN or an infinity as a value.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.display.table import Table
from headgate.engine.local import open_local
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import default_metrics
from headgate.values.expectation import Expectation, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Undefined
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.verdict import judge

ROOT = Path(__file__).resolve().parents[1]
LATER = [("B", "one-run and zero-variance history", "comes with the issue on history")]

Key = str | Metric[Any] | MetricKey


class Local:
    """The engine without a JVM."""

    name = "local"
    spark: Any = None

    def batch(self, table: pa.Table) -> Any:
        return table

    def defaults(self, batch: Any) -> list[Metric[Any]]:
        """What is measured when nothing is asked for."""
        opened = open_local(batch)
        assert opened is not None
        return default_metrics(opened.schema)


class Spark:
    """A classic session."""

    name = "spark"

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def batch(self, table: pa.Table) -> Any:
        """The table as a frame; its names come last, because Spark would not take them all from Arrow."""
        plain = table.rename_columns([f"c{at}" for at in range(table.num_columns)])
        return self.spark.createDataFrame(plain).toDF(*table.column_names)

    def defaults(self, batch: Any) -> list[Metric[Any]]:
        from headgate.engine.spark_frame import open_spark

        return default_metrics(open_spark(batch))


Engine = Local | Spark


class Case(NamedTuple):
    """One line of the catalogue; `run` says in words what it got, or raises an AssertionError."""

    part: str
    name: str
    run: Callable[[Engine], str]
    engines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.part} {self.name}"


CASES: list[Case] = []


def case(part: str, name: str, *engines: str) -> Callable[[Callable[[Engine], str]], Callable[[Engine], str]]:
    def keep(run: Callable[[Engine], str]) -> Callable[[Engine], str]:
        CASES.append(Case(part, name, run, engines or ("local", "spark")))
        return run

    return keep


def analyzed(batch: Any, metrics: list[Any] | None = None) -> hg.Analysis:
    """The analysis, after what must hold of every one: real numbers only, and it prints, stores and loads."""
    analysis = hg.analyze(batch, metrics)
    for key, outcome in analysis.items():
        for number in numbers(outcome):
            may_be_infinite = key.name in ("min", "max", "range")  # where the data are
            assert math.isfinite(number) or (may_be_infinite and math.isinf(number)), f"{key} is {number}"
    assert repr(analysis)
    assert analysis._repr_html_()
    assert hg.Analysis.from_bytes(analysis.to_bytes()).outcomes == analysis.outcomes
    return analysis


def numbers(outcome: Any) -> Iterator[float]:
    match outcome:
        case Measured(Distribution() as found):
            yield from (*found.counts.values(), found.total, found.error)
        case Measured(value):
            yield value


def expect(analysis: hg.Analysis, **wanted: float) -> None:
    """`metric__column=value`, for columns with plain names."""
    for name, value in wanted.items():
        metric, _, column = name.partition("__")
        found = analysis.value(f"{metric}({column})")
        assert found == value, f"{metric}({column}) is {found}, not {value}"


def no_failures(analysis: hg.Analysis) -> None:
    failed = {str(key)[:80]: outcome.why for key, outcome in analysis.items() if isinstance(outcome, Failed)}
    assert not failed, failed


# --- B: names

NAMES = {
    "dots in a name": "a.b.c",
    "backticks in a name": "`back``tick",
    "quotes in a name": 'it\'s "quoted"',
    "newlines in a name": "two\nlines\t",
    "emoji in a name": "🚰💧",
    "an empty name": "",
    "a name of 5,000 characters": "x" * 5_000,
    "a backslash, a comma and a bracket in a name": "a\\b, c(d)=e",
}


@cache
def oddly_named(engine: Engine) -> hg.Analysis:
    """One table with all odd names; the column at place i holds i and i + 2."""
    names = [*NAMES.values(), "a", "a", "A"]
    table = pa.Table.from_arrays([pa.array([at, at + 2]) for at in range(len(names))], names=names)
    quoted = [f"`{name.replace('`', '``')}`" for name in NAMES.values()]
    asked = [hg.Compliance(f"{name} > {at}") for at, name in enumerate(quoted) if name not in ("``",)]
    batch = engine.batch(table)
    return analyzed(batch, [*engine.defaults(batch), *asked])


def _named(place: int, name: str) -> Callable[[Engine], str]:
    def run(engine: Engine) -> str:
        analysis = oddly_named(engine)
        assert analysis.value(hg.Mean(name)) == place + 1
        assert MetricKey.parse(str(hg.Mean(name).key)) == hg.Mean(name).key
        if name:
            quoted = name.replace("`", "``")
            assert analysis.value(hg.Compliance(f"`{quoted}` > {place}")) == 0.5
        return "its metrics" + (", and predicates on it" if name else "")

    return run


for _place, (_title, _name) in enumerate(NAMES.items()):
    case("B", _title)(_named(_place, _name))


def _doubled(labels: tuple[str, str], places: tuple[int, int]) -> Callable[[Engine], str]:
    def run(engine: Engine) -> str:
        analysis = oddly_named(engine)
        assert [analysis.value(hg.Mean(label)) for label in labels] == [place + 1 for place in places]
        return f"the metrics of both, as {labels[0]} and {labels[1]}"

    return run


case("B", "two columns of one name")(_doubled(("a", "a#2"), (len(NAMES), len(NAMES) + 1)))
case("B", "two names that differ in case")(_doubled(("a", "A"), (len(NAMES), len(NAMES) + 2)))


# --- B: nothing there


@case("B", "a table without rows")
def no_rows(engine: Engine) -> str:
    kinds = {"n": pa.int64(), "x": pa.float64(), "s": pa.string(), "d": pa.date32(), "b": pa.binary()}
    schema = pa.schema(list(kinds.items()))
    batch = engine.batch(schema.empty_table())
    analysis = analyzed(
        batch, [*engine.defaults(batch), "uniqueness(n, s)", "mutual_information(n, s)", "correlation(n, x)"]
    )
    no_failures(analysis)
    expect(analysis, size=0.0)
    assert all(isinstance(outcome, Undefined) for key, outcome in analysis.items() if key.name not in ZERO_WHEN_EMPTY)
    return "size 0, the rest undefined or 0"


ZERO_WHEN_EMPTY = {"size", "approx_count_distinct", "count_distinct", "dist_val_count", "sum"}


@case("B", "a table without rows or columns")
def no_columns(engine: Engine) -> str:
    table = pa.table({"n": [1]}).slice(0, 0).select([])
    analysis = analyzed(engine.spark.range(0).select() if engine.spark else table)
    assert {str(key): analysis.value(key) for key in analysis} == {"size()": 0.0}
    return "size 0"


@case("B", "rows without columns")
def rows_without_columns(engine: Engine) -> str:
    analysis = analyzed(engine.spark.range(3).select() if engine.spark else pa.table({"n": [1, 2, 3]}).select([]))
    expect(analysis, size=3.0)
    return "size 3"


@case("B", "columns of nulls only")
def all_null(engine: Engine) -> str:
    kinds = {"n": pa.int64(), "x": pa.float64(), "s": pa.string(), "t": pa.timestamp("us"), "d": pa.decimal128(38, 18)}
    batch = engine.batch(pa.table({name: pa.nulls(5, kind) for name, kind in kinds.items()}))
    analysis = analyzed(batch, [*engine.defaults(batch), "uniqueness(n)", "uniqueness(n, s)", "entropy(s)"])
    no_failures(analysis)
    expect(analysis, size=5.0, **{f"completeness__{name}": 0.0 for name in kinds})
    assert all(isinstance(analysis[f"mean({name})"], Undefined) for name in ("n", "x", "d"))
    return "completeness 0, mean undefined"


# --- B: numbers


@case("B", "NaN, infinities and -0.0")
def not_numbers(engine: Engine) -> str:
    nan, inf = float("nan"), float("inf")
    values = [1.0, 3.0, nan, nan, inf, -inf, -0.0, 0.0, None, -nan]
    analysis = analyzed(engine.batch(pa.table({"x": pa.array(values), "only": pa.array([nan] * 10)})))
    no_failures(analysis)
    expect(analysis, mean__x=1.0, min__x=-inf, max__x=inf, completeness__x=0.9, finiteness__x=4 / 9)
    distribution = analysis.value("value_distribution(x)")
    assert isinstance(distribution, Distribution)
    assert distribution.counts == {"nan": 3, "0.0": 2, "-inf": 1, "1.0": 1, "3.0": 1, "inf": 1}
    assert round(analysis.value("approx_count_distinct(x)")) == 6  # type: ignore[arg-type]
    assert isinstance(analysis["mean(only)"], Undefined)
    return "mean 1 of the finite, max infinite, finiteness 4/9, 6 distinct"


@case("B", "a sum of bigints past 2^63")
def bigint_overflow(engine: Engine) -> str:
    top = 2**63 - 1
    batch = engine.batch(pa.table({"n": [top, top, top, -1], "low": [-(2**63)] * 4}))
    analysis = analyzed(
        batch, [*engine.defaults(batch), "sum(n)", "sum(low)", "uniqueness(n)", "variance(n)", "correlation(n, low)"]
    )
    no_failures(analysis)
    expect(analysis, sum__n=3.0 * 2**63, sum__low=-4.0 * 2**63, max__n=2.0**63, uniqueness__n=0.25)
    return "sum 2.767e19, no overflow"


@case("B", "a sum of decimal(38,18) past its precision")
def decimal_overflow(engine: Engine) -> str:
    top = Decimal("99999999999999999999.999999999999999999")
    least = Decimal("1e-18")
    batch = engine.batch(pa.table({"d": pa.array([top, top, -least, least], pa.decimal128(38, 18))}))
    analysis = analyzed(batch, [*engine.defaults(batch), "sum(d)", "count_distinct(d)"])
    no_failures(analysis)
    expect(analysis, sum__d=2e20, max__d=1e20, min__d=-1e-18, count_distinct__d=3.0)
    return "sum 2e20, 3 distinct"


@case("B", "doubles whose sum and squares overflow")
def double_overflow(engine: Engine) -> str:
    batch = engine.batch(pa.table({"x": [1.7e308, 1.7e308, -1.7e308]}))
    analysis = analyzed(batch, ["max(x)", "sum(x)", "mean(x)", "variance(x)", "stddev(x)", "range(x)", "skewness(x)"])
    no_failures(analysis)
    expect(analysis, max__x=1.7e308)
    undefined = [key.name for key, outcome in analysis.items() if isinstance(outcome, Undefined)]
    assert {"variance", "range"} <= set(undefined)
    return f"max; undefined: {', '.join(undefined)}"


# --- B: text and bytes


@case("B", "strings of 10 MB")
def long_strings(engine: Engine) -> str:
    length = 10 << 20
    texts = ["ab" * (length // 2), "é" * (length // 2), "ab" * (length // 2), "short"]
    if engine.spark:
        half = length // 2
        rows = f"repeat('ab', {half}), repeat('é', {half}), repeat('ab', {half}), 'short'"
        batch = engine.spark.sql(f"select explode(array({rows})) as s")
    else:
        batch = pa.table({"s": texts})
    analysis = analyzed(batch, [*engine.defaults(batch), "max_length(s)", "uniqueness(s)", "index_of_peculiarity(s)"])
    no_failures(analysis)
    expect(analysis, max_length__s=length, uniqueness__s=0.5, str_len__s=(2 * length + length // 2 + 5) / 4)
    assert len(analysis.to_bytes()) < 100_000
    return f"max_length {length:,}, stored in {len(analysis.to_bytes()):,} bytes"


@case("B", "bytes that are not UTF-8")
def invalid_utf8(engine: Engine) -> str:
    raw = [b"ok", b"\xff\xfe\x80", b"a\xc3", b"\xed\xa0\x80", None]
    if engine.spark:
        rows = ", ".join("null" if each is None else f"cast(x'{each.hex()}' as string)" for each in raw)
        batch = engine.spark.sql(f"select explode(array({rows})) as s")
    else:
        plain = pa.array(raw, pa.binary())
        batch = pa.table({"s": pa.Array.from_buffers(pa.string(), len(plain), plain.buffers())})
    asked = [
        "completeness(s)",
        "uniqueness(s)",
        "value_distribution(s)",
        'pattern_match(s, pattern="^ok$")',
        "data_type(s)",
    ]
    analysis = analyzed(batch, [*engine.defaults(batch), *asked, "index_of_peculiarity(s)", "max_length(s)"])
    no_failures(analysis)
    expect(analysis, completeness__s=0.8, uniqueness__s=1.0)
    found = analysis.value("value_distribution(s)")
    assert isinstance(found, Distribution)
    assert found.counts == {"ok": 1, "\\xff\\xfe\\x80": 1, "a\\xc3": 1, "\\xed\\xa0\\x80": 1}
    return "4 distinct values, their bytes shown escaped"


# --- B: types


@case("B", "timestamps and dates out of range")
def out_of_range_times(engine: Engine) -> str:
    ends = [2**63 - 1, -(2**63) + 1, 253_402_300_800_000_000, -62_135_596_800_000_001, 0]  # the years 10000 and 0
    days = [2**31 - 1, -(2**31), 2_932_897, -719_163, 0]
    if engine.spark:
        moments = ", ".join(f"timestamp_micros({each})" for each in ends)
        dates = ", ".join(f"date_from_unix_date({each})" for each in days)
        zipped = engine.spark.sql(f"select inline(arrays_zip(array({moments}), array({dates})))").toDF("t", "d")
        batch = zipped.selectExpr("t", "d", "cast(null as timestamp_ntz) as w")
    else:
        moments = pa.array(ends).view(pa.timestamp("us"))
        batch = pa.table(
            {"t": moments, "d": pa.array(days, pa.int32()).view(pa.date32()), "w": pa.nulls(5, moments.type)}
        )
    analysis = analyzed(batch, [*engine.defaults(batch), "uniqueness(t)", "uniqueness(d)"])
    no_failures(analysis)
    expect(analysis, max__t=ends[0] / 1e6, min__t=ends[1] / 1e6, max__d=days[0] * 86_400.0, min__d=days[1] * 86_400.0)
    expect(analysis, uniqueness__t=1.0, uniqueness__d=1.0)
    for column in ("t", "d"):
        found = analysis.value(f"value_distribution({column})")
        assert isinstance(found, Distribution)
        assert len(found.counts) == 5, found.counts
    return "min and max in seconds, 5 distinct values"


def _only_presence(analysis: hg.Analysis, *columns: str) -> None:
    """Of an exotic type: how complete it is, and a failure with its reason for everything else."""
    no_failures(analysis)
    for column in columns:
        assert [key.name for key in analysis if key.columns == (column,)] == ["completeness"]
        assert analysis.value(f"completeness({column})") == 0.5, column


@case("B", "nested columns")
def nested(engine: Engine) -> str:
    columns = {
        "many": pa.array([[1, None], None], pa.list_(pa.int32())),
        "pair": pa.array([{"x": None}, None], pa.struct([("x", pa.int64())])),
        "by_name": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "deep": pa.array([[{"x": [1]}], None], pa.list_(pa.struct([("x", pa.list_(pa.int32()))]))),
    }
    batch = engine.batch(pa.table(columns))
    _only_presence(analyzed(batch), *columns)
    refused = analyzed(batch, ["mean(many)", "uniqueness(pair)", "completeness(deep)"])
    assert isinstance(refused["mean(many)"], Failed)
    assert isinstance(refused["uniqueness(pair)"], Failed)
    expect(refused, completeness__deep=0.5)
    return "completeness; mean and uniqueness fail with the reason"


@case("B", "a binary column")
def binary(engine: Engine) -> str:
    batch = engine.batch(pa.table({"b": pa.array([b"\x00\xff", b"", None, b"\x00\xff"], pa.binary())}))
    analysis = analyzed(batch, [*engine.defaults(batch), "max_length(b)", "uniqueness(b)", "mean(b)"])
    expect(analysis, completeness__b=0.75, max_length__b=2.0, uniqueness__b=1 / 3)
    assert isinstance(analysis["mean(b)"], Failed)
    return "completeness, lengths, distinct values; mean fails with the reason"


@case("B", "interval columns")
def intervals(engine: Engine) -> str:
    if engine.spark:
        batch = engine.spark.sql(
            "select if(id = 0, interval '1' day, null) as span, if(id = 0, interval '1' month, null) as months,"
            " if(id = 0, make_interval(1, 2, 3), null) as both from range(2)"
        )
        columns = ("span", "months", "both")
    else:
        both = pa.array([pa.MonthDayNano([1, 2, 3]), None], pa.month_day_nano_interval())
        batch = pa.table({"span": pa.array([5, None], pa.duration("us")), "both": both})
        columns = ("span", "both")
    _only_presence(analyzed(batch), *columns)
    return "completeness"


@case("B", "time columns")
def times(engine: Engine) -> str:
    if engine.spark:
        engine.spark.conf.set("spark.sql.timeType.enabled", "true")
        batch = engine.spark.sql("select if(id = 0, time'12:30:00', null) as t from range(2)")
    else:
        batch = pa.table({"t": pa.array([5, None], pa.time64("us"))})
    try:
        _only_presence(analyzed(batch), "t")
    finally:
        if engine.spark:
            engine.spark.conf.unset("spark.sql.timeType.enabled")
    return "completeness"


@case("B", "a void column")
def void(engine: Engine) -> str:
    batch = engine.spark.sql("select null as v from range(2)") if engine.spark else pa.table({"v": pa.nulls(2)})
    analysis = analyzed(batch)
    expect(analysis, completeness__v=0.0, size=2.0)
    return "completeness 0"


@case("B", "a variant column", "spark")
def variant(engine: Engine) -> str:
    batch = engine.spark.sql("select if(id = 0, parse_json('{\"a\": [1]}'), null) as v from range(2)")
    _only_presence(analyzed(batch), "v")
    return "completeness"


@case("B", "a string with a collation", "spark")
def collated(engine: Engine) -> str:
    batch = engine.spark.sql("select explode(array('a', 'A', null)) as s").selectExpr("s collate UTF8_LCASE as s")
    analysis = analyzed(batch, ["uniqueness(s)", "max_length(s)", "completeness(s)"])
    no_failures(analysis)
    expect(analysis, max_length__s=1.0, uniqueness__s=0.0)
    return "its metrics, with values that are equal as its collation compares them"


# --- N

PARTS = 16


def _far_from_zero(rows: int = 200_000) -> np.ndarray[Any, np.dtype[np.float64]]:
    return 1e9 + np.random.default_rng(7).random(rows)


@case("N", "the variance of 1e9 + U(0, 1), in one scan")
def variance(engine: Engine) -> str:
    return _variance_error(analyzed(engine.batch(pa.table({"x": _far_from_zero()})), ["variance(x)"]))


@case("N", f"the variance of 1e9 + U(0, 1), merged from {PARTS} parts")
def merged_variance(engine: Engine) -> str:
    values = _far_from_zero()
    if engine.spark:
        frame = engine.batch(pa.table({"x": values})).repartition(PARTS)
        return _variance_error(analyzed(frame, ["variance(x)"]))
    parts = [hg.analyze(pa.table({"x": part}), ["variance(x)"]) for part in np.array_split(values, PARTS)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    return _variance_error(merged)


def _variance_error(analysis: hg.Analysis) -> str:
    exact = float(np.var(_far_from_zero() - 1e9))
    found = analysis.value("variance(x)")
    assert isinstance(found, float)
    error = abs(found / exact - 1)
    assert error <= 1e-7, f"off by {error:.1e}"
    return f"off by {error:.0e} of itself, allowed 1e-07"


@case("N", "decisions under a change of one ulp in every value")
def one_ulp(engine: Engine) -> str:
    random = np.random.default_rng(11)
    values = 100 + random.lognormal(size=2_000)
    nudged = np.nextafter(values, np.where(random.random(len(values)) < 0.5, -np.inf, np.inf))
    assert (values != nudged).all()
    expectations = [Expectation(MetricKey.parse(key), predicate) for key, predicate in EXPECTED.items()]
    verdicts = [
        judge(expectations, analyzed(engine.batch(pa.table({"x": each})), list(EXPECTED))) for each in (values, nudged)
    ]
    decisions = [[judgement.status for judgement in verdict.judgements] for verdict in verdicts]
    assert decisions[0] == decisions[1], decisions
    assert {*decisions[0]} == {Status.PASS, Status.FAIL}
    return f"{len(expectations)} decisions, {decisions[0].count(Status.FAIL)} of them failures, all the same"


EXPECTED: dict[str, Predicate] = {
    "size()": OneOf((2_000.0,)),
    "completeness(x)": OneOf((1.0,)),
    "finiteness(x)": OneOf((1.0,)),
    "uniqueness(x)": OneOf((1.0,)),
    "mean(x)": Between(101, 102),
    "min(x)": Between(low=100),
    "max(x)": Between(high=110),
    "range(x)": Between(5, 100),
    "stddev(x)": Between(high=1.5),
    "variance(x)": Between(1, 10),
    "skewness(x)": Between(low=0),
    "kurtosis(x)": Between(low=0),
    "median(x)": Between(100.9, 101.1),
    "approx_count_distinct(x)": Between(1_900, 2_100),
}


# --- the table


def attempted(each: Case, engine: Engine) -> tuple[str, str]:
    """What the case got, and pass or FAIL; whatever it raises is a failure of the case, not of the table."""
    try:
        return each.run(engine), "pass"
    except Exception as trouble:
        return f"{type(trouble).__name__}: {str(trouble).strip()[:300]}", "FAIL"


def session() -> Any:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .appName("headgate-catalogue")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def main() -> int:
    spark = session()
    engines: list[Engine] = [Local(), Spark(spark)]
    rows = []
    for each in CASES:
        for engine in engines:
            if engine.name in each.engines:
                rows.append((each.part, each.name, engine.name, *attempted(each, engine)))
    spark.stop()
    rows += [(part, name, "", what, "later") for part, name, what in LATER]
    print(Table(("", "case", "engine", "what it got", ""), tuple(rows)).text(widest=90))
    failed = sum(row[-1] == "FAIL" for row in rows)
    print(f"\n{len(rows)} lines, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
