"""Sketches keep to their stated errors, over 100 seeded datasets each."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from datasketches import hll_sketch, hll_union, tgt_hll_type

from headgate.engine.analyze import analyze
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.states.distinct import LG_K, SLOTS, SPARSE, Distinct
from headgate.metrics.states.frequencies import PATTERNS, VALUES, Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.outcome import Distribution
from headgate.values.schema import Kind

DATASETS = 100
STATED_DISTINCT = 1.04 / np.sqrt(SLOTS)


def distinct_of(array: pa.Array, kind: Kind) -> Distinct:
    batch = ColumnBatch(array, kind)
    return Distinct.of(batch.tally.hashes, batch.present)


# --- distinct values


@cache
def distinct_errors() -> npt.NDArray[np.float64]:
    """The relative error for each seed: integers, doubles and strings by turns, 1,000 to 100,000 different ones."""
    errors = []
    for seed in range(DATASETS):
        chance = np.random.default_rng(seed)
        size = int(10 ** chance.uniform(3, 5 if seed % 3 else 4.3))
        numbers = chance.integers(0, 2**62, size)
        match seed % 3:
            case 0:
                array, kind = pa.array(numbers).cast(pa.string()), Kind.STRING
            case 1:
                array, kind = pa.array(numbers), Kind.INTEGER
            case _:
                array, kind = pa.array(numbers / 3.0), Kind.FLOAT
        true = len(array.unique())
        errors.append(distinct_of(array, kind).estimate() / true - 1)
    return np.array(errors)


def test_a_distinct_count_errs_by_no_more_than_its_stated_standard_error() -> None:
    assert float(np.sqrt((distinct_errors() ** 2).mean())) <= 1.2 * STATED_DISTINCT


def test_a_distinct_count_is_seldom_off_by_three_standard_errors() -> None:
    beyond = np.abs(distinct_errors()) > 3 * STATED_DISTINCT
    # a normal error passes three deviations once in 370 times; three of a hundred would be 1 in 400
    assert beyond.sum() <= 2


def test_a_distinct_count_is_not_biased() -> None:
    assert abs(float(distinct_errors().mean())) <= 3 * STATED_DISTINCT / np.sqrt(DATASETS)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 100, 383, SPARSE])
def test_a_distinct_count_is_exact_up_to_384(size: int) -> None:
    for seed in range(20):
        numbers = np.random.default_rng(seed).choice(10**9, size, replace=False)
        assert round(distinct_of(pa.array(numbers), Kind.INTEGER).estimate()) == size


@pytest.mark.parametrize("size", [5, SPARSE, 3_000, 40_000])
@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.FLOAT, Kind.STRING], ids=str)
def test_the_sketch_is_the_one_that_datasketches_builds_value_by_value(kind: Kind, size: int) -> None:
    numbers = np.random.default_rng(size).integers(-(2**62), 2**62, size)
    values: list[Any] = {
        Kind.INTEGER: lambda: numbers.tolist(),
        Kind.FLOAT: lambda: (numbers / 7.0).tolist(),
        Kind.STRING: lambda: [f"{number:x}é" * (1 + number % 5) for number in numbers.tolist()],
    }[kind]()
    theirs = hll_sketch(LG_K, tgt_hll_type.HLL_8)
    for value in values:
        theirs.update(value)
    ours = distinct_of(pa.array(values), kind)
    opened = hll_sketch.deserialize(ours.sketch)
    if size > SPARSE:
        assert ours.sketch[40:] == theirs.serialize_updatable()[40 : 40 + SLOTS]
    else:
        assert coupons(ours.sketch) == coupons(theirs.serialize_compact())
    # a union with itself has no order of arrival either, so it estimates by the registers alone
    union = hll_union(LG_K)
    union.update(theirs)
    union.update(theirs)
    assert opened.lg_config_k == LG_K
    assert opened.get_estimate() == pytest.approx(union.get_result(tgt_hll_type.HLL_8).get_estimate(), rel=1e-9)


def coupons(image: bytes) -> set[int]:
    """Of a sketch in list or set mode: the coupons follow a preamble of two or three words."""
    start = 8 if image[7] & 3 == 0 else 12
    return set(np.frombuffer(image, "<u4", offset=start).tolist()) - {0}


# --- quantiles


def drawn(chance: np.random.Generator, seed: int) -> npt.NDArray[np.float64]:
    size = int(10 ** chance.uniform(2.5, 5))
    match seed % 5:
        case 0:
            return chance.normal(0, 1, size)
        case 1:
            return chance.lognormal(0, 2, size)
        case 2:
            return np.sort(chance.random(size))
        case 3:
            return 1.79e9 + chance.uniform(0, 86_400, size)
        case _:
            return chance.integers(0, 50, size).astype(np.float64)


@cache
def rank_errors() -> npt.NDArray[np.float64]:
    """The largest error of a rank over 199 quantiles for each seed, over columns folded in parts and merged."""
    worst = []
    shares = np.linspace(0.005, 0.995, 199)
    for seed in range(DATASETS):
        values = drawn(np.random.default_rng(seed), seed)
        whole = Quantiles.merge_all([Quantiles.of(part) for part in np.array_split(values, 1 + seed % 7)])
        found, ordered = whole.quantiles(shares), np.sort(values)
        low, high = np.searchsorted(ordered, found, "left"), np.searchsorted(ordered, found, "right")
        # a value that repeats has every rank from its first to its last place
        off = np.maximum(low / len(values) - shares, shares - high / len(values))
        worst.append(max(0.0, float(off.max())))
    return np.array(worst)


def test_a_rank_of_common_distributions_is_within_a_hundredth_of_the_numbers() -> None:
    assert float(rank_errors().max()) <= 0.01
    assert float(np.median(rank_errors())) <= 0.0015


@pytest.mark.parametrize("seed", range(10))
def test_a_quantile_lies_in_the_same_bin_as_the_exact_one(seed: int) -> None:
    values = np.sort(drawn(np.random.default_rng(seed), seed))
    state, shares = Quantiles.of(values), np.linspace(0.01, 0.99, 99)
    exact = values[np.maximum(np.ceil(shares * len(values) - 1e-9).astype(int) - 1, 0)]
    bins = state.bins()
    for found, true in zip(state.quantiles(shares), exact, strict=True):
        at = np.searchsorted(bins.upper_ends, true)
        assert bins.lower_ends[at] <= true <= bins.upper_ends[at]
        assert bins.lower_ends[at] <= found <= bins.upper_ends[at]


def test_a_bin_of_a_histogram_is_within_its_stated_error() -> None:
    for seed in range(DATASETS):
        values = np.random.default_rng(seed).normal(0, 1, 20_000)
        found = analyze(pa.table({"x": values}), ["histogram(x)"]).value("histogram(x, bins=10)")
        assert isinstance(found, Distribution)
        off = np.abs(np.array(list(found.counts.values())) - np.histogram(values, 10)[0])
        assert 0 < found.error < 0.02 * len(values)
        assert (off <= found.error).all()


# --- frequent labels


@pytest.mark.parametrize("capacity", [VALUES, PATTERNS])
def test_the_bound_on_frequent_labels_always_holds(capacity: int) -> None:
    for seed in range(DATASETS):
        chance = np.random.default_rng(seed)
        stream = np.minimum(chance.zipf(chance.uniform(1.05, 2.0), 8_000), 10**9)
        whole = Frequencies()
        for part in np.array_split(stream, 1 + seed % 5):
            values, counts = np.unique(part, return_counts=True)
            whole = whole + Frequencies.of(
                counts, lambda at, values=values: [str(each) for each in values[at]], capacity
            )
        true = Counter(map(str, stream.tolist()))
        bound = len(stream) / (capacity + 1)
        assert whole.lost <= bound
        kept = whole.labels()
        assert len(kept) <= capacity
        assert all(0 <= true[label] - kept.get(label, 0) <= whole.lost for label in true)
        assert {label for label, count in true.items() if count > bound} <= set(kept)
