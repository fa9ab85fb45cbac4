"""Samples of a column's values: which are kept, how often each occurs, and that neither order nor split matters."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.states.sample import Sample, SampledValue
from headgate.metrics.value_sample import MOST, ValueSample
from headgate.values.codec import decode, encode
from headgate.values.outcome import Measured
from headgate.values.schema import Kind
from tests.strategies import TEXT_VIEWS

KEY = ValueSample("name").state_key


def sample_of(values: list[str | None] | pa.Array) -> Sample:
    array = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    return ValueSample("name").fold(ColumnBatch(array, Kind.STRING))


def counts(sample: Sample) -> dict[str, int]:
    return {each.text: each.count for each in sample.values}


NAMES = st.none() | st.sampled_from(["", " ", "a", "b", "DE", "日本", "é", "x" * 50])


@given(st.lists(NAMES, max_size=60))
def test_of_few_values_all_are_kept_each_with_its_count(values: list[str | None]) -> None:
    assert counts(sample_of(values)) == dict(Counter(each for each in values if each is not None))


def test_of_many_values_so_many_are_kept_and_their_counts_are_exact() -> None:
    values = [f"v{at % 900}" for at in range(3_100)]
    found = counts(sample_of(values))
    assert len(found) == MOST
    assert all(Counter(values)[text] == count for text, count in found.items())


def test_which_values_are_kept_does_not_depend_on_how_often_they_occur() -> None:
    once = [f"v{at}" for at in range(900)]
    often = [text for at, text in enumerate(once) for _ in range(1 + at % 5)]
    assert counts(sample_of(once)).keys() == counts(sample_of(often)).keys()


@given(st.randoms(use_true_random=False), st.lists(st.integers(0, 1_200), max_size=5), st.sampled_from([3, 300, 700]))
def test_neither_the_order_nor_the_split_of_the_rows_matters(random: object, cuts: list[int], different: int) -> None:
    values = [f"v{at % different}" for at in range(1_200)]
    mixed = random.sample(values, len(values))  # type: ignore[attr-defined]
    ends = [0, *sorted(cuts), len(values)]
    parts = [sample_of(mixed[start:end]) for start, end in pairwise(ends)]
    assert sum(parts, Sample()) == sample_of(values)


def test_a_part_of_few_values_and_one_of_many_merge_as_the_whole() -> None:
    """The two are counted in different ways."""
    crowded, thin = ["v1", "v2", "v3"] * 2_000, [f"v{at}" for at in range(4_000)]
    assert sample_of(crowded) + sample_of(thin) == sample_of(crowded + thin) == sample_of(thin + crowded)


@pytest.mark.parametrize("kind", [pa.large_string(), *TEXT_VIEWS, pa.dictionary(pa.int32(), pa.string())])
def test_how_texts_are_laid_out_does_not_matter(kind: pa.DataType) -> None:
    table = pa.table({"name": [f"v{at % 300}" for at in range(1_000)]})
    other = pa.table({"name": pa.array(table["name"].to_pylist(), kind)})
    assert hg.analyze(other, [ValueSample("name")]).states[KEY] == hg.analyze(table, [ValueSample("name")]).states[KEY]


@given(st.lists(st.sampled_from(["a", "b" * 150, "c" * 201, "d" * 500, "e" * 5_000]), max_size=30))
def test_what_is_kept_are_values_and_beginnings_of_values_and_nothing_else(values: list[str]) -> None:
    """A label for people is no value: rules are learned from these."""
    found = sample_of(values).values
    assert all(each.text is None or each.text in values for each in found)


def test_long_values_among_short_ones_do_not_matter_to_how_parts_merge() -> None:
    values = [f"v{at}" if at % 2 else f"{at}" * 201 for at in range(1_200)]
    parts = [values[:500] + values[:100], values[500:] + values[:100]]
    assert sample_of(parts[0]) + sample_of(parts[1]) == sample_of(parts[0] + parts[1])


def test_two_long_values_that_begin_alike_are_not_taken_for_one() -> None:
    stem = "x" * 5_000
    found = sample_of([stem + "a", stem + "b", stem + "b"]).values
    assert sorted(each.count for each in found) in ([], [1, 2])


def test_nothing_is_the_identity() -> None:
    some = sample_of(["a", "b"])
    assert sample_of([]) == sample_of([None, None]) == Sample()
    assert some + Sample() == Sample() + some == some


def test_the_metric_is_how_many_are_kept() -> None:
    table = pa.table({"name": [f"v{at}" for at in range(500)], "number": np.arange(500)})
    found = hg.analyze(table, [ValueSample("name")])
    assert found.outcomes[ValueSample("name").key] == Measured(float(MOST))
    assert ValueSample("name").measure(Sample()) == Measured(0.0)


def test_it_is_not_measured_unless_asked_for() -> None:
    assert not any(key.name == "value_sample" for key in hg.analyze(pa.table({"name": ["a"]})).outcomes)


def test_a_store_that_hides_values_keeps_no_text_of_them() -> None:
    plain = sample_of(["QUAIL", "STORK", "STORK"])
    hidden = plain.hide_values(b"secret" * 6)
    assert "QUAIL" not in str(hidden)
    assert sorted(each.count for each in hidden.values) == sorted(each.count for each in plain.values)
    assert hidden == plain.hide_values(b"secret" * 6) != plain.hide_values(b"other." * 6)


def test_the_hash_that_a_value_was_chosen_by_is_hidden_too() -> None:
    """Whoever guesses a value could hash it and look."""
    plain = sample_of(["QUAIL"])
    assert plain.hide_values(b"secret" * 6).values[0].hash != plain.values[0].hash


def test_it_is_read_back_from_bytes() -> None:
    some = sample_of(["a", "b", "b"])
    assert decode(encode(some, str(KEY)), str(KEY)) == some
    assert some.values == tuple(sorted(some.values))
    assert isinstance(some.values[0], SampledValue)
