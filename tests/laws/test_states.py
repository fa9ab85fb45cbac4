"""Every state is a commutative monoid and every fold a homomorphism into it, for every kind that it accepts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import from_key, metrics
from headgate.values.codec import decode, encode
from headgate.values.schema import Kind
from headgate.values.state import State, state_types, tag_of
from tests.laws.cases import Case, assert_same, cases, every_case, instances
from tests.strategies import arrays, of_kind, taken

Batch = list[pa.Array]
each_case = pytest.mark.parametrize("case", cases(), ids=str)


@st.composite
def batches(draw: st.DrawFn, case: Case, *, count: int) -> list[Batch]:
    """Batches of one table: their columns have the same types, and values that come back from batch to batch."""
    pools = [draw(of_kind(kind).flatmap(lambda of: arrays(of, least=1, most=8))) for kind in case.kinds]
    chance = np.random.default_rng(draw(st.integers(0, 2**16)))
    sizes = [int(chance.integers(0, 30)) for _ in range(count)]
    return [[taken(pool, chance.integers(0, len(pool), size)) for pool in pools] for size in sizes]


def states(case: Case, *, count: int) -> st.SearchStrategy[list[State]]:
    return batches(case, count=count).map(lambda drawn: [case.fold(batch) for batch in drawn])


def total(parts: list[State]) -> State:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


@each_case
@given(data=st.data())
def test_the_class_called_without_arguments_is_the_identity(case: Case, data: st.DataObject) -> None:
    (state,) = data.draw(states(case, count=1))
    nothing = case.metric.state()
    assert encode(state + nothing, "k") == encode(state, "k") == encode(nothing + state, "k")
    assert nothing + nothing == nothing


@each_case
def test_a_batch_without_rows_folds_to_the_identity(case: Case) -> None:
    empty = [arrays_of_no_rows(kind) for kind in case.kinds]
    assert_same(case.fold(empty) + case.metric.state(), case.metric.state())
    assert case.metric.measure(case.fold(empty)) == case.metric.measure(case.metric.state())


def arrays_of_no_rows(kind: str) -> pa.Array:
    types = {"integer": pa.int64(), "float": pa.float64(), "decimal": pa.decimal128(9, 2), "boolean": pa.bool_()}
    others = {"string": pa.string(), "date": pa.date32(), "timestamp": pa.timestamp("us"), "binary": pa.binary()}
    return pa.array([], {**types, **others}.get(kind, pa.list_(pa.int64())))


@each_case
@given(data=st.data())
def test_merging_is_commutative(case: Case, data: st.DataObject) -> None:
    one, two = data.draw(states(case, count=2))
    assert_same(one + two, two + one)


@each_case
@given(data=st.data())
def test_merging_is_associative(case: Case, data: st.DataObject) -> None:
    one, two, three = data.draw(states(case, count=3))
    assert_same((one + two) + three, one + (two + three))


@each_case
@given(data=st.data(), count=st.integers(0, 5))
def test_many_at_once_merge_as_one_after_the_other(case: Case, data: st.DataObject, count: int) -> None:
    parts = data.draw(states(case, count=count))
    assert_same(case.metric.state.merge_all(parts), total([case.metric.state(), *parts]))


@each_case
@given(data=st.data(), count=st.integers(1, 6))
def test_any_of_a_stack_merge_as_one_after_the_other(case: Case, data: st.DataObject, count: int) -> None:
    parts = [*data.draw(states(case, count=count)), case.metric.state()]
    chosen = data.draw(st.lists(st.sampled_from(range(count + 1)), unique=True))
    stack = case.metric.state.stack(parts)
    expected = total([case.metric.state(), *(parts[at] for at in chosen)])
    assert_same(stack.merge_rows(np.array(chosen, np.intp)), expected)


@each_case
@given(data=st.data())
def test_the_stored_form_reads_back_as_it_was(case: Case, data: st.DataObject) -> None:
    (state,) = data.draw(states(case, count=1))
    stored = encode(state, str(case.metric.state_key))
    again = decode(stored, str(case.metric.state_key))
    assert type(again) is type(state)
    assert encode(again, str(case.metric.state_key)) == stored


@each_case
@given(data=st.data())
def test_the_fold_of_a_whole_is_the_sum_of_the_folds_of_its_parts(case: Case, data: st.DataObject) -> None:
    (whole,) = data.draw(batches(case, count=1))
    rows = len(whole[0])
    cuts = sorted(data.draw(st.lists(st.integers(0, rows), max_size=4)))
    spans = list(zip([0, *cuts], [*cuts, rows], strict=True))
    parts = [case.fold([column.slice(low, high - low) for column in whole]) for low, high in spans]
    assert_same(total(parts), case.fold(whole))


@each_case
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(case: Case, data: st.DataObject) -> None:
    (whole,) = data.draw(batches(case, count=1))
    order = np.random.default_rng(data.draw(st.integers(0, 2**16))).permutation(len(whole[0]))
    assert_same(case.fold([taken(column, order) for column in whole]), case.fold(whole))


COUNTING = [case for case in cases() if not case.metric.reads_values]


@pytest.mark.parametrize("case", COUNTING, ids=str)
@given(data=st.data())
def test_a_metric_that_says_it_reads_no_values_reads_none(case: Case, data: st.DataObject) -> None:
    ((column,),) = data.draw(batches(case, count=1))
    marks = [None] * column.null_count + [True] * (len(column) - column.null_count)
    as_marks = Case(case.metric, (Kind.BOOLEAN,))
    assert_same(as_marks.fold([pa.array(marks, pa.bool_())]), case.fold([column]))


# --- nothing escapes the laws


def test_every_registered_metric_has_a_case() -> None:
    with_state = [kind for kind in metrics().values() if not issubclass(kind, SchemaMetric)]
    assert {case.metric.name for case in every_case()} == {kind.name for kind in with_state}
    assert {case.metric.folded for case in cases()} == {kind.folded for kind in with_state}


def test_metrics_that_name_one_state_have_one_fold() -> None:
    folds: dict[str, set[object]] = {}
    for case in every_case():
        folds.setdefault(case.metric.folded, set()).add((getattr(type(case.metric), "fold", None), case.metric.state))
    assert {name: len(found) for name, found in folds.items()} == dict.fromkeys(folds, 1)


@pytest.mark.parametrize("kind", metrics().values(), ids=list(metrics()))
def test_a_metric_is_found_again_by_the_text_of_its_key(kind: type) -> None:
    for metric, _ in instances(kind):
        assert from_key(str(metric.key)) == metric


@pytest.mark.parametrize("kind", state_types().values(), ids=list(state_types()))
def test_a_state_type_has_a_stored_name_and_a_default_for_every_field(kind: type[State]) -> None:
    assert tag_of(kind).isidentifier()
    assert tag_of(kind) == tag_of(kind).lower()
    assert kind().current() + kind().current() == kind().current()
