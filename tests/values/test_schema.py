"""Labels of columns are unique whatever the names are, and errors hint at the nearest name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.values.errors import (
    BadMetricKey,
    BadPredicate,
    CorruptBytes,
    EngineError,
    HeadgateError,
    NewerFormat,
    UnknownMetric,
    did_you_mean,
)
from headgate.values.schema import Kind, Schema, unique_labels
from tests.strategies import names

repeating = st.lists(st.one_of(st.sampled_from(["a", "a#2", "a#3", "a#2#2", "", "#2", "A"]), names()), max_size=12)


@settings(max_examples=300)
@given(repeating)
def test_labels_are_unique_and_the_first_of_each_name_keeps_it(given_names: list[str]) -> None:
    labels = unique_labels(given_names)
    assert len(set(labels)) == len(labels) == len(given_names)
    for name in set(given_names):
        assert labels[given_names.index(name)] == name
    assert all(label.startswith(name) for label, name in zip(labels, given_names, strict=True))


@given(repeating)
def test_a_schema_finds_every_column_by_its_label(given_names: list[str]) -> None:
    schema = Schema.of((name, Kind.INTEGER, "int64") for name in given_names)
    assert [schema.positions()[label] for label in schema.labels] == list(range(len(given_names)))


def test_names_that_differ_only_in_case_are_different() -> None:
    assert unique_labels(["a", "A"]) == ["a", "A"]


def test_a_hint_names_the_nearest_word_and_not_too_many() -> None:
    assert "Did you mean 'price'?" in did_you_mean("pric", ["price", "quantity"])
    assert "Did you mean" not in did_you_mean("zzz", ["price"])
    assert did_you_mean("x", []) == "there are none."
    assert "and 92 more" in did_you_mean("x", [f"c{at}" for at in range(100)])


@pytest.mark.parametrize("kind", [UnknownMetric, BadMetricKey, BadPredicate])
def test_misuse_is_a_value_error_and_of_one_tree(kind: type[HeadgateError]) -> None:
    assert issubclass(kind, HeadgateError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [CorruptBytes, NewerFormat, EngineError])
def test_trouble_that_is_not_the_callers_is_no_value_error(kind: type[HeadgateError]) -> None:
    assert issubclass(kind, HeadgateError)
    assert not issubclass(kind, ValueError)


def test_an_error_ends_with_its_hint() -> None:
    trouble = EngineError("it broke.", hint="Mend it.")
    assert (str(trouble), trouble.hint) == ("it broke. Mend it.", "Mend it.")
