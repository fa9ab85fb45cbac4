"""Checks on Spark, classic and Connect: the verdict and the rows of the local engine, in as few jobs as can be."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.engine.spark_rows import java_regex
from headgate.values.expectation import Status
from tests.checks.cases import DATASET, NOW, past, segmented_cases, table, tables, whole_cases
from tests.spark.conftest import ROOT, CountJobs

WAYS = ("classic", "connect")
both_ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(scope="module")
def sessions(spark: SparkSession, connect: Any) -> dict[str, Any]:
    return {"classic": spark, "connect": connect}


@pytest.fixture(scope="module")
def frames(sessions: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`frames(way, table)`: an Arrow table as a DataFrame, through a file that every engine reads for itself."""
    folder = Path(tmp_path_factory.mktemp("verify"))
    written: dict[int, pa.Table] = {}  # keeps the tables: the id of one that is gone may be that of another

    def read(way: str, rows: pa.Table) -> Any:
        path = folder / f"{id(rows)}.parquet"
        if id(rows) not in written:
            pq.write_table(rows, path)
            written[id(rows)] = rows
        return sessions[way].read.parquet(str(path))

    return read


# --- verdicts


def every_check() -> list[hg.Check]:
    """One for each case of the whole table and of its segments, named by its place."""
    cases = [*whole_cases(), *(case for case, _ in segmented_cases())]
    return [case.added_to(hg.Check(str(at))) for at, case in enumerate(cases)]


@cache
def local() -> hg.Verification:
    return hg.verify(
        table(), every_check(), tables=tables(), store=past(), dataset=DATASET, partition="2026-02-28", now=NOW
    )


@pytest.fixture(scope="module")
def verdicts(frames: Any) -> dict[str, hg.Verification]:
    found = {}
    for way in WAYS:
        others = {name: frames(way, each) for name, each in tables().items()}
        found[way] = hg.verify(
            frames(way, table()),
            every_check(),
            tables=others,
            store=past(),
            dataset=DATASET,
            partition="2026-02-28",
            now=NOW,
        )
    return found


@both_ways
@pytest.mark.parametrize("at", range(len(every_check())))
def test_every_rule_is_judged_as_on_the_local_engine(verdicts: dict[str, hg.Verification], way: str, at: int) -> None:
    mine, theirs = local().checks[str(at)].judgements, verdicts[way].checks[str(at)].judgements
    assert [(each.status, each.segment) for each in theirs] == [(each.status, each.segment) for each in mine], [
        each.reason for each in theirs
    ]
    within = whole_cases()[at].within if at < len(whole_cases()) else 1e-9
    for one, two in zip(mine, theirs, strict=True):
        wanted = None if one.value is None else pytest.approx(one.value, abs=2 * within, rel=1e-9)
        assert two.value == wanted


def test_classic_and_connect_say_the_same(verdicts: dict[str, hg.Verification]) -> None:
    one, two = (
        [
            (each["rule"], each["status"], each["segment"], each["value"])
            for each in verdicts[way].to_dict()["judgements"]
        ]
        for way in WAYS
    )
    for mine, theirs in zip(one, two, strict=True):
        assert mine[:-1] == theirs[:-1]
        assert mine[-1] == (None if theirs[-1] is None else pytest.approx(theirs[-1], rel=1e-9))


# --- rows


def told(row: dict[str, Any], key: str) -> Counter[tuple[Any, ...]]:
    reasons = row["headgate_reasons"]
    names = ("rule", "level", "columns", "message", "value")
    return Counter((row[key], *(each[name] for name in names)) for each in reasons)


def local_rows(verdict: hg.Verification, rows: pa.Table, key: str) -> Counter[tuple[Any, ...]]:
    return sum((told(row, key) for row in verdict.rows(rows).to_pylist()), Counter())


def spark_rows(frame: Any, key: str) -> Counter[tuple[Any, ...]]:
    found = frame.select(f"`{key}`", "headgate_reasons").collect()
    return sum((told(row.asDict(recursive=True), key) for row in found), Counter())


def apart(one: Counter[Any], two: Counter[Any]) -> tuple[list[Any], list[Any]]:
    """What only one of them has, a few of each."""
    return sorted((one - two), key=str)[:12], sorted((two - one), key=str)[:12]


@both_ways
@pytest.mark.parametrize("count", [1, 8, 9, 60])
def test_few_and_many_reasons_of_a_row_are_told_alike(way: str, count: int, frames: Any) -> None:
    rows = pa.table({"id": [1, 2, 3], "price": [0.5, 40.5, None]})
    check = hg.Check("orders")
    for low in range(1, count + 1):
        check = check.is_in_range("price", low=low)
    frame = frames(way, rows)
    found = hg.verify(frame, check).rows(frame)
    assert spark_rows(found, "id") == local_rows(hg.verify(rows, check), rows, "id")
    assert len(found.first()["headgate_reasons"]) == count
    assert found.schema == hg.verify(frame, hg.Check("one").is_complete("price")).rows(frame).schema


MOMENT = datetime(2026, 1, 1, 6, 30, 0, 123457, tzinfo=UTC)
ROWS = pa.table(
    {
        "row": list(range(12)),
        "id": [1, 2, 2, 3, None, None, 4, 5, 5, 5, 6, 7],
        "region": ["EU", "EU", "US", "US", "EU", "US", "EU", "US", "US", None, None, "EU"],
        "price": [1.0, -2.0, 3.5, None, 50.0, float("nan"), 7.0, float("inf"), -0.5, 10.0, 1e-5, -1e20],
        "single": pa.array([at / 10 for at in range(12)], pa.float32()),
        "amount": pa.array([Decimal(at) / 4 for at in range(12)], pa.decimal128(6, 2)),
        "flag": [at % 2 == 0 for at in range(12)],
        "day": [None if at == 3 else date(2026, 1, 1) + timedelta(days=at) for at in range(12)],
        "at": pa.array([MOMENT + timedelta(microseconds=at - 5) for at in range(12)], pa.timestamp("us", "UTC")),
        "ntz": pa.array([MOMENT.replace(tzinfo=None) + timedelta(hours=at) for at in range(12)], pa.timestamp("us")),
        "code": ["A-1", "B-22", "", "a-1", None, "A-1\n", "xA-1x", "Ω-1", "A-1", "C", "D-4", "E-5"],
        "raw": pa.array([None if at == 4 else b"\xff" * at for at in range(12)], pa.binary()),
        "parent": [1, 2, 99, None, 1, 98, 2, 3, 1, 2, 3, 99],
    }
)
PARENTS = pa.table({"parent": pa.array([1, 2, 3], pa.int64()), "region": ["EU", "US", "EU"]})


def row_rules() -> dict[str, hg.Check]:
    """Every kind of rule that rows can break, apart, so that one that is told otherwise is seen."""
    new = hg.Check
    return {
        "complete": new("x").is_complete("price").are_complete("id", "region").is_complete("id", where="region = 'US'"),
        "unique": new("x").is_unique("id").is_unique("id", "region").is_unique("id", where="region = 'US'"),
        "unique by": new("x").is_unique("id", by="region"),
        "duplicate rows": new("x").has_no_duplicate_rows(columns=["id", "region"]),
        "set": new("x").is_contained_in("region", ["EU"]).is_contained_in("day", [date(2026, 1, 1)]),
        "range of floats": new("x").is_in_range("price", 0, 60),
        "range of days": new("x").is_in_range("day", low=date(2026, 1, 3)).has_min("day", at_least=date(2026, 1, 3)),
        "pattern": new("x").has_pattern("code", r"^[A-Z]-\d+$").has_pattern("code", "A-1"),
        "least float": new("x").has_min("price", at_least=0),
        "largest float": new("x").has_max("price", at_most=9.5),
        "largest single": new("x").has_max("single", at_most=0.7),
        "largest decimal": new("x").has_max("amount", at_most=Decimal("2.25")),
        "largest integer": new("x").has_max("row", at_most=7.5),
        "least moment": new("x").has_min("at", at_least=MOMENT),
        "largest moment": new("x").has_max("at", at_most=MOMENT),
        "moment without zone": new("x").has_max("ntz", at_most=MOMENT + timedelta(hours=5)),
        "lengths": new("x").has_max_length("code", at_most=3).has_min_length("code", at_least=1),
        "finite": new("x").has_finiteness("price", equals=1),
        "foreign key": new("x").is_contained_in_table("parent", table="parents"),
        "foreign keys": new("x").is_contained_in_table("parent", "region", table="parents"),
        "predicates": new("x").satisfies("price > 5 OR region = 'US'").satisfies_if("region = 'EU'", "price > 5"),
        "order": new("x").is_less_than("amount", "row"),
        "flags": new("x").satisfies("flag"),
        "segments": new("x").is_in_range("row", 9, by="region").is_complete("id", by=["region", "flag"]),
        "segments of days": new("x").is_in_range("row", 9, by="day"),
        "levels": new("x").is_complete("id", level="warn").is_complete("region"),
    }


class Blamed(NamedTuple):
    """The rows of one engine: what each is told, and which of them split leaves good."""

    told: Counter[tuple[Any, ...]]
    good: list[int]


@cache
def blamed_here() -> Blamed:
    verdict = hg.verify(ROWS, list(row_rules().values()), tables={"parents": PARENTS})
    assert verdict.errors == ()
    return Blamed(local_rows(verdict, ROWS, "row"), verdict.split(ROWS)[0].column("row").to_pylist())


@pytest.fixture(scope="module")
def blamed_there(frames: Any) -> dict[str, Blamed]:
    found = {}
    for way in WAYS:
        frame = frames(way, ROWS)
        verdict = hg.verify(frame, list(row_rules().values()), tables={"parents": frames(way, PARENTS)})
        assert verdict.errors == ()
        good, bad = verdict.split(frame)
        assert (good.columns, bad.columns) == (frame.columns, [*frame.columns, "headgate_reasons"])
        left = sorted(row.row for row in good.select("row").collect())
        found[way] = Blamed(spark_rows(verdict.rows(frame), "row"), left)
    return found


@cache
def rules_of(name: str) -> frozenset[str]:
    failed = hg.verify(ROWS, row_rules()[name], tables={"parents": PARENTS}).failures
    return frozenset(each.expectation.rule or str(each.expectation) for each in failed)


def of_kind(found: Blamed, name: str) -> Counter[tuple[Any, ...]]:
    return Counter({each: count for each, count in found.told.items() if each[1] in rules_of(name)})


@both_ways
@pytest.mark.parametrize("name", row_rules())
def test_rows_and_rules_are_those_of_the_local_engine(blamed_there: dict[str, Blamed], way: str, name: str) -> None:
    mine, theirs = (
        Counter(each[:-1] for each in of_kind(found, name).elements()) for found in (blamed_here(), blamed_there[way])
    )
    assert mine
    assert apart(mine, theirs) == ([], [])


@both_ways
@pytest.mark.parametrize("name", row_rules())
def test_values_are_shown_as_on_the_local_engine(blamed_there: dict[str, Blamed], way: str, name: str) -> None:
    mine, theirs = (
        Counter((*each[:-1], as_meant(each[-1])) for each in of_kind(found, name).elements())
        for found in (blamed_here(), blamed_there[way])
    )
    assert apart(mine, theirs) == ([], [])


def as_meant(text: str | None) -> Any:
    """A value that was shown: 1e+20 and 1.0E20 are one number, a moment in two zones is one moment."""
    for read in (float, lambda each: datetime.fromisoformat(each).astimezone(UTC)):
        try:
            value = read(text)
        except (TypeError, ValueError):
            continue
        return str(value)
    if text is not None and "=" in text:
        return tuple(as_meant(part.partition("=")[2]) for part in text.split(", "))
    return text


@both_ways
def test_good_rows_are_those_of_the_local_engine(blamed_there: dict[str, Blamed], way: str) -> None:
    assert blamed_there[way].good == blamed_here().good


@both_ways
def test_a_moment_that_a_rule_names_is_in_utc_whatever_the_session_says(frames: Any, way: str) -> None:
    rules = hg.Check("x").is_in_range("at", high=MOMENT).is_in_range("ntz", high=MOMENT + timedelta(hours=5))
    rules = rules.is_in_range("at", high=MOMENT.replace(tzinfo=None))
    rules = rules.is_in_range("ntz", high=MOMENT.replace(tzinfo=None) + timedelta(hours=5))
    found = hg.verify(frames(way, ROWS), rules)
    assert [each.value for each in found.judgements] == pytest.approx([0.5] * 4), found.explain()


@both_ways
@pytest.mark.parametrize("predicate", ["nested.x > 1", "exists(many, each -> each > 1)", "id > 1 -- a note", "ID > 1"])
def test_rows_that_break_any_predicate_of_sparks_are_found(sessions: dict[str, Any], way: str, predicate: str) -> None:
    frame = sessions[way].range(4).selectExpr("id", "named_struct('x', id) AS nested", "array(id) AS many")
    verdict = hg.verify(frame, hg.Check("x").satisfies(predicate))
    assert [each.value for each in verdict.judgements] == [0.5], verdict.explain()
    assert sorted(row.id for row in verdict.rows(frame).collect()) == [0, 1]


@both_ways
def test_columns_that_are_named_as_ours_do_no_harm(sessions: dict[str, Any], way: str) -> None:
    frame = sessions[way].range(4).selectExpr("id", "id % 2 AS __headgate0", "'mine' AS headgate_reason")
    verdict = hg.verify(frame, hg.Check("x").is_unique("__headgate0"))
    assert [each.status for each in verdict.judgements] == [Status.FAIL]
    found = verdict.rows(frame)
    assert found.columns == [*frame.columns, "headgate_reasons"]
    assert sorted(row.id for row in found.collect()) == [0, 1, 2, 3]


HOSTILE = [
    "dot.ted",
    "`tick`",
    "a``b",
    "it's",
    'say "x"',
    "a b",
    "emoji 🙂",
    "new\nline",
    "back\\slash",
    "--",
    "é",
]


@both_ways
def test_any_name_of_a_column_can_be_blamed(frames: Any, sessions: dict[str, Any], way: str) -> None:
    values = {name: pa.array(["a", "a", f"long {at}", None]) for at, name in enumerate(HOSTILE)}
    rows = pa.table({"row": range(4), **values, "other": ["b", "b", "a", "b"], "number": [1, 2, 3, None]})
    known = pa.table({"u": ["a"]})
    frame = frames(way, rows)
    rules = hg.Check("x")
    for name in HOSTILE:
        rules = rules.is_complete(name).is_unique(name, at_least=0.9).are_complete(name, "other")
        rules = rules.has_pattern(name, "^a$").is_contained_in(name, ["a"]).is_less_than(name, "other")
        rules = rules.has_max_length(name, at_most=1).is_contained_in_table(name, table="t", of="u")
        rules = rules.is_complete("number", by=name)
    mine = hg.verify(rows, rules, tables={"t": known})
    theirs = hg.verify(frame, rules, tables={"t": frames(way, known)})
    assert [each.status for each in theirs.judgements] == [each.status for each in mine.judgements]
    assert theirs.errors == ()
    assert apart(local_rows(mine, rows, "row"), spark_rows(theirs.rows(frame), "row")) == ([], [])


# --- Java's regular expressions and RE2's

TEXTS = [
    "", "a", "A", "b", "aa", "ab", "a\n", "\na", "a\nb", "a\r", "a\rb", "a\u2028b", "a\u0085", "é", "É", "ß", "ẞ",
    "ſ", "s", "S", "K", "k", "K", "Ω", "ω", "1", "١", "12", "a1", "_", "$", "a$", "a$b", "]", "[", "^", "-", "\\",
    "\t", "\x0b", "\x0c", "\u00a0", " ", "a b", "&", "x&&y", "{", "a{", "a{,2}", "a{2}", ".", "😀", "e\u0301", "α",
    "日本", "#", "/", '"', "'", "\x00", "S1", "1S",
]  # fmt: skip
PATTERNS = [
    "^a$", "a$", "^a", r"^a\z", r"\Aa", "^.$", "^a.b$", "(?s)^a.b$", "(?m)^a$", "(?m)a$", "(?m)^b", "(?i)^a$",
    "(?i)^é$", "(?i:É)", "(?si)^É$", "(?i)^s$", "(?i)^k$", "(?i)ß", "(?i)^ω$", "^[$]$", "^[a$]+$", "[]]", "[^]a]",
    r"^[\]]$", r"[\[\]]", "^[[]$", "[^[]", r"^\s$", r"\s", r"^\S+$", r"^\d+$", r"\D", r"^\w+$", r"\W", r"\bb", r"\Bb",
    r"\$", r"^\$$", r"a\$b$", r"[$\\]$", "^[a-b&&b]+$", "[a&&b]", "^[[:alpha:]]+$", "[[:^alpha:]]",
    "[[:digit:][:punct:]]", r"^\pL+$", r"^\p{L}$", r"\p{Lu}", r"(?i)^\p{Lu}$", r"\p{^Lu}", r"^\p{Greek}$", r"^\P{L}$",
    r"\p{Han}", r"\v", r"^\x61$", r"^\x{1F600}$", r"\Qa$b\E", r"\Q]\E$", "(?P<letter>a)$", "(?<letter>a)$", "a{",
    "a{,2}", "^a{2}$", "(?U)^a+$", "^(a|b|)$", "()", r"\n", r"\r$", r"\t", r"^\C$", r"\141", "x*", "^$", "^.?$",
    "^[^a]$", "[^\\n]", r"[\d\s]", r"[\w-]$", r"\-", r"\/", "#", "(?-s).", "(?i)(?-i:a)", "^[ -~]+$", "[\\x00-\\x1f]",
    r"^[^\s@]+$", "'", '"', "é$", "[à-ü]", "(?i)[à-ü]", "日.",
]  # fmt: skip


def test_rows_that_break_a_pattern_are_those_of_the_local_engine(spark: SparkSession, frames: Any) -> None:
    rows = pa.table({"row": range(len(TEXTS)), "text": TEXTS})
    rules, wrong = hg.Check("x"), {}
    for pattern in PATTERNS:
        try:
            rules = rules.with_rules(hg.Check("x").has_pattern("text", pattern).rules)
        except hg.HeadgateError:
            continue  # RE2 has no such pattern, which is told when the check is written
        try:
            spark._jvm.java.util.regex.Pattern.compile(java_regex(pattern))
        except Exception:
            wrong[pattern] = "Java refuses it"
            rules = hg.Check("x", rules=rules.rules[:-1])
    verdict = hg.verify(rows, rules)
    assert verdict.errors == ()
    mine, theirs = (
        Counter((row, rule) for row, rule, *_ in found)
        for found in (local_rows(verdict, rows, "row"), spark_rows(verdict.rows(frames("classic", rows)), "row"))
    )
    for only, who in ((theirs - mine, "RE2"), (mine - theirs, "Java")):
        for row, rule in only:
            wrong[f"{who} alone finds {rule}"] = f"{wrong.get(f'{who} alone finds {rule}', '')} {TEXTS[row]!r}"
    # in Java the capital sharp s and the small one are two letters
    assert {pattern: why for pattern, why in wrong.items() if "ß" not in pattern} == {}


@both_ways
@pytest.mark.parametrize("rule", ["user IS NOT NULL", "`user` IN ('x')"])
def test_a_name_that_is_no_column_is_an_error_though_spark_knows_who_runs_it(frames: Any, way: str, rule: str) -> None:
    found = hg.verify(frames(way, pa.table({"id": [1]})), hg.Check("x").satisfies(rule).has_size(at_least=1))
    assert [each.status.value for each in found.judgements] == ["error", "pass"]


@both_ways
def test_a_column_without_a_type_is_one_without_values(frames: Any, way: str) -> None:
    frame = frames(way, pa.table({"id": [1, 2]})).selectExpr("NULL AS v", "id")
    rules = hg.Check("x").is_unique("v").has_pattern("v", "^a").has_mean("v", at_least=1).is_positive("v")
    found = hg.verify(frame, rules.has_no_duplicate_rows().is_complete("v"))
    assert [each.status.value for each in found.judgements] == ["skip"] * 4 + ["pass", "fail"]
    assert found.rows(frame).count() == 2


@both_ways
def test_names_that_differ_in_case_are_blamed_apart(frames: Any, way: str) -> None:
    frame = frames(way, pa.table({"x": [1, None]})).selectExpr("x AS id", "x + 1 AS y").toDF("id", "ID")
    found = hg.verify(frame, hg.Check("x").is_complete("id").is_complete("ID"))
    assert [len(row["headgate_reasons"]) for row in found.rows(frame).collect()] == [2]
    assert found.rows(frame).columns == ["id", "ID", "headgate_reasons"]


# --- jobs


def orders(session: Any, rows: int = 2_000) -> Any:
    numbers = [f"(id * {at + 1}) % 1000 AS n{at}" for at in range(5)]
    texts = [f"concat('v-', (id + {at}) % 97) AS s{at}" for at in range(5)]
    return session.range(0, rows, 1, 4).selectExpr("id", "id % 3 AS key", *numbers, *texts)


def twenty_rules() -> hg.Check:
    check = hg.Check("orders")
    for at in range(5):
        check = check.is_complete(f"n{at}").is_in_range(f"n{at}", 0, 900, at_least=0.5)
        check = check.has_pattern(f"s{at}", "^v-[0-9]+$").has_max_length(f"s{at}", at_most=3)
    return check


@both_ways
def test_twenty_rules_over_ten_columns_are_one_job(sessions: dict[str, Any], jobs: CountJobs, way: str) -> None:
    with jobs() as started:
        verdict = hg.verify(orders(sessions[way]), twenty_rules())
    assert len(verdict.judgements) == 20
    assert verdict.errors == ()
    assert len(started) == 1


@both_ways
def test_exact_uniqueness_of_two_column_sets_is_in_the_same_job(
    sessions: dict[str, Any], jobs: CountJobs, way: str
) -> None:
    with jobs() as started:
        verdict = hg.verify(orders(sessions[way]), twenty_rules().is_unique("id").is_unique("n0", "s1"))
    assert verdict.errors == ()
    assert len(started) == 1  # three were allowed


@both_ways
def test_segments_beside_the_whole_are_one_job(sessions: dict[str, Any], jobs: CountJobs, way: str) -> None:
    checks = [twenty_rules(), hg.Check("by", by="key").is_complete("n0").has_mean("n1", between=(0, 999))]
    with jobs() as started:
        verdict = hg.verify(orders(sessions[way]), checks)
    assert len(verdict.checks["by"].judgements) == 6
    assert verdict.errors == ()
    assert len(started) == 1


@both_ways
def test_rows_are_no_job_until_they_are_read_and_then_one(sessions: dict[str, Any], jobs: CountJobs, way: str) -> None:
    frame = orders(sessions[way])
    verdict = hg.verify(frame, twenty_rules())
    with jobs() as started:
        rows = verdict.rows(frame)
        good, bad = verdict.split(frame)
    assert started == []
    with jobs() as started:
        found = rows.collect()
    assert found
    assert len(started) == 1
    assert good.count() + bad.count() == 2_000


# --- size, and an end


def test_a_thousand_columns_are_judged_and_blamed(spark: SparkSession, jobs: CountJobs) -> None:
    names = [f"c{at}" for at in range(1_000)]
    frame = spark.range(0, 200, 1, 2).selectExpr(
        *(f"nullif(id % {at + 2}, 0) AS {name}" for at, name in enumerate(names))
    )
    check = hg.Check("wide").with_rules(rule for name in names for rule in hg.Check("one").is_complete(name).rules)
    start = time.monotonic()
    with jobs() as started:
        verdict = hg.verify(frame, check)
    judged = time.monotonic() - start
    assert len(verdict.failures) == 1_000
    assert len(started) == 1
    rows = verdict.rows(frame).collect()
    assert len(rows) == 199  # one has no divisor
    blamed = time.monotonic() - start - judged
    print(f"1,000 columns judged in {judged:.1f} s, their rows blamed in {blamed:.1f} s")
    assert judged < 300  # a tenth of it on a machine with nothing else to do
    assert blamed < 300


def test_hundreds_of_predicates_are_resolved(spark: SparkSession) -> None:
    names = [f"c{at}" for at in range(200)]
    frame = spark.range(0, 50, 1, 1).selectExpr(*(f"id + {at} AS {name}" for at, name in enumerate(names)))
    check = hg.Check("wide")
    for name in names:
        check = check.is_non_negative(name)
    start = time.monotonic()
    verdict = hg.verify(frame, check)
    assert verdict.passed, verdict.explain()[:500]
    print(f"200 predicates in {time.monotonic() - start:.1f} s")
    assert time.monotonic() - start < 300


PROGRAM = """
from pyspark.sql import SparkSession
import headgate as hg
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.range(10).selectExpr("id", "id % 2 AS half")
verdict = hg.verify(frame, hg.Check("x").is_complete("id").is_unique("half"), progress=lambda seen: None)
print(verdict.status.value, verdict.rows(frame).count())
spark.stop()
"""


def test_a_process_that_verified_ends_by_itself() -> None:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["fail", "10"]
