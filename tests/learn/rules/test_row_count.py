"""The limits of the row count that are suggested from a few batches."""

from __future__ import annotations

import pytest

from headgate.learn.rules.row_count import FACTOR, suggest_row_count


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([600], "has_size() at least 60"),
        ([7], "has_size() at least 1"),
        ([1_000, 1_200], "has_size() within 100..12,000"),
        ([123_456, 1_234, 0], "has_size() within 120..1,300,000"),
        ([3, 5], "has_size() within 1..50"),
    ],
)
def test_the_limits_are_wide_and_round(counts: list[int], expected: str) -> None:
    assert str(suggest_row_count(counts)) == expected


@pytest.mark.parametrize("counts", [[], [0], [0, 0]])
def test_without_rows_nothing_is_suggested(counts: list[int]) -> None:
    assert suggest_row_count(counts) is None


@pytest.mark.parametrize("count", [1, 9, 10, 99, 100, 101, 999, 1_000, 54_321, 10**9 + 1])
def test_rounding_only_widens(count: int) -> None:
    found = suggest_row_count([count, count])
    assert found is not None
    predicate = found.rule.expect
    assert predicate is not None
    assert predicate.floor is not None
    assert predicate.ceiling is not None
    assert 1 <= predicate.floor <= max(1, count / FACTOR)
    assert count * FACTOR <= predicate.ceiling <= 1.1 * count * FACTOR


def test_the_reason_names_what_was_seen() -> None:
    one, two = suggest_row_count([1_500]), suggest_row_count([1_500, 900])
    assert one is not None
    assert two is not None
    assert (one.why, two.why) == ("the batch has 1,500 rows", "2 batches have 900 to 1,500 rows")
