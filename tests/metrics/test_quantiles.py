"""The distribution of numbers: one state for one set of numbers, however they are read, and older states still read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from datasketches import kll_doubles_sketch
from hypothesis import given
from hypothesis import strategies as st

from headgate.metrics.states.quantiles import MOST_BINS, KllQuantiles, Quantiles
from headgate.metrics.states.text_numbers import KllTextNumbers
from headgate.values.codec import decode, encode

Floats = npt.NDArray[np.float64]

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60)


def many(seed: int) -> Floats:
    """More different numbers than there are bins: of both signs, over many powers, with ties and an outlier."""
    chance = np.random.default_rng(seed)
    size = int(chance.integers(2_000, 20_000))
    values = [
        chance.normal(0, 1, size),
        chance.lognormal(0, 5, size),
        chance.integers(-50_000, 50_000, size).astype(float),
        1.79e9 + chance.uniform(0, 86_400, size),
    ][seed % 4]
    values[: size // 10] = 0.0
    values[-1] = -1e300
    return values


@given(numbers, st.integers(1, 5), st.randoms(use_true_random=False))
def test_few_numbers_are_kept_as_they_are(values: list[float], parts: int, chance: object) -> None:
    state = Quantiles.of(np.array(values))
    assert state.exact
    ordered = np.sort(values)
    shares = np.arange(1, len(values) + 1) / len(values)
    assert state.quantiles(shares).tolist() == ordered.tolist()
    assert state.share_up_to(ordered).tolist() == (np.searchsorted(ordered, ordered, "right") / len(values)).tolist()
    merged = Quantiles.merge_all([Quantiles.of(np.array(values[at::parts])) for at in range(parts)])
    assert merged == state


@pytest.mark.parametrize("seed", range(12))
def test_equal_numbers_give_equal_bytes_in_whatever_order_and_parts(seed: int) -> None:
    values, chance = many(seed), np.random.default_rng(seed)
    whole = encode(Quantiles.of(values), "k")
    for _ in range(4):
        shuffled = chance.permutation(values)
        cuts = np.sort(chance.integers(0, len(values), chance.integers(1, 40)))
        parts = [Quantiles.of(part) for part in np.split(shuffled, cuts)]
        assert encode(Quantiles.merge_all(parts), "k") == whole
        one_by_one = Quantiles()
        for part in parts:
            one_by_one = part + one_by_one
        assert encode(one_by_one, "k") == whole


@pytest.mark.parametrize("seed", range(12))
def test_there_are_no_more_bins_than_so_many_and_they_are_not_wider_than_needed(seed: int) -> None:
    values = many(seed)
    state = Quantiles.of(values)
    bins = state.bins()
    assert MOST_BINS / 4 < len(bins.indices) <= MOST_BINS
    assert (state.low, state.high, state.total) == (values.min(), values.max(), len(values))
    bits = (values + 0.0).view(np.int64)
    in_order = np.where(bits < 0, ~(bits & np.int64(2**63 - 1)), bits)
    assert len(np.unique(in_order >> np.int64(state.shift))) == len(bins.indices)
    assert len(np.unique(in_order >> np.int64(state.shift - 1))) > MOST_BINS
    assert state.is_sound()


def test_zero_has_one_sign_and_whole_numbers_stay_whole() -> None:
    assert Quantiles.of(np.array([0.0, -0.0])) == Quantiles.of(np.array([-0.0, 0.0]))
    median = Quantiles.of(np.arange(100_000.0) * 3 + 1).quantile(0.5)
    assert median == round(median)
    assert not Quantiles.of(np.arange(100_000.0) / 2).whole


def test_the_whole_range_of_doubles_fits() -> None:
    most = float(np.finfo(np.float64).max)
    sizes = np.append(np.geomspace(1e-300, 1e300, 3_000), [5e-324, most])
    state = Quantiles.of(np.concatenate([-sizes, sizes, [0.0]]))
    assert state.is_sound()
    assert (state.quantile(0.0), state.quantile(1.0)) == (-most, most)
    assert abs(state.quantile(0.5)) < 1e-290
    assert decode(encode(state, "k"), "k") == state


@pytest.mark.parametrize("size", [1, 2, 150, 5_000])
def test_a_kll_sketch_of_an_earlier_version_is_read(size: int) -> None:
    values = np.random.default_rng(size).normal(50, 10, size)
    sketch = kll_doubles_sketch(200)
    sketch.update(values)
    state = decode(encode(KllQuantiles(sketch.serialize()), "k"), "k").current()
    assert isinstance(state, Quantiles)
    assert state.is_sound()
    assert (state.total, state.low, state.high) == (size, values.min(), values.max())
    assert state.exact is (size < 200)
    assert state.sampled is (size > 200)
    ranks = np.searchsorted(np.sort(values), state.quantiles(np.linspace(0.05, 0.95, 19)), "right") / size
    assert np.abs(ranks - np.linspace(0.05, 0.95, 19)).max() <= 0.03 + 1 / size
    assert (state + Quantiles.of(values)).sampled is state.sampled
    assert KllTextNumbers(quantiles=KllQuantiles(sketch.serialize())).current().quantiles == state
    assert KllQuantiles().current() == Quantiles()
