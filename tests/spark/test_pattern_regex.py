"""Patterns mean the same in Python, in RE2 and in Java, and Java neither overflows its stack nor takes its time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from headgate.engine.java_regex import java_regex
from headgate.learn.patterns import whole_values
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.metrics.base.sql import quote_value
from tests.learn.patterns.test_generalize import patterns_of
from tests.learn.patterns.test_pattern import BODIES, NASTY, WHOLES

SEED = 20_240_229
LONG = 100_000
QUICK = 0.4  # seconds for one long value, on a busy machine: what is not linear takes minutes
VALUES = [
    "Mar 01 2019",
    "2019-03-01",
    "AB-12/x",
    "1,234.50",
    "-3",
    "é中-12",
    "😀 1",
    "a1b2",
    "v1.2.3",
    "x_y",
    "Ab",
    "1.5 kg",
    "[12]",
    "a\tb",
    "{1}",
    "$5.00",
    "a&&b",
    "a^b",
    "\\x",
    "<b>",
    "12:34",
    "(1)",
    "a|b",
    "x\ny",
    "\x001",
    "“q”",
    "1€",
    "a#b",
    "a b",
]
PIECES = [
    *"aZ09 .,-+/&[]^$\\{}()|#@:<",
    "é",
    "😀",
    "\n",
    "\r",
    "\x00",
    "\x85",
    "\u2028",
    "\u2029",
    "\u3000",
    "\U0010ffff",
]

NEARLY = {
    "digits": "1" * LONG + "!",
    "letters": "a" * LONG + "!",
    "capitals": "A" * LONG + "!",
    "beyond ascii": "é" * LONG + "!",
    "beyond the first plane": "😀" * LONG + "!",
    "thousands": "1" + ",234" * (LONG // 4) + "!",
    "points": "1" + ".1" * (LONG // 2) + "!",
    "decimals": "1." + "1" * LONG + "!",
    "host": "a@a" + ".a" * (LONG // 2) + "!",
    "local part": "a" * LONG + "@",
    "address": "http://a" + "/a" * (LONG // 2) + " ",
    "symbols": "-" * LONG + "a",
    "phrase": "a b " * (LONG // 4) + "1",
    "mixed": "a1" * (LONG // 2) + "!",
}


def mutations(value: str, dice: random.Random) -> Iterator[str]:
    """The value, and values near it."""
    at = dice.randrange(len(value) + 1)
    piece = dice.choice(PIECES)
    yield from (value, f"{value}\n", f"\n{value}", f"{value}\r\n", value.swapcase(), value + value)
    yield from (value[:at] + value[at + 1 :], value[:at] + piece + value[at:], value[:at] + piece + value[at + 1 :])


def pairs() -> list[tuple[Pattern, str]]:
    dice = random.Random(SEED)
    found = []
    for value in VALUES:
        for pattern in dice.sample(every := patterns_of(value), min(12, len(every))):
            found += [(pattern, each) for each in mutations(value, dice)]
            found.append((pattern, dice.choice(VALUES)))
    for whole in (
        whole_values.PHRASE,
        whole_values.URL,
        whole_values.EMAIL,
        whole_values.make_host_pattern("http://a.b"),
    ):
        found += [(whole, each) for value in WHOLES for each in mutations(value, dice)]
    for text in NASTY:
        pattern = Pattern((Atom(AtomKind.DIGIT), Atom(AtomKind.CONST, text=text), Atom(AtomKind.DIGIT, 1)))
        found += [(pattern, each) for each in mutations(f"12{text}3", dice)]
    return found


def in_re2(regex: str, value: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([value], pa.string()), regex)[0].as_py())


def test_python_re2_and_java_give_the_same_answer(spark: SparkSession) -> None:
    asked = pairs()
    rows = [(at, java_regex(pattern.regex), value) for at, (pattern, value) in enumerate(asked)]
    frame = spark.createDataFrame(rows, "at int, regex string, value string")
    java = {row.at: row.found for row in frame.select("at", sf.expr("value RLIKE regex").alias("found")).collect()}
    answers = {
        at: (pattern.matches(value), in_re2(pattern.regex, value), java[at])
        for at, (pattern, value) in enumerate(asked)
    }
    differing = [(str(asked[at][0]), asked[at][1], found) for at, found in answers.items() if len(set(found)) > 1]
    assert differing == []
    assert len(asked) > 3_000
    assert 0.2 < sum(java.values()) / len(java) < 0.8  # both answers are tried


def test_a_constant_is_the_same_as_a_literal_of_sql(spark: SparkSession) -> None:
    """As the engine writes it: the regular expression stands in the text of the query."""
    texts = [text for text in NASTY if "\x00" not in text]
    patterns = [Pattern((Atom(AtomKind.CONST, text=text), Atom(AtomKind.DIGIT))) for text in texts]
    tests = [
        sf.expr(f"{quote_value(f'{text}7')} RLIKE {quote_value(java_regex(each.regex))}")
        for text, each in zip(texts, patterns, strict=True)
    ]
    (row,) = spark.range(1).select(*[test.alias(str(at)) for at, test in enumerate(tests)]).collect()
    assert [text for text, found in zip(texts, row, strict=True) if not found] == []


def matching(names: Sequence[str]) -> list[Column]:
    return [sf.col("value").rlike(java_regex(f"^(?:{BODIES[name]})$")).alias(name) for name in names]


def test_java_refuses_long_values_without_overflowing_its_stack(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(value,) for value in NEARLY.values()], "value string").coalesce(1)
    found = frame.select(*matching(list(BODIES))).collect()
    for name, row in zip(NEARLY, found, strict=True):
        for body, answer in row.asDict().items():
            assert answer == in_re2(f"^(?:{BODIES[body]})$", NEARLY[name]), (name, body)


@pytest.mark.parametrize("name", list(BODIES))
def test_java_takes_a_tenth_of_a_second_for_a_long_value(spark: SparkSession, name: str) -> None:
    """In the JVM by itself, as a job has a cost of its own; the best of three, after the first has warmed it up."""
    regex = spark._jvm.java.util.regex.Pattern.compile(java_regex(f"^(?:{BODIES[name]})$"))  # type: ignore[union-attr]
    for value in NEARLY.values():
        matcher = regex.matcher(value)
        matcher.find()
        taken = []
        for _ in range(3):
            begin = time.perf_counter()
            matcher.reset().find()
            taken.append(time.perf_counter() - begin)
        assert min(taken) < QUICK
