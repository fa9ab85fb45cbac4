"""A rule as data: its expression, its test on the next batch, its expectation for the judge and its proposal."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import fisher_exact

import headgate as hg
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.rule import Branch, PatternRule
from headgate.learn.patterns.segments import PatternSegment
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Source, Status

CODE = PatternSegment(
    Pattern((Atom(AtomKind.UPPER, 2), Atom(AtomKind.CONST, text="-"), Atom(AtomKind.DIGIT))), columns=40, fpr=0.01
)
TAIL = PatternSegment(
    Pattern((Atom(AtomKind.CONST, text="/"), Atom(AtomKind.DIGIT, 4))), optional=True, columns=7, fpr=0.02
)
WORD = PatternSegment(Pattern((Atom(AtomKind.LOWER),)), columns=900, fpr=0.2)


def rule(seen: int = 100, outside: int = 0, **given: object) -> PatternRule:
    return PatternRule((Branch((CODE, TAIL)),), seen, outside, alarm=0.03, miss=0.1, **given)  # type: ignore[arg-type]


def test_it_prints_as_its_pattern() -> None:
    assert str(rule()) == rule().pattern == "<upper>{2}-<digit>+(/<digit>{4})?"


def test_branches_print_with_a_bar_and_match_either_way() -> None:
    both = PatternRule((Branch((CODE,), 0.75), Branch((WORD,), 0.25)), 100, 0, 0.1, 0.1)
    assert str(both) == "<upper>{2}-<digit>+ | <lower>+"
    assert both.matches(["AB-1", "word", "AB-1word", ""]).tolist() == [True, True, False, False]
    assert (both.coverage, both.fpr) == (40, pytest.approx(0.75 * 0.01 + 0.25 * 0.2))


def test_the_whole_value_must_match_in_every_engine() -> None:
    values = ["AB-1", "AB-12/2020", "AB-12/20201", "xAB-1", "AB-1\n", "AB-", None]
    expected = [True, True, False, False, False, False, False]
    assert rule().matches(values).tolist() == expected
    assert [value is not None and re.fullmatch(rule().regex, value) is not None for value in values] == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.chunked_array([["AB-1"], ["x"]]),
        pa.array(["AB-1", "x"]).dictionary_encode(),
        pa.array(["AB-1", "x"], pa.large_string()),
        ("AB-1", "x"),
        np.array(["AB-1", "x"]),
    ],
)
def test_values_come_in_many_forms(values: object) -> None:
    assert rule().matches(values).tolist() == [True, False]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "outside", "rows"), [(10, 0, 90), (100, 3, 1_000), (1_000, 0, 50), (1_000, 20, 1_000)]
)
def test_the_most_outside_is_what_fishers_test_still_lets_pass(seen: int, outside: int, rows: int) -> None:
    most = rule(seen, outside).most_outside(rows)
    p_value = [fisher_exact([[outside, seen - outside], [at, rows - at]])[1] for at in (most, most + 1)]
    assert p_value[0] > 0.01 >= p_value[1]


def test_a_tolerated_share_is_let_pass_in_any_case() -> None:
    assert rule(10_000).most_outside(1_000) < 50
    assert rule(10_000, tolerated=0.05).most_outside(1_000) == 50


def test_its_expectation_is_judged_by_the_one_judge() -> None:
    expectation = rule(seen=1_000).expectation("code", rows=100)
    assert isinstance(expectation, Expectation)
    assert (expectation.source, expectation.false_alarm) == (Source.PATTERNS, 0.03)
    most = rule(seen=1_000).most_outside(100)
    for outside, status in ((most, Status.PASS), (most + 1, Status.FAIL)):
        batch = pa.table({"code": ["AB-1"] * (100 - outside) + ["?"] * outside})
        outcome = hg.analyze(batch, [hg.PatternMatch("code", rule().regex)])[expectation.metric]
        assert expectation.judge(outcome).status is status


def test_the_reason_names_the_pattern_and_the_share() -> None:
    expectation = rule(seen=1_000).expectation("code", rows=100)
    batch = pa.table({"code": ["AB-1"] * 50 + ["?"] * 50})
    judged = expectation.judge(hg.analyze(batch, [hg.PatternMatch("code", rule().regex)])[expectation.metric])
    assert "<upper>{2}-<digit>+(/<digit>{4})?" in judged.reason
    assert "0.5" in judged.reason


def test_a_batch_as_large_as_the_first_is_assumed_where_its_size_is_not_known() -> None:
    assumed, known, larger = (rule().expectation("code", rows).predicate.low for rows in (None, 100, 100_000))
    assert assumed == known < larger


@pytest.mark.parametrize(("seen", "rows"), [(10, 3), (10, 7), (40, 33), (1_000, 85), (972, 85), (100, 49)])
def test_the_judge_and_the_rule_agree_to_the_last_value(seen: int, rows: int) -> None:
    made = rule(seen=seen)
    for outside in (made.most_outside(rows), min(made.most_outside(rows) + 1, rows)):
        values = ["AB-1"] * (rows - outside) + ["?"] * outside
        share = float(made.matches(values).mean())
        assert made.expectation("code", rows).predicate.holds(share) == made.holds(values)


@pytest.mark.parametrize("values", ["2019-03-01", b"abc", {"a": 1}, 5, None, [[1]], [object()]])
def test_what_is_no_column_of_texts_is_refused_with_words(values: object) -> None:
    with pytest.raises(MisuseError, match=r"no column|no texts"):
        rule().matches(values)  # type: ignore[arg-type]


def test_a_batch_without_rows_cannot_be_judged() -> None:
    with pytest.raises(MisuseError, match="0 rows"):
        rule().expectation("code", rows=0)
