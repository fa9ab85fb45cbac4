"""The columns of a lake that carry a tag."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from headgate.learn.patterns.find_columns import find_columns
from headgate.learn.patterns.index import PatternIndex
from headgate.values.errors import MisuseError
from tests.learn.patterns import lakes


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    mostly = [*lakes.column(lakes.iso, size=95, seed=9), *["-"] * 5]
    pq.write_table(
        pa.table({"when": lakes.column(lakes.iso, seed=1), "what": lakes.column(lakes.phrase)}), folder / "a.parquet"
    )
    pc.write_csv(pa.table({"code": lakes.column(lakes.code), "day": mostly}), folder / "b.csv")
    return folder


def test_the_columns_that_carry_a_tag_are_found(lake: Path, tmp_path: Path) -> None:
    with lakes.index(tmp_path / "lake.hgi") as index:
        tag = index.tag(lakes.column(lakes.iso, seed=5))
    assert tag is not None
    found = find_columns(tag, lake)
    assert [(Path(each.table).name, each.column, each.share) for each in found] == [
        ("a.parquet", "when", 1.0),
        ("b.csv", "day", 0.95),
    ]
    assert [each.column for each in find_columns(tag, [lake], least=0.99)] == ["when"]


def test_a_share_of_nothing_is_no_share(lake: Path, tmp_path: Path) -> None:
    tag = PatternIndex.tag(lakes.index(tmp_path / "lake.hgi"), lakes.column(lakes.iso))
    with pytest.raises(MisuseError, match="least is 0"):
        find_columns(tag, lake, least=0)
