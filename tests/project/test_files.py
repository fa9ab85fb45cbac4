"""Batches in files, read by this process: every format, odd files, fingerprints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

from headgate.project.dataset import Dataset
from headgate.values.errors import ConfigError, EngineError
from tests.project.files import opened

ROWS = pa.table({"id": [1, 2, 3], "price": [1.5, None, 3.0], "name": ["a", "b,c", "d"]})


def orders(folder: Path, source: str, more: str = "") -> Dataset:
    text = f'store: "memory:"\ndatasets:\n  orders:\n    source: {source}\n{more}'
    return opened(folder, text).dataset("orders")


def table(data: Any) -> pa.Table:
    assert isinstance(data, ds.Dataset)
    return data.to_table()


def day(folder: Path, name: str = "1") -> Path:
    place = folder / "lake" / f"day={name}"
    place.mkdir(parents=True, exist_ok=True)
    return place


def write_json(rows: pa.Table, file: Path) -> None:
    import json

    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows.to_pylist()), encoding="utf-8")


WRITERS = {"parquet": pq.write_table, "csv": pc.write_csv, "orc": po.write_table, "json": write_json}


@pytest.mark.parametrize("form", WRITERS)
def test_a_batch_of_every_format_is_read(form: str, tmp_path: Path) -> None:
    WRITERS[form](ROWS, day(tmp_path) / f"a.{form}")
    found = table(orders(tmp_path, f'{{format: {form}, path: "lake/day={{partition}}"}}').read("1"))
    assert found.to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize("form", WRITERS)
def test_a_batch_has_the_columns_of_all_its_files(form: str, tmp_path: Path) -> None:
    WRITERS[form](pa.table({"id": [1]}), day(tmp_path) / f"a.{form}")
    WRITERS[form](pa.table({"id": [2.5], "new": ["x"]}), day(tmp_path) / f"b.{form}")
    found = table(orders(tmp_path, f'{{format: {form}, path: "lake/day={{partition}}"}}').read("1"))
    assert found.to_pylist() == [{"id": 1.0, "new": None}, {"id": 2.5, "new": "x"}]


def test_folders_below_a_batch_become_columns(tmp_path: Path) -> None:
    for hour in ("00", "01"):
        place = day(tmp_path) / f"hour={hour}"
        place.mkdir()
        pq.write_table(pa.table({"id": [int(hour)]}), place / "a.parquet")
    found = table(orders(tmp_path, '{path: "lake/day={partition}"}').read("1"))
    assert found.to_pylist() == [{"id": 0, "hour": 0}, {"id": 1, "hour": 1}]


def test_options_of_csv_files_are_those_of_spark(tmp_path: Path) -> None:
    (tmp_path / "a-1.csv").write_text("1;'x;y';NA\n2;z;3\n", encoding="latin-1")
    options = "{sep: ';', header: false, quote: \"'\", nullValue: NA, encoding: latin-1}"
    found = table(orders(tmp_path, f'{{format: csv, path: "a-{{partition}}.csv", options: {options}}}').read("1"))
    assert found.to_pylist() == [{"f0": 1, "f1": "x;y", "f2": None}, {"f0": 2, "f1": "z", "f2": 3}]


def test_the_type_of_a_csv_column_is_told_from_all_of_the_file(tmp_path: Path) -> None:
    rows = "".join(f"{at},{'x' * 50}\n" for at in range(40_000))
    (tmp_path / "a.csv").write_text(f"id,name\n{rows}late,x\n")
    assert (tmp_path / "a.csv").stat().st_size > 2_000_000
    assert table(orders(tmp_path, "{format: csv, path: a.csv}").read("1"))["id"][-1].as_py() == "late"


BAD = [
    ("{format: csv, path: a.csv, options: {seperator: x}}", "no option 'seperator'", "engine: spark"),
    ("{format: csv, path: a.csv, options: {sep: ab}}", "'sep' cannot be this", 'options: {sep: ";"}'),
    ("{format: csv, path: a.csv, options: {header: maybe}}", "'header' is true or false", "options: {header: false}"),
    ("{format: parquet, path: a.csv, options: {mergeSchema: true}}", "no option 'mergeSchema'", "engine: spark"),
]


@pytest.mark.parametrize(("source", "wrong", "write"), BAD)
def test_an_option_that_cannot_be_used_says_what_to_write(source: str, wrong: str, write: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ConfigError) as caught:
        orders(tmp_path, source).read("1")
    assert "headgate.yml:4: datasets.orders.source.options" in str(caught.value)
    assert wrong in str(caught.value)
    assert write in caught.value.hint


@pytest.mark.parametrize("form", ["parquet", "orc", "json"])
def test_files_of_another_format_are_told(form: str, tmp_path: Path) -> None:
    (day(tmp_path) / "a").write_bytes(b"no such thing at all\n" * 10)
    with pytest.raises(EngineError, match=f"orders 1 cannot be read as {form}"):
        orders(tmp_path, f'{{format: {form}, path: "lake/day={{partition}}"}}').read("1")


def test_files_that_disagree_are_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1]}), day(tmp_path) / "a.parquet")
    pq.write_table(pa.table({"id": [["x"]]}), day(tmp_path) / "b.parquet")
    with pytest.raises(EngineError, match=r"orders 1 cannot be read as parquet: .*id"):
        orders(tmp_path, '{path: "lake/day={partition}"}').read("1")


def test_rows_of_one_file_are_told_apart_by_a_column(tmp_path: Path) -> None:
    days = pa.array(["2026-11-14", "2026-11-14", "2026-11-15", None]).cast(pa.date32())
    pq.write_table(pa.table({"day": days, "id": [1, 2, 3, 4]}), tmp_path / "a.parquet")
    found = orders(tmp_path, "{path: a.parquet, where: \"day = '{partition}'\"}")
    assert found.partitions() == ("2026-11-14", "2026-11-15")
    assert table(found.read("2026-11-14"))["id"].to_pylist() == [1, 2]
    assert found.gate.judge(found.read("2026-11-14"), "2026-11-14").passed
    with pytest.raises(EngineError, match="yesterday is no value of the column day, which is date32"):
        found.read("yesterday")


def test_a_column_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    pq.write_table(pa.table({"day": ["1"]}), tmp_path / "a.parquet")
    found = orders(tmp_path, "{path: a.parquet, where: \"dya = '{partition}'\"}")
    with pytest.raises(EngineError, match=r"names the column 'dya'; there are day\. Did you mean 'day'"):
        found.partitions()


def test_other_predicates_need_spark(tmp_path: Path) -> None:
    found = orders(tmp_path, "{path: a.parquet, where: \"day >= '{partition}'\"}")
    with pytest.raises(ConfigError, match=r"headgate.yml:4: datasets.orders.source.where: .* or engine: spark"):
        found.read("1")


def test_files_tell_one_input_from_another(tmp_path: Path) -> None:
    file = day(tmp_path) / "a.parquet"
    pq.write_table(ROWS, file)
    source = '{path: "lake/day={partition}"}'
    first = orders(tmp_path, source).identify_files("1")
    assert first
    assert orders(tmp_path, source).identify_files("1") == first
    os.utime(file, ns=(1, 1))
    touched = orders(tmp_path, source).identify_files("1")
    file.rename(file.with_name("b.parquet"))
    renamed = orders(tmp_path, source).identify_files("1")
    otherwise = orders(tmp_path, '{path: "lake/day={partition}", options: {a: b}}').identify_files("1")
    assert len({first, touched, renamed, otherwise}) == 4
    assert orders(tmp_path, source).identify_files("2") == ""


def test_a_file_that_may_not_be_read_is_not_blamed_on_its_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "1.csv").write_text("id\n1\n")
    monkeypatch.setattr("headgate.project.files._make_dataset", denied)
    with pytest.raises(EngineError, match=r"may not be read\. Let this user read .*1\.csv"):
        orders(tmp_path, '{format: csv, path: "{partition}.csv"}').read("1")


def test_batches_that_share_a_file_are_not_told_apart_by_it(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("day,id\n2026-11-13,1\n2026-11-14,2\n")
    assert orders(tmp_path, """{format: csv, path: all.csv, where: "day = '{partition}'"}""").identify_files("1") == ""


def test_what_identifies_files_does_not_depend_on_where_the_project_is(tmp_path: Path) -> None:
    prints = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        place = day(folder)
        pq.write_table(ROWS, place / "a.parquet")
        os.utime(place / "a.parquet", ns=(7, 7))
        prints.add(orders(folder, '{path: "lake/day={partition}"}').identify_files("1"))
    assert len(prints) == 1
