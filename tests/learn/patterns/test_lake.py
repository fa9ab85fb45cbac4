"""Reading a lake: which files are one table, and which values are read from them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.learn.patterns import lake
from headgate.learn.patterns.lake import LakeColumn, SkippedFile, columns_of, find_tables
from tests.learn.patterns.lakes import codes, write_lake

HOSTILE = ["a.b", "`tick`", "line\nbreak", "🚰", "", "a.b"]


def values_in(paths: Sequence[Path], rows: int = lake.MAX_ROWS) -> dict[str, list[str]]:
    found = [each for table in find_tables(paths) for each in columns_of(table, rows)]
    return {each.name: each.values for each in found if isinstance(each, LakeColumn)}


def skipped_in(paths: Sequence[Path]) -> list[SkippedFile]:
    return [each for table in find_tables(paths) for each in columns_of(table) if isinstance(each, SkippedFile)]


def test_columns_are_read_by_position_so_that_no_name_can_confuse_them(tmp_path: Path) -> None:
    nested = pa.array([{"b": value, "c": [value]} for value in codes(9)])
    arrays = [nested, *(pa.array(codes(at)) for at in range(len(HOSTILE))), pa.array(range(60))]
    pq.write_table(pa.Table.from_arrays(arrays, ["a", *HOSTILE, "number"]), tmp_path / "x.parquet")
    found = [each for table in find_tables([tmp_path]) for each in columns_of(table)]
    assert [(each.name, each.values) for each in found if isinstance(each, LakeColumn)] == [
        (name, codes(at)) for at, name in enumerate(HOSTILE)
    ]


def test_csv_files_with_the_same_hostile_names_have_the_same_columns(tmp_path: Path) -> None:
    rows = zip(*(codes(at) for at in range(len(HOSTILE))), strict=True)
    head = ",".join(f'"{name}"' for name in HOSTILE)
    (tmp_path / "x.csv").write_text("\n".join([head, *map(",".join, rows)]), encoding="utf-8")
    found = [each for table in find_tables([tmp_path]) for each in columns_of(table)]
    assert [(each.name, each.values) for each in found if isinstance(each, LakeColumn)] == [
        (name, codes(at)) for at, name in enumerate(HOSTILE)
    ]


def test_every_kind_of_text_is_read_and_null_and_the_empty_text_are_left_out(tmp_path: Path) -> None:
    values = [None, "", *codes(1)]
    table = {
        "plain": pa.array(values, pa.string()),
        "large": pa.array(values, pa.large_string()),
        "dictionary": pa.array(values, pa.string()).dictionary_encode(),
        "bytes": pa.array([b"x"] * len(values)),
    }
    pq.write_table(pa.table(table), tmp_path / "x.parquet", row_group_size=7)
    assert values_in([tmp_path]) == dict.fromkeys(("plain", "large", "dictionary"), codes(1))


def test_only_the_first_rows_of_a_table_are_read_over_all_its_part_files(tmp_path: Path) -> None:
    for at in range(3):
        pq.write_table(pa.table({"x": codes(at)}), tmp_path / f"part-{at}.snappy.parquet", row_group_size=25)
    assert values_in([tmp_path], rows=90) == {"x": codes(0) + codes(1)[:30]}


def test_part_files_and_partitions_are_one_table_and_other_files_one_each(tmp_path: Path) -> None:
    names = ["a/part-0.csv", "a/part-1.csv", "a/part-0.parquet", "b/day=1/0.csv", "b/day=2/1.csv", "c/x.csv", "c/y.csv"]
    names += ["d/day=1/orders.csv", "d/day=2/orders.csv", "d/day=1/people.csv"]
    ignored = ["_log/x.csv", "a/.hidden.csv", "a/_SUCCESS", "c/readme.md"]
    for name in names + ignored:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    tables = [{str(Path(path).relative_to(tmp_path)) for path in table.paths} for table in find_tables([tmp_path])]
    expected = [set(names[:2]), {names[2]}, set(names[3:5]), {names[5]}, {names[6]}, set(names[7:9]), {names[9]}]
    assert sorted(map(sorted, tables)) == sorted(map(sorted, expected))
    assert find_tables([tmp_path, tmp_path / "c", tmp_path / "c" / "x.csv"]) == find_tables([tmp_path])


def test_a_uri_opens_the_same_tables(tmp_path: Path) -> None:
    write_lake([codes(1)], tmp_path / "lake")
    (table,) = find_tables([(tmp_path / "lake").as_uri()])
    assert [each.values for each in columns_of(table) if isinstance(each, LakeColumn)] == [codes(1)]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_and_numbers_are_text(tmp_path: Path, mark: str) -> None:
    rows = ([code, "1.5", "1" if at % 2 else "x"] for at, code in enumerate(codes(1)))
    lines = [mark.join(row) for row in (['"a,;|"', "n", "mixed"], *rows)]
    (tmp_path / "x.csv").write_text("\r\n".join(lines))
    assert set(values_in([tmp_path])) == {"a,;|", "n", "mixed"}


def test_rows_of_any_length_and_line_breaks_in_quotes_are_read(tmp_path: Path) -> None:
    lines = ["a,b", *(['"x\ny",1', "only", "p,q,r,s", ""] * 10)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    assert values_in([tmp_path]) == {"a": ["x\ny", "only", "p"] * 10, "b": ["1", "q"] * 10}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_csv_files_are_read_in_the_encoding_they_have(tmp_path: Path, encoding: str) -> None:
    text = "name\n" + "Zoë Müller\n" * 20
    (tmp_path / "x.csv").write_bytes(text.encode(encoding))
    with gzip.open(tmp_path / "y.tsv.gz", "wb") as packed:
        packed.write(text.replace("name", "other").encode(encoding))
    assert values_in([tmp_path]) == {"name": ["Zoë Müller"] * 20, "other": ["Zoë Müller"] * 20}


def test_bytes_that_are_no_text_in_a_parquet_column_are_replaced(tmp_path: Path) -> None:
    broken = pa.array([b"caf\xe9"] * 20).view(pa.string())
    pq.write_table(pa.table({"x": broken}), tmp_path / "x.parquet")
    assert values_in([tmp_path]) == {"x": ["caf\N{REPLACEMENT CHARACTER}"] * 20}


def test_wide_tables_are_read_to_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake, "MAX_CELLS", 4_000)
    for at in range(2):
        pq.write_table(pa.table({f"c{at}": codes(at, 1_500) for at in range(3)}), tmp_path / f"part-{at}.parquet")
    assert {len(values) for values in values_in([tmp_path]).values()} == {1_333}


def test_a_given_file_of_another_kind_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert [each.path for each in skipped_in([tmp_path / "notes.txt"])] == [str(tmp_path / "notes.txt")]
