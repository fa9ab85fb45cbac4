"""Regular expressions on which an engine that backtracks runs for ever.

All of these were accepted in checks and in predicates of files. Java 17 remembers where one repetition in another has
failed, so that `(a+)+$` takes it quadratic time; for `(x+x+)+y`, `(?:a+){2,}$` or `a*a*a*a*b` and a value of 4,000
characters it does not come to an end.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

import pytest

import headgate as hg
from headgate.checks.guard import guard_predicate
from headgate.checks.vocabulary import shapes
from headgate.metrics.base.regex_cost import refuse_slow_regex
from headgate.metrics.base.regex_syntax import ANY, OTHER, Chars, Sequence, parse_regex, without_leading_any
from headgate.metrics.states.types import SHAPES
from headgate.values.errors import BadPredicate
from tests.attack.fuzz import LENGTH, hostile_values, random_pattern
from tests.attack.patterns import EXPONENTIAL, ORDINARY, POLYNOMIAL
from tests.timing import measure_least_seconds

EVERY_ORDINARY = [pattern for patterns in ORDINARY.values() for pattern in patterns]
OURS = [shapes.EMAIL, shapes.URL, shapes.IP, shapes.UUID, shapes.CREDIT_CARD, shapes.SSN, *SHAPES.values()]
MOST_SECONDS = 5.0  # Python needs 2 to 3 where Java needs a quarter of one


def is_accepted(pattern: str, java: bool = False) -> bool:
    try:
        refuse_slow_regex(pattern, java)
    except BadPredicate:
        return False
    return True


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 12 * seconds)  # by the clock, of all tries, on a machine that others use
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def match_hostile_values(pattern: str, chance: random.Random) -> float:
    """The CPU seconds that the slowest hostile value takes."""
    compiled, slowest = re.compile(pattern), 0.0
    for value in hostile_values(pattern, chance):
        with time_limit(MOST_SECONDS):
            slowest = max(slowest, measure_least_seconds(partial(compiled.search, value), MOST_SECONDS))
    return slowest


@pytest.mark.parametrize("pattern", [*EXPONENTIAL, *POLYNOMIAL])
def test_a_slow_pattern_is_refused_in_checks_and_in_predicates(pattern: str) -> None:
    with pytest.raises(hg.HeadgateError, match=r"matching may take very long|no regular expression of RE2"):
        hg.Check("orders").has_pattern("code", pattern)
    with pytest.raises(hg.HeadgateError, match=r"matching may take very long|no regular expression of RE2"):
        hg.Check.from_yaml(f"checks:\n  - has_pattern: code\n    pattern: '{pattern}'")
    quoted = pattern.replace("\\", "\\\\")
    for predicate in (f"code RLIKE '{quoted}'", f"regexp_replace(code, '{quoted}', '') = ''",
                      f"regexp_extract(code, '{quoted}', 0) = ''", f"size(split(code, '{quoted}')) > 1"):  # fmt: skip
        with pytest.raises(BadPredicate):
            guard_predicate(predicate)


def test_the_refusal_names_the_part_and_says_how_to_write_it() -> None:
    with pytest.raises(BadPredicate) as caught:
        hg.PatternMatch("name", pattern=r"^Dr (\w+ ?)*$")
    assert r"'(\\w+ ?)*' can read one text in very many ways" in str(caught.value)
    assert r"^\w+( \w+)*$ instead of" in caught.value.hint


@pytest.mark.parametrize("pattern", [*EVERY_ORDINARY, *OURS])
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    assert hg.PatternMatch("code", pattern=pattern)


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(set(EVERY_ORDINARY)) >= 60


@pytest.mark.parametrize("pattern", [each for each in EVERY_ORDINARY if not each.startswith(".*") and "[:" not in each])
def test_an_ordinary_pattern_is_accepted_in_a_predicate(pattern: str) -> None:
    escaped = pattern.replace("\\", "\\\\").replace("'", "\\'")
    assert guard_predicate(f"code RLIKE '{escaped}'")


@pytest.mark.parametrize("kind", ORDINARY)
def test_an_ordinary_pattern_is_fast_on_hostile_values(kind: str) -> None:
    for pattern in ORDINARY[kind]:
        if "[:" not in pattern and "\\p" not in pattern:  # Python knows neither
            searched = without_leading_any(pattern)
            assert match_hostile_values(searched, random.Random(7)) < MOST_SECONDS, pattern


def test_a_refused_pattern_is_slow_indeed() -> None:
    for pattern in (r"(a+)+$", r"(a|a)*$", r"(.*)*x", r"a*a*a*a*b"):
        with pytest.raises(TimeoutError), time_limit(0.03):
            re.search(pattern, "a" * 3_000 + "!")


@pytest.mark.parametrize("seed", range(6))
def test_what_is_accepted_is_fast_on_hostile_values(seed: int) -> None:
    chance = random.Random(seed)
    drawn = [random_pattern(chance) for _ in range(40)]
    accepted = [pattern for pattern in drawn if is_accepted(pattern, java=True)][:5]
    assert len(accepted) >= 5
    for pattern in accepted:
        assert match_hostile_values(pattern, chance) < MOST_SECONDS, pattern


def test_the_hostile_values_are_as_long_as_promised() -> None:
    assert all(len(value) == LENGTH for value in hostile_values("a", random.Random(0)))


# --- reading patterns


@pytest.mark.parametrize(
    "pattern",
    [r"(?=a)b", r"(?!a)b", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", r"(?x) a", "(a", "a)", "[a", r"a\R*",
     "(" * 200 + ")" * 200],
)  # fmt: skip
def test_what_cannot_be_analysed_is_refused_in_a_predicate(pattern: str) -> None:
    assert not is_accepted(pattern, java=True)


@pytest.mark.parametrize("pattern", ["[a[b]+]+", "[a-z&&[^b]]+", "[[a]]"])
def test_what_java_reads_in_another_way_is_refused_in_a_predicate(pattern: str) -> None:
    assert not is_accepted(pattern, java=True)


@pytest.mark.parametrize("text", [*map(chr, range(1, 128)), "é", "€", "\U0001f680"])
@pytest.mark.parametrize(
    "pattern", [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", "[a-f]", "[^a-f]", "[]-]", "[^]]", r"[\d\-x]", r"\x41",
                r"[\n-\x20]", r"\101", r"\.", "(?i)[A-F]", "(?i)k", r"[\w.]", r"[^\w]", "€", "[À-ÿ]"])  # fmt: skip
def test_a_class_has_at_least_what_the_pattern_matches(pattern: str, text: str) -> None:
    tree = parse_regex(pattern)
    assert isinstance(tree, Sequence)
    mask = next(part.mask for part in tree.parts if isinstance(part, Chars))
    bit = 1 << ord(text) if text.isascii() else OTHER
    if re.search(pattern, text, re.ASCII | re.DOTALL):
        assert mask & bit
    elif text.isascii() and mask != ANY:
        assert not mask & bit


MANY_PIECES = (
    "(?:" + "|".join(f"[a-z]{{1,8}}{number}" for number in range(60)) + ")*x",
    "(.{64}){64}",
    ".?" * 400,
    "(a|b)?" * 160,
    "[a-z]*," * 140,
)


@pytest.mark.parametrize("pattern", MANY_PIECES, ids=lambda pattern: pattern[:20])
def test_a_pattern_in_many_pieces_is_analysed_in_bounded_time(pattern: str) -> None:
    assert measure_least_seconds(lambda: is_accepted(pattern), 10) < 10


# --- LIKE, which Spark turns into a regular expression


@pytest.mark.parametrize("pattern", ["%a%a%a%b", "%a%b%c%d%", "_%_%_%x", "%%%%%%a%b%c"])
def test_a_like_with_many_wildcards_is_refused(pattern: str) -> None:
    for operator in ("LIKE", "ILIKE", "NOT LIKE"):
        with pytest.raises(BadPredicate, match="matching may take very long"):
            guard_predicate(f"code {operator} '{pattern}'")


@pytest.mark.parametrize(
    "pattern", ["A%", "%A", "%A%", "A%B", "A-__-%", "%@%.com", "%foo%bar%", "100\\\\%", "a_b_c", "%", ""]
)
def test_an_ordinary_like_is_accepted(pattern: str) -> None:
    assert guard_predicate(f"code LIKE '{pattern}'")
