"""Each suggestion rule on columns that do and do not call for it."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from headgate.learn.rules.rule import (
    MIN_EXACT,
    MIN_REPEATS,
    MIN_VALUES,
    Suggestion,
    suggestion_rules,
    suggestions_for,
    suggests,
)
from tests.learn.rules.columns import column_of, suggested, texts

RULES = [
    "categorical",
    "complete",
    "completeness",
    "data_type",
    "lengths",
    "non_negative",
    "pattern",
    "unique",
    "value_range",
]


def test_every_rule_of_the_folder_is_found() -> None:
    assert [*suggestion_rules()] == RULES


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("values", [pa.array([], pa.string()), pa.nulls(50, pa.string()), pa.nulls(50, pa.int64())])
def test_no_values_suggest_nothing(rule: str, values: pa.Array) -> None:
    assert suggested(rule, values) == []


@pytest.mark.parametrize("rule", RULES)
def test_fewer_values_than_the_least_suggest_nothing(rule: str) -> None:
    assert suggested(rule, [f"{at:03}" for at in range(MIN_VALUES - 1)], "id") == []
    assert suggested(rule, list(range(MIN_VALUES - 1)), "id") == []


@pytest.mark.parametrize("values", [[{"a": 1}] * 50, [[1, 2]] * 50, [b"\x00"] * 50, [True, False] * 25])
def test_columns_of_other_kinds_suggest_only_completeness(values: list[object]) -> None:
    assert [each.by for each in suggestions_for(column_of(values))] == ["completeness"]


# --- complete, completeness


def test_a_column_with_many_values_and_none_missing_is_complete() -> None:
    (found,) = suggested("complete", ["a"] * MIN_EXACT)
    assert str(found) == "is_complete(c)"
    assert found.why == "all 2,000 values are present"
    assert found.exact


def test_a_column_with_few_values_is_complete_to_a_share() -> None:
    assert texts("complete", ["a"] * (MIN_EXACT - 1)) == []
    (found,) = suggested("completeness", ["a"] * 1_000)
    assert str(found) == "has_completeness(c) at least 0.99"
    assert not found.exact


def test_missing_values_lower_what_is_asked_by_more_than_their_share() -> None:
    (found,) = suggested("completeness", [1] * 280 + [None] * 720)
    assert str(found) == "has_completeness(c) at least 0.238"
    assert found.why == "280 of 1,000 values are present (28.0%)"
    assert suggested("complete", [1] * MIN_EXACT + [None]) == []


def test_a_column_that_is_hardly_ever_filled_suggests_nothing() -> None:
    assert suggested("completeness", [1] + [None] * 100_000) == []


# --- data type


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("12", "integral"),
        ("1.5", "fractional"),
        ("TRUE", "boolean"),
        ("2026-11-15", "date"),
        ("2026-11-15 10:00", "timestamp"),
    ],
)
def test_texts_that_all_look_like_one_type_suggest_it(value: str, name: str) -> None:
    assert texts("data_type", [value] * MIN_EXACT) == [f'has_data_type(c, type="{name}")']
    assert texts("data_type", [value] * 100) == [f'has_data_type(c, type="{name}") at least 0.912']


def test_whole_numbers_among_others_are_fractional() -> None:
    assert texts("data_type", ["1", "2.5"] * MIN_EXACT) == ['has_data_type(c, type="fractional")']


def test_texts_most_of_which_are_numbers_suggest_a_share() -> None:
    (found,) = suggested("data_type", ["1"] * 990 + ["NA"] * 10)
    assert str(found) == 'has_data_type(c, type="integral") at least 0.974'
    assert found.why == "990 of 1,000 values look integral (99.0%)"


@pytest.mark.parametrize(
    "values", [["a"] * MIN_EXACT, ["1", "x"] * MIN_EXACT, [1, 2] * MIN_EXACT, ["1"] * 85 + ["x"] * 15]
)
def test_plain_texts_and_numbers_have_no_type_to_suggest(values: list[object]) -> None:
    assert suggested("data_type", values) == []


# --- unique


def test_a_column_without_repeats_whose_name_is_a_keys_is_unique() -> None:
    (found,) = suggested("unique", list(range(5_000)), "id")
    assert str(found) == "is_unique(id)"
    assert found.why.startswith("hardly one of 5,000 values repeats; by its name a key (0.")


def test_the_papers_statuses_count_is_not_taken_for_a_key() -> None:
    assert suggested("unique", list(range(5_000)), "statuses_count") == []


def test_one_repeat_among_few_values_is_seen() -> None:
    assert suggested("unique", list(range(300)), "id") != []
    assert suggested("unique", [*range(299), 0], "id") == []


def test_repeats_beyond_the_sketchs_error_are_seen() -> None:
    assert suggested("unique", [at % 4_000 for at in range(5_000)], "id") == []


def test_a_key_that_is_mostly_missing_is_none() -> None:
    assert suggested("unique", pa.array([*range(500), *[None] * 500]), "id") == []


# --- numbers


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64()])
def test_numbers_of_which_none_is_negative(kind: pa.DataType) -> None:
    assert texts("non_negative", pa.array(range(MIN_EXACT)).cast(kind)) == ["is_non_negative(c)"]
    assert texts("non_negative", pa.array(range(100)).cast(kind)) == ["is_non_negative(c) at least 0.912"]
    assert texts("non_negative", pa.array(range(-1, MIN_EXACT)).cast(kind)) == []


def test_numbers_in_texts_are_held_against_their_minimum() -> None:
    assert texts("non_negative", [f" {at}" for at in range(MIN_EXACT)]) == ["has_text_min(c) at least 0"]
    assert texts("non_negative", [str(at) for at in range(MIN_EXACT - 1)]) == []
    assert texts("non_negative", [str(at) for at in range(MIN_EXACT)] + ["x"] * 1_000) == []


def test_dates_are_not_numbers() -> None:
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(days=at) for at in range(MIN_EXACT)]
    assert texts("non_negative", days) == texts("value_range", days) == []


def test_a_scale_whose_ends_occur_often_is_a_range() -> None:
    assert texts("value_range", [float(at % 24) for at in range(2_400)]) == ["is_in_range(c, low=0.0, high=23.0)"]
    assert texts("value_range", [str(at % 24) for at in range(2_400)]) == [
        "has_text_min(c) at least 0",
        "has_text_max(c) at most 23",
    ]


def test_other_numbers_lie_in_their_range_to_a_share() -> None:
    assert texts("value_range", [at / 7 for at in range(1_000)]) == [
        f"is_in_range(c, low=0.0, high={999 / 7}) at least 0.99"
    ]


def test_a_counter_has_no_range() -> None:
    assert texts("value_range", list(range(1_000))) == []
    assert texts("value_range", [7.0] * 1_000) == []


# --- categories


def test_values_that_were_all_seen_often_are_a_closed_list() -> None:
    (found,) = suggested("categorical", ["EU"] * 90 + ["US"] * 60)
    assert str(found) == 'is_contained_in(c, values=["EU", "US"])'
    assert found.why == "2 different values among 150, each seen at least 60 times"


def test_values_that_grow_rarer_and_rarer_are_no_closed_list() -> None:
    langs = ["en"] * 1_400 + ["pt"] * 400 + ["es"] * 180 + ["de"] * 12 + ["nl"] * MIN_REPEATS
    (found,) = suggested("categorical", langs)
    assert str(found) == 'is_contained_in(c, values=["de", "en", "es", "nl", "pt"]) at least 0.995'


def test_a_value_seen_once_opens_the_list() -> None:
    langs = ["en"] * 900 + ["pt"] * 90 + ["es"] * 9 + ["tr"]
    (found,) = suggested("categorical", langs)
    assert str(found) == 'is_contained_in(c, values=["en", "es", "pt", "tr"]) at least 0.988'
    assert found.why == "4 different values among 1,000, of which 1 seen once (0.1%)"


def test_whole_numbers_may_be_categories_too() -> None:
    assert texts("categorical", [2, 10, 1] * 50) == ["is_contained_in(c, values=[1, 2, 10])"]


@pytest.mark.parametrize(
    "values",
    [
        [f"v{at}" for at in range(101)] * 20,  # many
        [f"v{at}" for at in range(20)] * 5,  # for so few rows
        ["x" * 81] * 100,  # no category's name
        [0.5, 1.5] * 100,
        ["a"] * 10 + [f"b{at}" for at in range(15)] * 1 + ["c"] * 75 + [f"d{at}" for at in range(5)],  # seen once
    ],
)
def test_other_values_are_no_categories(values: list[object]) -> None:
    assert suggested("categorical", values) == []


# --- texts


def test_texts_built_alike_share_a_pattern() -> None:
    assert texts("pattern", [f"AB-{at}" for at in range(3_000)]) == [r'has_pattern(c, pattern="^[A-Z]+-[0-9]+$")']
    assert texts("pattern", [f"v.{at}" for at in range(100)]) == [
        r'has_pattern(c, pattern="^[a-z]+\\.[0-9]+$") at least 0.912'
    ]


def test_a_few_patterns_are_alternatives_and_a_rare_one_is_left_to_the_share() -> None:
    values = [str(at) for at in range(1_000)] + [f"A{at}" for at in range(1_000)] + ["BAD COST"]
    (found,) = suggested("pattern", [*values, "x y"])
    assert str(found) == 'has_pattern(c, pattern="^(?:[0-9]+|[A-Z0-9]+)$") at least 0.993'


def test_a_code_with_leading_zeros_is_a_pattern_and_a_number_is_not() -> None:
    assert texts("pattern", [f"{at:05}" for at in range(3_000)]) == ['has_pattern(c, pattern="^[0-9]{5}$")']
    assert texts("pattern", [str(at) for at in range(10_000, 13_000)]) == []
    assert texts("pattern", [f"2026-01-{at % 28 + 1:02}" for at in range(100)]) == []


@pytest.mark.parametrize("value", ["é{}", "a\n{}", "{}" + "-a" * 20])
def test_patterns_that_no_one_could_read_are_not_suggested(value: str) -> None:
    assert texts("pattern", [value.format(at) for at in range(100)]) == []


def test_texts_of_one_length_or_of_few_lengths() -> None:
    codes = [f"é{at:04}" for at in range(3_000)]
    assert texts("lengths", codes) == ['has_pattern(c, pattern="^.{5}$")']
    assert texts("lengths", codes[:1_000]) == ['has_pattern(c, pattern="^.{5}$") at least 0.99']
    assert texts("lengths", ["x" * (1 + at % 30) for at in range(1_000)]) == [
        'has_pattern(c, pattern="^.{1,30}$") at least 0.99'
    ]
    assert texts("lengths", ["x" * (1 + at) for at in range(1_001)]) == []
    assert texts("lengths", ["ab", "cd"] * 500) == []


# --- together


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ([str(at % 4) for at in range(4_000)], ["categorical", "complete"]),
        ([float(at % 24) for at in range(4_000)], ["complete", "value_range"]),
        ([str(at % 300) for at in range(6_000)], ["complete", "data_type", "value_range", "value_range"]),
        ([f"{at:05}" for at in range(4_000)], ["complete", "pattern"]),
        ([f"A-{at}" for at in range(4_000)], ["complete", "pattern"]),
    ],
)
def test_what_one_rule_says_another_does_not_say_again(values: list[object], left: list[str]) -> None:
    assert [each.by for each in suggestions_for(column_of(values))] == left


def test_a_rule_of_ones_own_joins_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.learn.rules import rule

    monkeypatch.setattr(rule, "_registry", dict(suggestion_rules()))

    @suggests(replaces=("complete",))
    def always(column: object, table: str) -> list[Suggestion]:
        return [rule.suggestion("because", "has_size", at_least=1)]

    assert [each.by for each in suggestions_for(column_of([True] * MIN_EXACT))] == ["always"]
