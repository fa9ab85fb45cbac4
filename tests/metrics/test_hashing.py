"""Values have the same hashes however many are hashed at once, and in whatever company."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import hash_bytes, hash_value
from headgate.metrics.base.tally import hash_together
from headgate.values.schema import Kind

VALUES = st.lists(st.binary(max_size=70), min_size=1, max_size=40)


def hash_all(values: list[bytes]) -> list[tuple[int, int]]:
    data, offsets = np.frombuffer(b"".join(values), np.uint8), np.cumsum([0, *map(len, values)])
    first, second = hash_bytes(data, offsets)
    return list(zip(first.tolist(), second.tolist(), strict=True))


@given(VALUES)
def test_few_values_hash_as_many_do(values: list[bytes]) -> None:
    many = hash_all([*values, *map(bytes, range(50))])
    assert many[: len(values)] == hash_all(values) == [hash_value(value) for value in values]


def test_columns_hash_together_as_each_does_alone() -> None:
    columns = [
        (pa.array(["a", "bb", None, "a"]), Kind.STRING),
        (pa.array(["x" * 2000, "é", "", "y" * 40]), Kind.STRING),
        (pa.array([1.5, float("nan"), float("nan"), -0.0]), Kind.FLOAT),
        (pa.array([], pa.string()), Kind.STRING),
        (pa.array([3, 3, None, 2**60]), Kind.INTEGER),
        (pa.array([None, None], pa.int64()), Kind.INTEGER),
    ]
    together = [ColumnBatch(*column).tally for column in columns]
    hash_together(together)
    for column, tally in zip(columns, together, strict=True):
        alone = ColumnBatch(*column).tally
        assert [each.tolist() for each in tally.hashes] == [each.tolist() for each in alone.hashes]
