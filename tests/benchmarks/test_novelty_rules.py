"""Rules and tests of the novelty benchmark, and its reading of weekly posts."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.novelty.data import read_tsv
from benchmarks.novelty.gates import Pair, gated
from benchmarks.novelty.rules import LEARNERS, joined, p_value, statistical_tests, tfdv_schema


def orders(day: int, rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(day)
    return pa.table({"price": rng.normal(50.0, 5.0, rows).round(3), "country": rng.choice(["DE", "FR", "US"], rows)})


def test_quotation_marks_and_carriage_returns_are_read_as_they_are(tmp_path):
    file = tmp_path / "posts.tsv.gz"
    file.write_bytes(gzip.compress(b'likes\ttext\r\n1\t"he said\r\n\tno\r\n'))
    found = read_tsv(file)
    assert found.to_pydict() == {"likes": [1, None], "text": ['"he said', "no"]}


def test_rules_learn_from_the_newest_batches():
    batches = [orders(day, rows=10 + day) for day in range(5)]
    assert [joined(batches, mode).num_rows for mode in ("last", "last 3", "all")] == [14, 39, 60]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_flags_a_country_that_nobody_knew_in_half_of_the_rows(name):
    history = pa.concat_tables([orders(day) for day in range(8)])
    strange = orders(9).set_column(1, "country", pa.array(["DE", "Narnia"] * 200))
    judge = LEARNERS[name](history)
    assert judge(strange)
    assert not judge(orders(10))


def test_a_schema_flags_what_is_missing_where_nothing_was():
    judge = tfdv_schema(orders(1))
    assert judge(orders(2).set_column(0, "price", pa.array([None] + [50.0] * 399)))


def test_tests_flag_numbers_from_elsewhere():
    judge = statistical_tests(orders(1))
    assert judge(orders(2).set_column(0, "price", pa.array(np.full(400, 70.0))))


def test_columns_without_values_differ_in_nothing():
    empty = pa.chunked_array([pa.nulls(5, pa.float64())])
    assert p_value(empty, pa.chunked_array([[1.0, 2.0]])) == 1.0


def test_the_gate_judges_both_versions_and_learns_from_the_clean_one():
    def pair(day: int) -> Pair:
        broken = orders(day).set_column(0, "price", pa.array([None] * 400, pa.float64())) if day >= 12 else None
        return Pair(f"2026-01-{day + 1:02d}", orders(day), broken)

    found = gated(map(pair, range(15)), budget=0.01, runs=30)
    assert found.labels == {f"2026-01-{day + 1:02d}": (False, True) for day in range(12, 15)}
    assert len(found.seconds) == 6
    assert not found.faults["clean"]
    assert found.faults["broken"]["completeness(price)"] == 3
