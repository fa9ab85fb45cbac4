"""Entries are a commutative monoid of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.learn.patterns.entries import ENTRY, IMPURITY_ONE, Entries, Rows
from headgate.values.errors import MisuseError

FULL = 2**32 - 1
KEYS = st.sampled_from([0, 1, 2, 2**63, 2**64 - 1])  # few, so that they meet
COLUMNS = st.one_of(st.integers(1, 50), st.integers(FULL - 3, FULL))


def row(key: int, columns: int, most: int = 0, led: Sequence[int] = (0, 0, 0, 0), impurity: int = 0) -> tuple[int, ...]:
    """A row whose properties follow from its key, as those of a pattern do; `led` are its last four counters."""
    return (key, impurity, columns, most, *led, key % 7, key % 2, 0)


def rows_of(rows: Sequence[tuple[int, ...]]) -> Rows:
    return np.array(rows, ENTRY)


@st.composite
def rows(draw: st.DrawFn, columns: st.SearchStrategy[int] = COLUMNS) -> Rows:
    found = []
    for key in draw(st.lists(KEYS, max_size=20)):
        have = draw(columns)
        led = sorted(draw(st.tuples(*[st.integers(0, have)] * 4)), reverse=True)
        found.append(row(key, have, draw(st.integers(0, have)), led, draw(st.integers(0, have * IMPURITY_ONE))))
    return rows_of(found)


def entries(columns: st.SearchStrategy[int] = COLUMNS) -> st.SearchStrategy[Entries]:
    return rows(columns).map(Entries.of)


def plain_sum(rows: Rows) -> dict[int, tuple[int, ...]]:
    """The same with Python's numbers, which have no end."""
    total: dict[int, tuple[int, ...]] = {}
    for each in rows.tolist():
        key, counts, properties = each[0], each[1:8], each[8:]
        before = total.get(key, (0,) * 10)
        ends = (2**64 - 1, *[FULL] * 6)
        added = (min(a + b, end) for a, b, end in zip(before[:7], counts, ends, strict=True))
        total[key] = (*added, *map(max, before[7:], properties))
    return total


@given(entries())
def test_the_empty_entries_are_the_identity(one: Entries) -> None:
    assert one + Entries.empty() == one == Entries.empty() + one


@given(entries(), entries())
def test_the_order_of_two_does_not_matter(one: Entries, other: Entries) -> None:
    assert one + other == other + one


@given(entries(), entries(), entries())
def test_the_order_of_additions_does_not_matter(one: Entries, two: Entries, three: Entries) -> None:
    assert (one + two) + three == one + (two + three)


@given(rows(), rows())
def test_the_entries_of_all_rows_are_the_sum_of_those_of_the_parts(some: Rows, others: Rows) -> None:
    assert Entries.of(np.concatenate([some, others])) == Entries.of(some) + Entries.of(others)


@given(rows())
def test_rows_of_one_key_add_up_as_plain_numbers_do(some: Rows) -> None:
    found = Entries.of(some)
    assert {each[0]: each[1:] for each in found.rows.tolist()} == plain_sum(some)
    assert found.rows["key"].tolist() == sorted(set(some["key"].tolist()))


def test_impurities_are_added_to_the_last_bit() -> None:
    found = Entries.of(
        rows_of([row(1, 1, impurity=IMPURITY_ONE - 1), row(1, 1, impurity=IMPURITY_ONE - 1), row(1, 1, impurity=3)])
    )
    assert found.rows["impurity"].tolist() == [2 * IMPURITY_ONE + 1]


def test_of_properties_that_differ_the_larger_stays() -> None:
    found = Entries.of(rows_of([(*row(1, 1)[:8], 4, 0, 9), (*row(1, 1)[:8], 6, 1, 2), (*row(1, 1)[:8], 5, 0, 0)]))
    assert found.rows[["tokens", "open", "spare"]].tolist() == [(6, 1, 9)]


def test_counters_stop_when_they_are_full() -> None:
    high = Entries.of(rows_of([row(1, FULL - 1, FULL - 1, [FULL - 1] * 4, (FULL - 1) * IMPURITY_ONE)]))
    total = (high + high + high).rows[0]
    assert [int(total[name]) for name in ("columns", "most", "led", "slipped", "strayed", "failed")] == [FULL] * 6
    assert int(total["impurity"]) == 2**64 - 1


def test_the_false_positive_rate_is_the_mean_impurity() -> None:
    found = Entries.of(
        rows_of([row(1, 1, impurity=IMPURITY_ONE // 2), row(1, 3, impurity=0), row(2, 2, impurity=2 * IMPURITY_ONE)])
    )
    assert found.fpr.tolist() == [0.125, 1.0]


def test_rare_patterns_can_be_left_out() -> None:
    found = Entries.of(rows_of([row(1, 1), row(2, 2), row(3, 3)]))
    assert found.at_least(2).rows["key"].tolist() == [2, 3]


def test_an_entry_takes_44_bytes() -> None:
    assert ENTRY.itemsize == 44


def test_entries_cannot_be_changed() -> None:
    found = Entries.of(rows_of([row(1, 1)]))
    with pytest.raises(ValueError, match="read-only"):
        found.rows["columns"][0] = 2
    with pytest.raises(AttributeError):
        found.rows = rows_of([])  # type: ignore[misc]


def test_entries_differ_from_others_and_from_other_things() -> None:
    one = Entries.of(rows_of([row(1, 1)]))
    assert one != Entries.of(rows_of([row(1, 2)]))
    assert one != Entries.empty()
    assert one != "entries"


@pytest.mark.parametrize(
    "wrong",
    [
        row(1, 0),  # no row of zeros, which stands for a pattern that is not there
        row(1, 1, most=2),
        row(1, 3, led=(4, 0, 0, 0)),
        row(1, 3, led=(1, 2, 0, 0)),
        row(1, 3, led=(3, 3, 1, 2)),
        row(1, 1, impurity=IMPURITY_ONE + 1),
    ],
)
def test_a_row_that_is_no_sum_over_columns_is_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(MisuseError, match="at least one column"):
        Entries.of(rows_of([wrong]))


@pytest.mark.parametrize("keys", [(2, 1), (1, 1)])
def test_rows_that_are_taken_as_they_are_must_be_sorted(keys: tuple[int, int]) -> None:
    with pytest.raises(MisuseError, match=r"Entries\.of"):
        Entries(rows_of([row(key, 1) for key in keys]))


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((1, 1), ENTRY), [row(1, 1)]])
def test_other_arrays_are_refused(wrong: Rows) -> None:
    with pytest.raises(MisuseError, match="array of ENTRY"):
        Entries.of(wrong)
