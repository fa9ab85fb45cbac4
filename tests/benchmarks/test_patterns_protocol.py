"""The protocol of the patterns benchmark, on small made-up columns."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.patterns.corpus import Case, case_of, drawn
from benchmarks.patterns.kinds import kind_of
from benchmarks.patterns.protocol import Benchmark, DictionaryRule, Judged, Method, RegexRule, judged
from benchmarks.patterns.scores import applicable, other_domains, precisions, recalls, scores

DAYS = [f"2020-01-{1 + at % 28:02}" for at in range(100)]
WORDS = ["red", "green", "blue", "dark red"] * 25
NUMBERS = [str(at) for at in range(100)]


def cases() -> list[Case]:
    named = {"day": DAYS, "colour": WORDS, "number": NUMBERS}
    return [case_of(at, "made/up", name, values) for at, (name, values) in enumerate(named.items())]


def found(flags: list[list[int]], rules: list[RegexRule | DictionaryRule | None], patterns: bool = True) -> Judged:
    return Judged("made up", patterns, rules, np.array(flags, np.bool_), np.ones(len(rules)))


def test_a_case_trains_on_ten_values_and_tests_on_ninety():
    case = case_of(7, "made/up", "number", map(str, range(500)))
    assert (case.train, case.test) == (tuple(map(str, range(10))), tuple(map(str, range(10, 100))))


def test_a_draw_keeps_the_proportions_where_it_can_and_the_number_always():
    free = [(at, "large" if at < 50 else "small") for at in range(53)]
    chosen = drawn(free, Counter(large=10, small=5), seed=0)
    repos = Counter(dict(free)[each] for each in chosen)
    assert repos == {"large": 12, "small": 3}
    assert chosen == drawn(free, Counter(large=10, small=5), seed=0) != drawn(free, Counter(large=10, small=5), seed=1)


def test_values_outside_an_expression_are_counted_with_their_repetitions():
    benchmark = Benchmark(cases())
    assert benchmark.outside("[a-z]+").tolist() == [90, Counter(WORDS[10:])["dark red"], 90]
    assert benchmark.outside("[a-z ]+|[0-9]").tolist() == [90, 0, 90]


def test_an_expression_must_match_the_whole_value():
    case = case_of(0, "made/up", "x", [*["x"] * 97, "x\n", "ax", "xa"])
    assert Benchmark([case]).outside("x").tolist() == [3]


def test_values_outside_a_list_are_counted_with_their_repetitions():
    benchmark = Benchmark(cases())
    assert benchmark.absent(frozenset({"red", "green", "blue", "unheard of"})).tolist() == [90, 23, 90]


@pytest.mark.parametrize(("test", "flagged"), [("any", [True, True, True]), ("fisher", [True, False, True])])
def test_one_value_outside_is_enough_for_any_but_not_for_fisher(test, flagged):
    rule = RegexRule("<lower>", "[a-z]+", test, outside=2, seen=10)
    assert rule.flags_all(Benchmark(cases())).tolist() == flagged


@pytest.mark.parametrize("least", [0.75, 0.74])
def test_a_list_flags_below_its_share_and_not_at_it(least):
    rule = DictionaryRule(frozenset({"red", "green", "blue"}), least)
    inside = 67 / 90
    assert rule.flags_all(Benchmark(cases())).tolist() == [True, inside < least, True]


def test_a_false_alarm_costs_precision_and_all_recall():
    flags = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]], np.bool_)
    assert precisions(flags).tolist() == [1, 0, 1, 1]
    assert recalls(flags).tolist() == pytest.approx([2 / 3, 0, 0, 1])


def test_columns_of_one_name_in_one_repository_are_not_other_domains():
    named = [("a", "day"), ("a", "day"), ("b", "day"), ("a", "colour")]
    others = other_domains([case_of(at, repo, name, DAYS) for at, (repo, name) in enumerate(named)])
    assert others.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    flags = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0]], np.bool_)
    assert recalls(flags, others).tolist() == pytest.approx([1, 1, 1, 2 / 3])


def test_a_case_without_a_rule_has_precision_one_and_recall_zero():
    told = judged(Method("none", lambda train: None), Benchmark(cases()))
    result = scores(told, cases())
    assert (result.rules, result.precision, result.recall, result.f1) == (0, 1.0, 0.0, 0.0)


def test_a_method_sees_only_the_values_that_train():
    seen: list[list[str]] = []
    judged(Method("spy", lambda train: seen.append(train)), Benchmark(cases()))
    assert seen == [list(case.train) for case in cases()]


def test_scores_of_a_group_are_of_its_cases_against_all_columns():
    told = found([[0, 1, 1], [1, 1, 1], [0, 1, 0]], [RegexRule("", "a")] * 3)
    result = scores(told, cases(), np.array([True, False, True]))
    assert (result.cases, result.rules, result.precision, result.recall) == (2, 2, 1.0, 0.75)
    low, high = result.recall_interval
    assert low <= 0.75 <= high


def test_intervals_hold_the_score_and_come_out_alike_twice():
    rng = np.random.default_rng(3)
    many = [case_of(at, "made/up", str(at), DAYS) for at in range(200)]
    told = found((rng.random((200, 200)) < 0.5).tolist(), [RegexRule("", "a")] * 200)
    once, again = scores(told, many), scores(told, many)
    assert once == again
    assert once.precision_interval[0] < once.precision < once.precision_interval[1]
    assert 0.05 < once.precision_interval[1] - once.precision_interval[0] < 0.2


def test_applicable_cases_have_a_pattern_that_says_something():
    nothing, something = RegexRule("<any>", "(?s:.*)"), RegexRule("<digits>", "[0-9]+")
    listed = found([[0]] * 4, [DictionaryRule(frozenset({"a"}))] * 4, patterns=False)
    patterns = found([[0]] * 4, [None, nothing, something, None])
    others = found([[0]] * 4, [None, None, None, something])
    assert applicable([listed, patterns, others]).tolist() == [False, False, True, True]


def test_kinds_are_told_by_the_runs_of_nine_tenths():
    colours = [*["red"] * 90, *["dark red"] * 10]
    mixed = [*["red"] * 89, *["dark red"] * 11]
    kinds = [kind_of(case_of(0, "made/up", "x", values)) for values in (DAYS, NUMBERS, colours, mixed)]
    assert kinds == ["structured", "structured", "word", "text"]
