"""Splits of a table: each row is on one side, and the share of training rows depends on the size."""

from __future__ import annotations

import pandas as pd
import polars
import pyarrow as pa
import pytest

from headgate.learn.rules.split import SMALL_TABLE, share_of, split_rows
from headgate.metrics.max import Max
from headgate.metrics.size import Size
from headgate.metrics.sum import Sum
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured

ROWS = 1_000
TABLE = pa.table({"id": list(range(ROWS))})


def test_training_and_held_out_rows_are_together_the_table() -> None:
    training, rest = split_rows(TABLE, 0.3, seed=1).measure([Size(), Sum("id"), Max("id")])
    totals = [training[metric].value + rest[metric].value for metric in (Size(), Sum("id"))]
    assert totals == [ROWS, ROWS * (ROWS - 1) / 2]
    assert isinstance(training[Size()], Measured)
    assert 200 < training[Size()].value < 400


def test_the_same_seed_splits_alike_and_another_does_not() -> None:
    first, again, other = (split_rows(TABLE, 0.5, seed).training for seed in (7, 7, 8))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("convert", [pa.Table.to_pandas, polars.from_arrow], ids=["pandas", "polars"])
def test_every_kind_of_table_is_split_in_the_same_rows(convert: object) -> None:
    expected = split_rows(TABLE, 0.5, seed=0).training["id"].to_pylist()
    training = split_rows(convert(TABLE), 0.5, seed=0).training  # type: ignore[operator]
    assert isinstance(training, pd.DataFrame | polars.DataFrame)
    assert list(training["id"]) == expected


def test_the_default_share_falls_from_a_half_to_a_tenth() -> None:
    shares = [share_of(rows) for rows in (0, SMALL_TABLE - 1, SMALL_TABLE, 40_000, 10**6)]
    assert shares == [0.5, 0.5, 0.5, 0.25, 0.1]


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5])
def test_a_share_that_leaves_one_side_empty_is_refused(share: float) -> None:
    with pytest.raises(MisuseError, match="no rows to train"):
        split_rows(TABLE, share, seed=0)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(MisuseError, match="is not a batch"):
        split_rows([1, 2], None, seed=0)
