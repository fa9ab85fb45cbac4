"""What a number must meet: it holds or not, prints, stores, and never has NaN in it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.values.errors import BadPredicate
from headgate.values.predicate import Between, OneOf, Predicate

numbers = st.floats(allow_nan=False, allow_infinity=False)
NAN = float("nan")


def betweens() -> st.SearchStrategy[Between]:
    ordered = st.tuples(numbers, numbers).map(sorted).map(lambda ends: Between(*ends))
    return st.one_of(ordered, numbers.map(lambda end: Between(low=end)), numbers.map(lambda end: Between(high=end)))


def predicates() -> st.SearchStrategy[Predicate]:
    return st.one_of(betweens(), st.lists(numbers, min_size=1, max_size=4).map(lambda values: OneOf(tuple(values))))


@settings(max_examples=200)
@given(betweens(), numbers)
def test_a_range_holds_its_ends_and_what_is_between(predicate: Between, value: float) -> None:
    above = predicate.low is None or predicate.low <= value
    below = predicate.high is None or value <= predicate.high
    assert predicate.holds(value) == (above and below)
    for end in (predicate.low, predicate.high):
        assert end is None or predicate.holds(end)


@given(st.lists(numbers, min_size=1, max_size=4), numbers)
def test_one_of_holds_just_its_values(values: list[float], other: float) -> None:
    predicate = OneOf(tuple(values))
    assert all(map(predicate.holds, values))
    assert predicate.holds(other) == (other in values)


@settings(max_examples=100)
@given(predicates())
def test_a_predicate_reads_back_from_json_and_msgpack(predicate: Predicate) -> None:
    for form in (msgspec.json, msgspec.msgpack):
        assert form.decode(form.encode(predicate), type=Predicate) == predicate


@pytest.mark.parametrize("predicate", [Between(5, 500), Between(low=0), Between(high=1.5), OneOf((50, 51))])
def test_no_predicate_holds_for_nan(predicate: Predicate) -> None:
    assert not predicate.holds(NAN)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Between(),
        lambda: Between(NAN),
        lambda: Between(1, NAN),
        lambda: Between(NAN, 1),
        lambda: Between(2, 1),
        lambda: OneOf(()),
        lambda: OneOf((1.0, NAN)),
    ],
)
def test_a_predicate_that_means_nothing_is_refused_when_it_is_made(make: object) -> None:
    with pytest.raises(BadPredicate) as trouble:
        make()  # type: ignore[operator]
    assert trouble.value.hint


@pytest.mark.parametrize(
    "stored", [b'{"type":"between","low":2,"high":1}', b'{"type":"between"}', b'{"type":"lambda"}']
)
def test_a_stored_predicate_that_means_nothing_is_refused_when_it_is_read(stored: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(stored, type=Predicate)


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (Between(5, 500), "within 5..500"),
        (Between(low=0.25), "at least 0.25"),
        (Between(high=1e9), "at most 1,000,000,000"),
        (OneOf((50,)), "equal to 50"),
        (OneOf((50, 51.5)), "one of 50, 51.5"),
    ],
)
def test_a_predicate_prints_as_a_person_would_say_it(predicate: Predicate, text: str) -> None:
    assert str(predicate) == text
