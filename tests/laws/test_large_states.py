"""The laws where a state is full: sketches past what they hold exactly, groups cut in pieces, columns of thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.scan import Accumulator, gather
from headgate.metrics.states.distinct import SPARSE, Distinct
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.schema import Kind
from headgate.values.state import State
from tests.laws.cases import Case, assert_same, cases
from tests.strategies import frequencies

ROWS = 5_000
each_case = pytest.mark.parametrize("case", cases(), ids=str)


@cache
def column(kind: Kind, seed: int) -> pa.Array:
    """Thousands of values with nulls: nearly unique ones from an even seed, a few that repeat from an odd one."""
    chance = np.random.default_rng(seed)
    numbers = chance.integers(0, 10**9 if seed % 2 == 0 else 40, ROWS)
    absent = chance.random(ROWS) < 0.1
    match kind:
        case Kind.FLOAT:
            whole = pa.array(np.where(numbers % 50 == 0, np.nan, numbers / 7), mask=absent, from_pandas=False)
        case Kind.STRING:
            whole = pa.array([text(int(number)) for number in numbers], pa.string(), mask=absent)
        case Kind.BINARY:
            whole = pa.array([text(int(number)).encode()[1:] for number in numbers], pa.binary(), mask=absent)
        case Kind.OTHER:
            whole = pa.array([[int(number)] for number in numbers], pa.list_(pa.int64()), mask=absent)
        case _:
            whole = pa.array(numbers, mask=absent).cast(_TYPES[kind])
    return whole


_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.DECIMAL: pa.decimal128(38, 2),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.timestamp("s"),
    Kind.TIMESTAMP: pa.timestamp("s"),
}


def text(number: int) -> str:
    """Short ones, long ones, some beyond ASCII, a few past every bound on length."""
    tail = {0: "é😀", 1: "-x" * 40, 2: "y" * (300 if number % 7 else 3_000)}.get(number % 31, "")
    return f"{number:x}-{number % 100}{tail}"


def columns(case: Case, seed: int) -> list[pa.Array]:
    found = [column(kind, seed + 2 * at) for at, kind in enumerate(case.kinds)]
    return [each.cast(pa.date32()) if kind is Kind.DATE else each for each, kind in zip(found, case.kinds, strict=True)]


def in_parts(batch: list[pa.Array]) -> list[list[pa.Array]]:
    cuts = [0, 1, 700, 2_300, ROWS]
    return [[each.slice(low, high - low) for each in batch] for low, high in pairwise(cuts)]


def summed(parts: list[State]) -> State:
    held = Accumulator()
    for part in parts:
        held.add(part)
    whole = held.take()
    assert whole is not None
    return whole


@each_case
@pytest.mark.parametrize("seed", [0, 1], ids=["nearly unique", "few values"])
def test_the_fold_of_thousands_is_the_sum_of_the_folds_of_its_parts(case: Case, seed: int) -> None:
    batch = columns(case, seed)
    whole, parts = case.fold(batch), summed([case.fold(part) for part in in_parts(batch)])
    if isinstance(whole, Frequencies) and isinstance(parts, Frequencies):
        assert parts.total == whole.total
        assert parts == whole or (parts.lost and whole.lost)
        assert_bound(parts)
        assert_bound(whole)
    else:
        assert_same(parts, whole)


def assert_bound(state: Frequencies) -> None:
    assert len(state.labels()) <= state.capacity
    assert state.lost <= state.total / (state.capacity + 1)


@each_case
@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_pieces_of_a_state_merge_apart_and_gather_to_the_whole(case: Case, count: int) -> None:
    batch = columns(case, seed=0)
    piled: dict[int, State] = {}
    for part in in_parts(batch):
        for at, piece in case.fold(part).pieces(count).items():
            assert 0 <= at < count
            piled[at] = piled[at] + piece if at in piled else piece
    whole, gathered = case.fold(batch), gather([piled[at] for at in sorted(piled)])
    assert gathered is not None
    if not isinstance(whole, Frequencies):
        assert_same(gathered, whole)


@each_case
def test_what_is_left_of_a_shrunk_state_measures_the_same(case: Case) -> None:
    whole = case.fold(columns(case, seed=0))
    pieces = list(whole.pieces(5).values())
    shrunk = gather([pieces[0].shrink(), *pieces[1:]])
    assert shrunk is not None
    assert case.metric.measure(shrunk) == case.metric.measure(whole)


# --- the most frequent labels, past their capacity


@st.composite
def streams(draw: st.DrawFn) -> list[Counter[str]]:
    """Parts of a stream of labels, some frequent and many rare."""
    chance = np.random.default_rng(draw(st.integers(0, 2**20)))
    skew = draw(st.floats(1.1, 3.0))
    sizes = draw(st.lists(st.integers(0, 400), min_size=1, max_size=6))
    return [Counter(f"v{label % 300}" for label in chance.zipf(skew, size).tolist()) for size in sizes]


@pytest.mark.parametrize("merge", [summed, Frequencies.merge_all], ids=["one by one", "at once"])
@settings(max_examples=100)
@given(parts=streams(), capacity=st.integers(1, 40))
def test_a_label_is_understated_by_at_most_what_was_lost(
    parts: list[Counter[str]], capacity: int, merge: Callable[[list[State]], State]
) -> None:
    true = sum(parts, Counter())
    state = merge([frequencies(part, capacity) for part in parts])
    assert isinstance(state, Frequencies)
    assert state.total == true.total()
    assert state.lost <= state.total / (capacity + 1)
    kept = state.labels()
    assert len(kept) <= capacity
    for label, count in true.items():
        assert count - state.lost <= kept.get(label, 0) <= count
        assert label in kept or count <= state.total / (capacity + 1)


@settings(max_examples=100)
@given(streams())
def test_frequencies_are_exact_while_there_are_no_more_labels_than_capacity(parts: list[Counter[str]]) -> None:
    true = sum(parts, Counter())
    state = summed([frequencies(part, max(1, len(true))) for part in parts])
    assert isinstance(state, Frequencies)
    assert (state.labels(), state.total, state.lost) == (dict(true), true.total(), 0)


# --- distinct values, around the bound between a set and registers


@pytest.mark.parametrize("distinct", [1, SPARSE - 1, SPARSE, SPARSE + 1, 2_000])
@pytest.mark.parametrize("kind", [Kind.STRING, Kind.INTEGER], ids=str)
def test_equal_sets_of_values_give_equal_bytes_however_they_came(kind: Kind, distinct: int) -> None:
    case = next(case for case in cases() if case.metric.state is Distinct and case.kinds == (kind,))
    values: list[int | None] = [None, *range(distinct)]
    typed = pa.string() if kind is Kind.STRING else pa.int64()
    once = pa.array([None if value is None else value * 31 for value in values]).cast(typed)
    often = pa.concat_arrays([once] * (1 + 6_000 // len(once)))
    one, whole = case.fold([once]), case.fold([often])
    apart = summed([case.fold([often.slice(at, 97)]) for at in range(0, len(often), 97)])
    assert isinstance(one, Distinct)
    assert isinstance(whole, Distinct)
    assert isinstance(apart, Distinct)
    assert one.sketch == whole.sketch == apart.sketch
