"""A bounded column has the same values in whatever order it is read, and knows which came first."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.patterns.sample import MAX_DISTINCT, MIN_SPLIT_VALUES, SampledColumn, first_values, limit_distinct

EXAMPLES = settings(max_examples=100)
VALUES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=60)
# Two of these have one checksum: only the values themselves can order them.
TWINS = ["plumless", "buckeroo"]


@EXAMPLES
@given(VALUES, st.randoms(use_true_random=False), st.integers(1, 20))
def test_the_order_of_values_does_not_matter(values: list[str], random: object, most: int) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert limit_distinct(shuffled, most) == limit_distinct(values, most)
    assert limit_distinct(Counter(shuffled), most) == limit_distinct(values, most)


@EXAMPLES
@given(VALUES, st.integers(1, 20))
def test_what_is_kept_keeps_all_its_repeats(values: list[str], most: int) -> None:
    counts, kept = Counter(values), limit_distinct(values, most)
    assert len(kept) == min(most, len(counts))
    assert kept == {value: counts[value] for value in kept}


@EXAMPLES
@given(VALUES, VALUES, st.integers(1, 20))
def test_a_value_that_is_kept_among_more_is_kept_among_fewer(values: list[str], others: list[str], most: int) -> None:
    """So that a sample of samples is a sample of the whole."""
    assert set(limit_distinct(values + others, most)) & set(values) <= set(limit_distinct(values, most))


def test_values_with_one_checksum_are_kept_in_a_fixed_order() -> None:
    assert set(limit_distinct(TWINS, 1)) == set(limit_distinct(TWINS[::-1], 1)) == {min(TWINS)}


def test_at_most_so_many_distinct_values_are_kept() -> None:
    assert len(limit_distinct(map(str, range(MAX_DISTINCT)))) == MAX_DISTINCT
    assert len(limit_distinct(map(str, range(MAX_DISTINCT + 1)))) == MAX_DISTINCT
    assert limit_distinct([]) == {}


@pytest.mark.parametrize(
    ("count", "first"),
    [(0, 0), (MIN_SPLIT_VALUES - 1, 0), (MIN_SPLIT_VALUES, 5), (59, 5), (60, 6), (69, 6), (1_000, 100)],
)
def test_the_first_are_a_tenth_and_at_least_five(count: int, first: int) -> None:
    assert first_values(count) == first


@EXAMPLES
@given(VALUES)
def test_a_sampled_column_counts_its_values_and_the_first_of_them(values: list[str]) -> None:
    found = SampledColumn.of(values)
    assert dict(zip(found.values, found.counts, strict=True)) == Counter(values)
    early = Counter(values[: first_values(len(values))])
    assert {value: count for value, count in zip(found.values, found.early, strict=True) if count} == early


def test_the_first_values_are_those_of_the_whole_column_not_of_the_sample() -> None:
    found = SampledColumn.of([str(number) for number in range(1_000)])
    assert (len(found.values), sum(found.counts)) == (MAX_DISTINCT, MAX_DISTINCT)
    assert sum(found.early) == sum(int(value) < 100 for value in found.values)
