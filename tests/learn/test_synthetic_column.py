"""A synthetic column against the column whose states it is made from."""

from __future__ import annotations

import datetime
import secrets

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.learn.past import Past
from headgate.learn.synthetic_column import SYNTHETIC_ROWS, synthesize
from headgate.values.key import MetricKey
from headgate.values.run import Decision
from headgate.values.schema import Kind
from headgate.values.state import State
from tests.learn.histories import commit
from tests.strategies import columns

ROWS = 1_000
SECRET = b"a secret of this test"


def scanned(values: pa.Array) -> Analysis:
    return analyze(pa.table({"c": values}))


def like(values: pa.Array, *, hidden: bool = False) -> pa.Array:
    found = scanned(values)
    states: dict[MetricKey, State] = dict(found.states)
    if hidden:
        states = {key: state.hide_values(SECRET) for key, state in states.items()}
    made = synthesize(found.schema.columns[0], states)
    assert made is not None
    assert len(made) == SYNTHETIC_ROWS
    return made


def with_nulls(values: list[object], share: float, kind: pa.DataType | None = None) -> pa.Array:
    gone = np.random.default_rng(3).random(len(values)) < share
    return pa.array([None if out else value for out, value in zip(gone, values, strict=True)], kind)


def numbers(distribution: str, rows: int = ROWS) -> list[float]:
    random = np.random.default_rng(5)
    drawn = {
        "normal": random.normal(50, 10, rows),
        "skewed": random.lognormal(3, 1, rows),
        "two heaps": np.where(random.random(rows) < 0.3, random.normal(0, 1, rows), random.normal(100, 1, rows)),
        "few values": random.choice([1.0, 2.0, 5.0], rows, p=[0.6, 0.3, 0.1]),
    }
    return [float(each) for each in drawn[distribution]]


def rank_gap(made: pa.Array, column: list[float]) -> float:
    """The Kolmogorov distance of the two samples."""
    one, other = np.sort(made.drop_null().to_numpy(zero_copy_only=False)), np.sort(column)
    points = np.concatenate([one, other])
    below = [np.searchsorted(each, points, side="right") / len(each) for each in (one, other)]
    return float(np.abs(below[0] - below[1]).max())


@pytest.mark.parametrize("distribution", ["normal", "skewed", "two heaps", "few values"])
def test_numbers_have_the_quantiles_of_the_column(distribution: str) -> None:
    values = numbers(distribution)
    assert rank_gap(like(pa.array(values)), values) < 0.03


def test_numbers_keep_their_smallest_and_largest() -> None:
    values = numbers("skewed")
    found = pc.min_max(like(pa.array(values))).as_py()
    assert found == {"min": min(values), "max": max(values)}


def test_whole_numbers_stay_whole() -> None:
    made = like(pa.array(np.random.default_rng(0).poisson(20, ROWS)))
    assert made.type == pa.int64()


@settings(max_examples=25, deadline=None)
@given(st.floats(0.0, 0.98))
def test_as_many_nulls_as_in_the_column(share: float) -> None:
    values = with_nulls(list(numbers("normal", 300)), share)
    expected = values.null_count / len(values)
    assert like(values).null_count / SYNTHETIC_ROWS == pytest.approx(expected, abs=0.5 / SYNTHETIC_ROWS + 1e-9)


@pytest.mark.parametrize("hidden", [False, True])
def test_frequent_texts_have_their_shares(hidden: bool) -> None:
    texts = np.random.default_rng(0).choice(["DE", "FR", "US"], ROWS, p=[0.6, 0.3, 0.1]).tolist()
    made = like(with_nulls(texts, 0.2), hidden=hidden)
    shares = sorted(
        each["counts"] / (SYNTHETIC_ROWS - made.null_count) for each in made.drop_null().value_counts().to_pylist()
    )
    assert made.null_count / SYNTHETIC_ROWS == pytest.approx(0.2, abs=0.05)
    assert shares == pytest.approx([0.1, 0.3, 0.6], abs=0.05)


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["DE", "FR", "FR", None, "USA"] * 40),
        pa.array([f"{at * 7919 % 10**6:06}-{at % 40:06}" for at in range(ROWS)]),
        pa.array(["yes", "no"] * 50 + ["x"]),
        pa.array([True, False, True] * 50),
        pa.array(numbers("skewed")),
    ],
    ids=["codes", "ids", "ties", "booleans", "numbers"],
)
def test_the_sample_does_not_depend_on_whether_values_are_hidden_nor_on_the_secret(values: pa.Array) -> None:
    found = scanned(values)
    samples = [
        synthesize(found.schema.columns[0], {key: state.hide_values(secret) for key, state in found.states.items()})
        for secret in (b"one", b"two", b"three")
    ]
    plain = like(values)
    assert [each is not None and each.equals(plain) for each in samples] == [True, True, True]


@pytest.mark.parametrize("hidden", [False, True])
def test_as_many_distinct_texts_as_in_the_column(hidden: bool) -> None:
    unique = pa.array([f"{at * 7919 % 10**6:06}-{at:06}" for at in range(ROWS)])
    few = pa.array(["red", "green", "blue", "white"] * 250)
    assert len(like(unique, hidden=hidden).unique()) > 0.95 * SYNTHETIC_ROWS
    assert 3 <= len(like(few, hidden=hidden).unique()) <= 4


@pytest.mark.parametrize("hidden", [False, True])
def test_texts_of_letters_with_digits_are_as_distinct_as_in_the_column(hidden: bool) -> None:
    made = like(pa.array([secrets.token_hex(8) for _ in range(ROWS)]), hidden=hidden)
    assert len(made.unique()) > 0.95 * SYNTHETIC_ROWS
    assert pc.mean(pc.utf8_length(made)).as_py() == pytest.approx(16, abs=3)


@pytest.mark.parametrize("hidden", [False, True])
def test_texts_have_the_patterns_and_lengths_of_the_column(hidden: bool) -> None:
    random = np.random.default_rng(0)
    texts = [f"{''.join(random.choice(list('abcdef'), 5))}-{random.integers(1000, 9999)}" for _ in range(ROWS)]
    made = like(pa.array(texts), hidden=hidden)
    assert set(pc.match_substring_regex(made, "^[a-z]+-[0-9]+$").to_pylist()) == {True}
    assert pc.mean(pc.utf8_length(made)).as_py() == pytest.approx(10, abs=1)


@pytest.mark.parametrize("hidden", [False, True])
def test_several_patterns_have_their_shares(hidden: bool) -> None:
    random = np.random.default_rng(0)
    marks = np.where(random.random(ROWS) < 0.3, "AB-", "").tolist()
    texts = [f"{mark}{random.integers(10**6, 10**7)}" for mark in marks]
    made = like(pa.array(texts), hidden=hidden)
    assert pc.mean(pc.match_substring(made, "-").cast(pa.int8())).as_py() == pytest.approx(0.3, abs=0.12)


def test_hidden_states_give_a_sample_without_values_of_the_data() -> None:
    texts = [secrets.token_hex(8) for _ in range(200)] + ["confidential customer"] * 200
    made = like(pa.array(texts), hidden=True)
    assert not set(made.to_pylist()) & set(texts)


def test_no_text_of_the_data_comes_out_of_a_store() -> None:
    store = hg.open_store("memory:")
    texts = ["confidential customer", "a secret name"] * 100
    commit(store, "1", pa.table({"c": texts}), Decision.PUBLISHED)
    past = Past.read(store, "orders")
    made = synthesize(past.schema.columns[0], past.states)
    assert made is not None
    assert len(made.unique()) == 2
    assert not set(made.to_pylist()) & set(texts)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_booleans_have_their_share(share: float) -> None:
    made = like(pa.array((np.arange(ROWS) < share * ROWS).tolist()))
    assert made.type == pa.bool_()
    assert pc.mean(made.cast(pa.int8())).as_py() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.date32()])
def test_moments_lie_where_those_of_the_column_do(kind: pa.DataType) -> None:
    start = datetime.datetime(2026, 3, 1)
    moments = [start + datetime.timedelta(hours=at) for at in range(ROWS)]
    made = like(pa.array(moments, pa.timestamp("us")).cast(kind))
    middle = made.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False) / 1e6
    expected = (start - datetime.datetime(1970, 1, 1)).total_seconds()
    assert middle.min() == pytest.approx(expected, abs=86_400)
    assert np.median(middle) == pytest.approx(expected + ROWS * 1_800, abs=2 * 86_400)


@pytest.mark.parametrize("values", [pa.array(numbers("normal")), pa.array(["a1", "b22", None] * 50)])
def test_the_same_states_give_the_same_sample(values: pa.Array) -> None:
    one, other = (synthesize(each.schema.columns[0], each.states) for each in (scanned(values), scanned(values)))
    assert one is not None
    assert one.equals(other)


def test_columns_of_other_kinds_and_columns_without_a_value_have_none() -> None:
    for values in (pa.array([[1], [2]]), pa.array([None, None], pa.float64()), pa.nulls(3)):
        found = scanned(values)
        assert synthesize(found.schema.columns[0], found.states) is None


def test_without_states_there_is_no_sample() -> None:
    assert synthesize(scanned(pa.array([1.0])).schema.columns[0], {}) is None


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([kind for kind in Kind if kind is not Kind.BOOLEAN]).flatmap(columns))
def test_any_column_has_a_sample_of_the_asked_size_or_none(values: pa.Array) -> None:
    found = scanned(values)
    for states in (found.states, {key: state.hide_values(SECRET) for key, state in found.states.items()}):
        made = synthesize(found.schema.columns[0], states, size=16)
        assert made is None or len(made) == 16
