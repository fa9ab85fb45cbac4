"""A program as a value: it prints, stores, diffs and is edited."""

from __future__ import annotations

import pytest

from headgate.learn.history.learn import learn_program
from headgate.learn.history.program import Clause, Program, format_rarity
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate
from tests.learn.histories import orders, orders_effects
from tests.pages import assert_harmless, terminal


def clause(metric: str, predicate: Predicate, rate: float | None, note: str, catches: int = 0) -> Clause:
    expected = Expectation(MetricKey.parse(metric), predicate, Source.HISTORY, false_alarm=rate)
    return Clause(expected, note, catches)


LAWS = (
    clause("column_count()", Between(high=2), 0.0, "the most in 30 runs"),
    clause("has_column(price)", OneOf((1.0,)), 0.0, "in all 30 runs"),
    clause("has_column(region)", OneOf((1.0,)), 0.0, "in all 30 runs"),
    clause('column_type(price, type="number")', OneOf((1.0,)), 0.0, "in all 30 runs"),
)
SMALL = Program(
    clauses=(
        *LAWS,
        clause("size()", Between(900, 1_100), 0.00041, "weekly lag 7", 4),
        clause("completeness(price)", OneOf((1.0,)), 0.001, "equal in 30 runs", 3),
        clause("value_l1(region)", Between(high=0.25), 0.0025, "29 runs", 12),
    ),
    runs=30,
    upto="2026-11-14",
    budget=0.01,
    issues=60,
    caught=51,
)

TEXT = """\
7 clauses from 30 runs; about 0.39% of good batches held, budget 1.00%; catches 51 of 60 injected issues
  2 columns present, 1 with their types, column_count() at most 2 (the schema)
  size() within 900..1,100 (weekly lag 7; 1 in 2,400 runs)
  completeness(price) equal to 1 (equal in 30 runs; 1 in 1,000 runs)
  value_l1(region) at most 0.25 (29 runs; 1 in 400 runs)"""


def test_a_program_prints_as_people_read_it() -> None:
    assert str(SMALL) == TEXT
    assert repr(SMALL) == TEXT


def test_its_pins_are_marked_and_no_longer_priced() -> None:
    found = SMALL.pin("size()", Between(500, 2_000))
    assert "  size() within 500..2,000 (weekly lag 7; pinned)" in str(found).splitlines()
    assert found.cost == pytest.approx(SMALL.cost - 0.00041)


def test_a_pinned_clause_about_the_shape_is_told_by_itself() -> None:
    lines = str(SMALL.pin("has_column(region)")).splitlines()
    assert lines[1] == "  1 columns present, 1 with their types, column_count() at most 2 (the schema)"
    assert "  has_column(region) equal to 1 (in all 30 runs; pinned)" in lines


def test_an_empty_program_says_that_it_is() -> None:
    assert str(Program()) == "an empty program"
    assert str(Program(why="3 accepted runs of 7 that it takes")) == "no program: 3 accepted runs of 7 that it takes"


def test_a_program_of_pins_alone_does_not_call_itself_empty() -> None:
    assert "empty" not in str(Program().pin("mean(price)", Between(5, 500)))


def test_the_cost_is_the_sum_of_the_stated_rates() -> None:
    assert SMALL.cost == pytest.approx(0.00041 + 0.001 + 0.0025)


def test_its_table_has_a_row_for_each_clause_about_values() -> None:
    found = SMALL.table()
    assert len(found.rows) == 3
    assert found.rows[0] == ("size()", "within 900..1,100", "weekly lag 7", "1 in 2,400 runs")
    assert "size()" in SMALL._repr_html_()
    assert "2 columns present, 1 with their types" in SMALL._repr_html_()
    assert "1 in 2,400 runs" in terminal(SMALL)
    assert_harmless(SMALL)


def test_the_clauses_of_a_column_are_found() -> None:
    assert [str(each.metric) for each in SMALL.clauses_of("region")] == ["has_column(region)", "value_l1(region)"]
    assert SMALL.clauses_of("nothing") == ()


# --- stored


@pytest.mark.parametrize("program", [SMALL, SMALL.pin("size()", OneOf((5.0,))), Program(), Program(why="no runs")])
def test_a_program_is_the_same_after_being_stored(program: Program) -> None:
    assert Program.from_json(program.to_json()) == program
    assert Program.from_json(program.to_json().encode()) == program


@pytest.mark.parametrize("bounds", ["rarity", "paper"])
def test_so_is_one_that_was_learned(bounds: str) -> None:
    found = learn_program(orders(), bounds=bounds, issue_effects=orders_effects())  # type: ignore[arg-type]
    again = Program.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)
    assert again.diff(found) == "no change"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"clauses": 3}', '{"clauses": [{"expectation": 1}]}'])
def test_what_is_no_program_is_misuse(text: str) -> None:
    with pytest.raises(MisuseError, match="not a program"):
        Program.from_json(text)


# --- compared


def test_a_diff_shows_what_came_what_went_and_what_moved() -> None:
    later = SMALL.without("value_l1(region)").pin("mean(price)", Between(5, 500)).pin("size()", Between(800, 1_200))
    assert later.diff(SMALL).splitlines() == [
        "- value_l1(region) at most 0.25 (29 runs; 1 in 400 runs)",
        "+ mean(price) within 5..500 (pinned)",
        "~ size() within 800..1,200 (weekly lag 7; pinned), was within 900..1,100",
    ]


def test_the_other_way_round_signs_change() -> None:
    later = SMALL.without("size()")
    assert later.diff(SMALL).startswith("- size()")
    assert SMALL.diff(later).startswith("+ size()")


def test_only_a_change_of_the_range_is_a_change() -> None:
    assert SMALL.diff(SMALL) == "no change"
    assert SMALL.pin("size()").diff(SMALL) == "no change"


# --- edited


def test_pinning_keeps_the_place_and_the_range_of_a_clause() -> None:
    found = SMALL.pin("size()")
    assert [each.metric for each in found.clauses] == [each.metric for each in SMALL.clauses]
    assert [str(each.expectation) for each in found.pins] == ["size() within 900..1,100"]
    assert SMALL.pins == ()


def test_pinning_a_metric_without_a_clause_adds_one() -> None:
    found = SMALL.pin("mean(price)", Between(5, 500))
    assert len(found.clauses) == len(SMALL.clauses) + 1
    assert found.pins == found.clauses[-1:]


def test_pinning_twice_leaves_one_clause() -> None:
    found = SMALL.pin("size()", Between(1, 2)).pin("size()", Between(3, 4))
    assert [each.expectation.predicate for each in found.pins] == [Between(3, 4)]
    assert len(found.clauses) == len(SMALL.clauses)


def test_a_key_serves_as_well_as_its_text() -> None:
    assert SMALL.pin(MetricKey("size")) == SMALL.pin("size()")
    assert SMALL.without(MetricKey("size")) == SMALL.without("size()")


def test_pinning_what_is_not_there_without_a_range_is_misuse_with_what_is() -> None:
    with pytest.raises(MisuseError, match=r"completeness\(price\)"):
        SMALL.pin("completeness(prize)")


def test_leaving_out_what_is_not_there_is_misuse_with_what_is() -> None:
    with pytest.raises(MisuseError, match=r"completeness\(price\)"):
        SMALL.without("completeness(prize)")


def test_leaving_out_a_clause_leaves_all_others() -> None:
    found = SMALL.without("size()")
    assert set(SMALL.clauses) - set(found.clauses) == {SMALL.clauses[4]}


# --- how seldom


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (None, ""),
        (0.0, ""),
        (0.5, "1 in 2 runs"),
        (0.01, "1 in 100 runs"),
        (0.00041, "1 in 2,400 runs"),
        (1.1e-5, "1 in 90,000 runs"),
        (1e-9, "less than 1 in 1,000,000 runs"),
    ],
)
def test_a_rate_is_said_as_people_say_it(rate: float | None, words: str) -> None:
    assert format_rarity(rate) == words


@pytest.mark.parametrize("rate", [0.9, 0.3, 0.0123, 0.00777, 3.3e-5, 2e-6])
def test_it_is_never_said_to_be_more_seldom_than_it_is(rate: float) -> None:
    runs = int(format_rarity(rate).removeprefix("1 in ").removesuffix(" runs").replace(",", ""))
    assert 0.9 / rate <= runs + 1
    assert runs <= 1 / rate
