"""Tables of every kind, broken on purpose."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headgate as hg
from headgate.inject.increased_nulls import IncreasedNulls
from headgate.inject.inject import inject_issue
from headgate.inject.issue import Issue, issue, standard
from headgate.values.errors import MisuseError
from headgate.values.schema import Kind

ORDERS = pa.table(
    {
        "id": range(100),
        "price": [each / 4 for each in range(100)],
        "region": ["EU", "US"] * 50,
        "weight": [100.0] * 100,
        "city": ["Berlin", "Paris"] * 50,
    }
)
KINDS: dict[str, Any] = {
    "pyarrow": ORDERS,
    "batch": ORDERS.to_batches()[0],
    "pandas": ORDERS.to_pandas(),
    "polars": pl.from_arrow(ORDERS),
    "lazy": pl.from_arrow(ORDERS).lazy(),  # type: ignore[union-attr]
}


def as_table(data: Any) -> pa.Table:
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data, preserve_index=False)
    return pa.table(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_comes_back_in_its_kind_with_one_column_changed(kind: str) -> None:
    after = inject_issue(KINDS[kind], "increased_nulls", "price", share=0.5, value="null")
    assert type(after) is type(KINDS[kind])
    table = as_table(after)
    assert table.column_names == ORDERS.column_names
    assert table["price"].null_count == 50
    assert table["id"].to_pylist() == ORDERS["id"].to_pylist()
    assert as_table(KINDS[kind])["price"].null_count == 0


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_and_go_whole(kind: str) -> None:
    table = as_table(inject_issue(KINDS[kind], "volume_change", factor=0.1))
    assert table.num_rows == 10
    assert [each / 4 for each in table["id"].to_pylist()] == table["price"].to_pylist()


def test_every_kind_of_table_breaks_in_the_same_way() -> None:
    found = [as_table(inject_issue(data, "character_deletion", "city", share=0.5, seed=3)) for data in KINDS.values()]
    assert len({tuple(table["city"].to_pylist()) for table in found}) == 1


def test_a_seed_decides() -> None:
    def cities(seed: int) -> Any:
        return inject_issue(ORDERS, "casing_change", "city", share=0.5, seed=seed)["city"].to_pylist()

    assert cities(1) == cities(1) != cities(2)


def test_an_issue_may_be_a_name_a_text_or_a_value() -> None:
    named = inject_issue(ORDERS, "increased_nulls", "price", share=0.5)
    assert inject_issue(ORDERS, "increased_nulls(share=0.5)", "price") == named
    assert inject_issue(ORDERS, IncreasedNulls(0.5), "price") == named


def test_the_nearest_column_of_the_kind_is_the_neighbour() -> None:
    after = inject_issue(ORDERS, "schema_change", "price", share=1.0)
    assert set(after["price"].to_pylist()) == {100.0}
    told = inject_issue(ORDERS, "schema_change", "city", share=1.0, neighbour="region")
    assert set(told["city"].to_pylist()) == {"EU", "US"}
    given = inject_issue(ORDERS, "schema_change", "id", share=1.0, neighbour=pa.array([-1]))
    assert set(given["id"].to_pylist()) == {-1}


def test_the_second_of_two_columns_of_one_name_is_numbered() -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    after = inject_issue(twice, "unit_change", "a#2", factor=10)
    assert [column.to_pylist() for column in after.columns] == [[1], [20]]
    frame = inject_issue(pd.DataFrame([[1, 2]], columns=["a", "a"]), "unit_change", "a#2", factor=10)
    assert frame.to_numpy().tolist() == [[1, 20]]


def test_a_field_keeps_its_metadata_and_may_become_nullable() -> None:
    field = pa.field("a", pa.int64(), nullable=False, metadata={"unit": "kg"})
    table = pa.table([pa.array([1, 2])], schema=pa.schema([field], metadata={"of": "us"}))
    after = inject_issue(table, "increased_nulls", "a", share=0.5, value="null")
    assert after.schema.field("a") == field.with_nullable(True)
    assert after.schema.metadata == {b"of": b"us"}


def test_pandas_keeps_its_nullable_types_and_its_index() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([2**60 + 1, 2, None, 4], "Int64"),
            "text": pd.array(["a", "b", None, "d"], "string"),
            "group": pd.Categorical(["x", "y", "x", None]),
        },
        index=[9, 8, 7, 6],
    )
    nulls = inject_issue(frame, "increased_nulls", "whole", share=0.5, value="null", seed=1)
    assert nulls["whole"].dtype == "Int64"
    assert set(nulls["whole"].dropna()) < {2**60 + 1, 2, 4}
    padded = inject_issue(frame, "whitespace_padding", "text", share=1.0)
    assert padded["text"].dtype == "string"
    cased = inject_issue(frame, "casing_change", "group", share=1.0)
    assert isinstance(cased["group"].dtype, pd.CategoricalDtype)
    assert cased["group"].tolist()[:3] == ["X", "Y", "X"]
    for after in (nulls, padded, cased):
        assert after.index.tolist() == [9, 8, 7, 6]


def test_an_empty_table_stays_empty() -> None:
    empty = ORDERS.slice(0, 0)
    assert inject_issue(empty, "unit_change", "price", factor=10) == empty
    assert inject_issue(empty, "volume_change", factor=10).num_rows == 0
    batch = inject_issue(pa.RecordBatch.from_pylist([], ORDERS.schema), "unit_change", "price", factor=10)
    assert batch.num_rows == 0


def test_what_speaks_arrow_is_a_table() -> None:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return ORDERS.__arrow_c_stream__(requested_schema)

    assert inject_issue(Stream(), "unit_change", "weight", factor=10)["weight"].to_pylist() == [1000.0] * 100


@pytest.mark.parametrize(
    ("arguments", "parameters", "message"),
    [
        (("increased_nuls", "price"), {}, "no issue is named 'increased_nuls'; .*Did you mean 'increased_nulls'"),
        (("unit_change", "prise"), {"factor": 10}, "no column is named 'prise'; .*Did you mean 'price'"),
        (("unit_change", "city"), {"factor": 10}, "unit_change cannot happen to a string column; these can: casing"),
        (("unit_change",), {"factor": 10}, "happens to a column; there are id, price"),
        (("unit_change", "price"), {}, r"unit_change needs factor. Write factor=10.0"),
        (("unit_change", "price"), {"faktor": 10}, "no parameter 'faktor'; .*Did you mean 'factor'"),
        (("volume_change", "price"), {"factor": 10}, "whole rows. Leave the column out"),
        (("unit_change(factor=2.0)", "price"), {"factor": 10}, "has its parameters"),
        (("unit_change(price)", "price"), {}, "names columns or rows"),
        (("schema_change", "id"), {"share": 1}, "no other integer column beside 'id'"),
        (("schema_change", "city"), {"share": 1, "neighbour": "town"}, "no column is named 'town'"),
    ],
)
def test_misuse_says_what_to_write(arguments: tuple[Any, ...], parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        inject_issue(ORDERS, *arguments, **parameters)


def test_a_spark_frame_is_refused_with_the_way_out() -> None:
    spark = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe", "__arrow_c_stream__": None})
    with pytest.raises(MisuseError, match=r"limit\(10_000\)\.toArrow\(\)"):
        inject_issue(spark(), "volume_change", factor=2)
    with pytest.raises(MisuseError, match=r"builtins\.int is not a table"):
        inject_issue(3, "volume_change", factor=2)


def test_a_column_of_a_frame_that_arrow_cannot_take_is_told_by_name() -> None:
    frame = pd.DataFrame({"mixed": [1, "a", np.nan]})
    with pytest.raises(MisuseError, match="'mixed' has no Arrow type"):
        inject_issue(frame, "increased_nulls", "mixed", share=0.5)


def test_an_issue_of_ones_own_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.inject.issue._found", dict(hg.issues()))

    @issue
    class SignFlip(Issue, frozen=True):
        name: ClassVar[str] = "sign_flip"
        accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.FLOAT})

        def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
            return pc.negate(values)

    prices = pa.table({"price": [1.5, None]})
    assert inject_issue(prices, "sign_flip", "price")["price"].to_pylist() == [-1.5, None]
    assert [str(each) for each in standard(Kind.FLOAT) if each.name == "sign_flip"] == []


def test_a_name_that_is_taken_or_no_name_is_refused() -> None:
    with pytest.raises(MisuseError, match="two issues are named 'unit_change'"):
        issue(type("Other", (Issue,), {"name": "unit_change", "__module__": "elsewhere"}))
    with pytest.raises(MisuseError, match="snake_case"):
        issue(type("Other", (Issue,), {"name": "Unit change"}))


def test_the_public_face_has_it_whatever_was_imported_first() -> None:
    assert "headgate.inject.inject" in sys.modules
    assert hg.inject_issue is inject_issue
    assert "increased_nulls" in hg.issues()
