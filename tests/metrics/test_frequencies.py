"""Frequent values: one finished state for one multiset of values, however it is split, and near the true counts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.pattern_distribution import PatternDistribution
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.value_distribution import ValueDistribution
from headgate.values.codec import decode, encode

ROWS = 20_000
Metric = ValueDistribution | PatternDistribution


def values(kind: str) -> npt.NDArray[np.int64]:
    chance = np.random.default_rng(3)
    skewed = np.minimum(chance.zipf(1.2, ROWS), 10**9)
    return {
        "few": chance.integers(0, 400, ROWS),
        "skewed": skewed,
        "unique": np.arange(ROWS),
        "one value floods": np.where(chance.random(ROWS) < 0.3, -1, np.arange(ROWS)),
    }[kind]


def finished(metric: Metric, column: pa.Array, parts: int, seed: int) -> Frequencies:
    chance = np.random.default_rng(seed)
    shuffled = column.take(pa.array(chance.permutation(len(column))))
    cuts = [0, *np.sort(chance.integers(0, len(column), parts - 1)).tolist(), len(column)]
    slices = [shuffled.slice(start, end - start) for start, end in pairwise(cuts)]
    states = [metric.fold(ColumnBatch(each, kind_of(each.type))) for each in slices]
    return Frequencies.merge_all(states).finish()


@pytest.mark.parametrize("kind", ["few", "skewed", "unique", "one value floods"])
@pytest.mark.parametrize("typed", ["text", "integer", "float"])
def test_equal_values_give_equal_states_in_whatever_order_and_parts(kind: str, typed: str) -> None:
    numbers = values(kind)
    columns = {"text": pa.array([f"u{each}" for each in numbers]), "float": pa.array(numbers / 8)}
    column = columns.get(typed, pa.array(numbers))
    states = {finished(ValueDistribution("x"), column, parts, parts) for parts in (1, 2, 5, 23)}
    assert len(states) == 1


def test_so_do_patterns() -> None:
    chance = np.random.default_rng(1)
    texts = ["-".join("x" * int(size)) for size in chance.integers(1, 300, 9_000)]
    states = {finished(PatternDistribution("x"), pa.array(texts), parts, parts) for parts in (1, 2, 5, 23)}
    assert len(states) == 1
    assert states.pop().lost


@pytest.mark.parametrize("kind", ["skewed", "unique", "one value floods"])
def test_every_frequent_value_is_kept_with_about_its_count(kind: str) -> None:
    numbers = values(kind)
    state, true = finished(ValueDistribution("x"), pa.array(numbers), 7, 0), Counter(map(str, numbers.tolist()))
    labels = state.labels()
    assert {label for label, count in true.items() if count > state.lost} <= set(labels)
    assert all(abs(count - true[label]) < state.lost / 3 for label, count in labels.items())
    assert sum(labels.values()) <= state.total == ROWS
    assert state.lost < ROWS / 100


def test_what_would_let_values_be_looked_up_is_not_stored() -> None:
    column = pa.array([f"u{each}" for each in values("skewed")])
    folded = ValueDistribution("x").fold(ColumnBatch(column, kind_of(column.type)))
    assert folded.keys
    assert folded.sketch
    hidden = folded.hide_values(b"a secret")
    assert (hidden.keys, hidden.sketch) == (b"", b"")
    assert sorted(hidden.labels().values()) == sorted(folded.finish().labels().values())


def test_a_part_of_a_batch_travels_as_bytes() -> None:
    column = pa.array(values("skewed"))
    folded = ValueDistribution("x").fold(ColumnBatch(column, kind_of(column.type)))
    assert decode(encode(folded, "k"), "k") == folded


def test_finished_states_of_batches_merge_as_before() -> None:
    days = [finished(ValueDistribution("x"), pa.array(values(kind)), 3, 0) for kind in ("few", "skewed")]
    both = Frequencies.merge_all(days)
    assert both.total == 2 * ROWS
    assert not both.sketch
    assert len(both.labels()) <= 512
