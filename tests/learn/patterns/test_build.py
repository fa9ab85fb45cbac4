"""Building an index in this process: what of a lake is read, what is skipped, and that no value is in the file."""

from __future__ import annotations

import gzip
import random
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.learn.patterns import build, index_file, lake
from headgate.learn.patterns.build import BuildResult, build_index, index_columns
from headgate.learn.patterns.entries import Entries
from headgate.learn.patterns.enumerate import Columns, count_patterns
from headgate.learn.patterns.index_file import PatternFile
from headgate.learn.patterns.lake import LakeColumn, SkippedFile, columns_of, find_tables
from headgate.learn.patterns.sample import SampledColumn
from headgate.values.errors import MisuseError

HOSTILE = ["a.b", "`tick`", "line\nbreak", "🚰", "", "a.b"]


def codes(seed: int, count: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.choice('ABC')}-{chance.randrange(10_000):04}" for _ in range(count)]


def made(seed: int, count: int) -> list[list[str]]:
    """Columns of several kinds."""
    chance = random.Random(seed)
    kinds = [
        lambda: f"{chance.choice('ABC')}-{chance.randrange(10_000):04}",
        lambda: f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
        lambda: f"https://example.org/{chance.randrange(99)}",
        lambda: chance.choice(["Zoë", "Ann Lee", "Bob"]),
        lambda: f"{chance.random() * 100:.2f} kg",
    ]
    return [[kinds[at % 5]() for _ in range(chance.randrange(10, 80))] for at in range(count)]


def written(columns: Iterable[Sequence[str]], folder: Path) -> Path:
    """A lake of Parquet files with a column each."""
    folder.mkdir()
    for at, values in enumerate(columns):
        pq.write_table(pa.table({"x": pa.array(values, pa.string())}), folder / f"t{at:04}.parquet")
    return folder


def entries_in(target: Path) -> Entries:
    with PatternFile.open(target) as index:
        return sum(index.read_chunks(), Entries.empty())


def values_in(paths: Sequence[Path], rows: int = lake.MAX_ROWS) -> dict[str, list[str]]:
    found = [each for table in find_tables(paths) for each in columns_of(table, rows)]
    return {each.name: each.values for each in found if isinstance(each, LakeColumn)}


def skipped_in(paths: Sequence[Path]) -> list[SkippedFile]:
    return [each for table in find_tables(paths) for each in columns_of(table) if isinstance(each, SkippedFile)]


# What is read.


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
    written([codes(1)], tmp_path / "lake")
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


def test_trouble_with_a_file_is_told_and_costs_no_other_file(tmp_path: Path) -> None:
    whole = written([codes(1), codes(2)], tmp_path / "lake")
    (whole / "corrupt.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    data = bytearray((whole / "t0001.parquet").read_bytes())
    (whole / "truncated.parquet").write_bytes(data[: len(data) // 2])
    (whole / "empty.csv").write_bytes(b"")
    (whole / "binary.csv").write_bytes(b"\x00\x01\x02")
    (whole / "packed.csv.gz").write_bytes(b"not packed at all")
    (whole / "endless.csv").write_text("x" * (lake._MAX_LINE + 1))
    pq.write_table(pa.table({}), whole / "bare.parquet")
    built = build_index(whole, tmp_path / "x.hgi")
    assert [Path(each.path).name for each in built.skipped] == [
        "bare.parquet",
        "binary.csv",
        "corrupt.parquet",
        "empty.csv",
        "endless.csv",
        "packed.csv.gz",
        "truncated.parquet",
    ]
    assert all(each.why for each in built.skipped)
    assert entries_in(tmp_path / "x.hgi") == index_columns([codes(1), codes(2)])


def test_a_given_file_of_another_kind_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert [each.path for each in skipped_in([tmp_path / "notes.txt"])] == [str(tmp_path / "notes.txt")]


# What is built.


def test_a_lake_pairs_and_entries_in_memory_are_the_same_index(tmp_path: Path) -> None:
    columns = made(1, 30)
    build_index([written(columns, tmp_path / "lake")], tmp_path / "lake.hgi", name="x")
    built = build_index(((str(at), each) for at, each in enumerate(columns)), tmp_path / "pairs.hgi", name="x")
    assert (tmp_path / "lake.hgi").read_bytes() == (tmp_path / "pairs.hgi").read_bytes()
    assert entries_in(tmp_path / "lake.hgi") == index_columns(columns)
    assert built.patterns == len(index_columns(columns))


def test_entries_are_the_evidence_of_all_columns_at_once() -> None:
    columns = made(2, 40)
    assert index_columns(columns, tau=8) == count_patterns(Columns.of([SampledColumn.of(each) for each in columns]), 8)


def test_how_much_is_kept_in_memory_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(made(3, 40), tmp_path / "lake")
    build_index(folder, tmp_path / "one.hgi")
    for name, value in {"_COLUMNS_AT_ONCE": 3, "_MAX_WAITING": 500}.items():
        monkeypatch.setattr(build, name, value)
    build_index(folder, tmp_path / "two.hgi")
    assert (tmp_path / "one.hgi").read_bytes() == (tmp_path / "two.hgi").read_bytes()


def test_two_indexes_merged_are_the_index_of_both_lakes(tmp_path: Path) -> None:
    one, two = written(made(4, 20), tmp_path / "one"), written(made(5, 25), tmp_path / "two")
    for name, source in {"one": [one], "two": [two], "both": [one, two]}.items():
        build_index(source, tmp_path / f"{name}.hgi", name=name)
    with PatternFile.open(tmp_path / "both.hgi") as both:
        about = both.about
    index_file.merge_indexes([tmp_path / "one.hgi", tmp_path / "two.hgi"], tmp_path / "merged.hgi", about)
    assert (tmp_path / "merged.hgi").read_bytes() == (tmp_path / "both.hgi").read_bytes()


def test_a_floor_leaves_out_what_few_columns_have(tmp_path: Path) -> None:
    folder = written(made(6, 30), tmp_path / "lake")
    build_index(folder, tmp_path / "all.hgi")
    build_index(folder, tmp_path / "three.hgi", floor=3)
    assert entries_in(tmp_path / "three.hgi") == entries_in(tmp_path / "all.hgi").at_least(3)
    assert 0 < len(entries_in(tmp_path / "three.hgi")) < len(entries_in(tmp_path / "all.hgi"))


def test_the_file_says_how_it_was_built(tmp_path: Path) -> None:
    pairs = [("a", codes(1)), ("short", codes(2)[:9]), ("empty", ["", "", *codes(3)[:8]])]
    built = build_index(pairs, tmp_path / "x.hgi", tau=8, floor=1, name="orders", rows=50)
    with PatternFile.open(tmp_path / "x.hgi") as index:
        said = index.about
    assert said.pop("headgate")
    assert said == {
        "name": "orders",
        "columns": 1,
        "tau": 8,
        "floor": 1,
        "rows": 50,
        "distinct": 200,
        "language": 1,
    }
    assert built.columns == 1
    assert entries_in(tmp_path / "x.hgi") == index_columns([codes(1)[:50]], tau=8)
    assert built.bytes == (tmp_path / "x.hgi").stat().st_size


def test_a_summary_names_what_was_built_and_a_few_skipped_files() -> None:
    skipped = [SkippedFile(f"{at}.csv", "it is empty") for at in range(7)]
    lines = str(BuildResult("x.hgi", 12, 3_456, 1_500_000, 2.04, skipped)).splitlines()
    assert lines[0] == "x.hgi: 3,456 patterns of 12 columns, 1.5 MB, in 2.0 s"
    assert lines[1:3] == ["7 files skipped:", "  0.csv: it is empty"]
    assert lines[-1] == "  and 2 more"


def test_no_value_of_the_data_is_in_the_file(tmp_path: Path) -> None:
    chance = random.Random(24)
    word = ["".join(chance.choices(string.ascii_lowercase, k=24)) for _ in range(40)]
    number = [str(chance.randrange(10**17, 10**18)) for _ in range(40)]
    address = [f"https://{each}.example/{each[::-1]}" for each in word]
    same = ["".join(chance.choices(string.ascii_letters, k=24))] * 40  # a constant, whose own pattern is indexed
    pq.write_table(
        pa.table({"secretname": word, "number": number, "address": address, "same": same}), tmp_path / "x.parquet"
    )
    build_index(tmp_path, tmp_path / "x.hgi")
    data = (tmp_path / "x.hgi").read_bytes()
    assert len(entries_in(tmp_path / "x.hgi")) > 100
    parts = [
        piece for value in {*word, *number, *address, *same, "secretname"} for piece in (value, value[:8], value[-8:])
    ]
    for encoding in ("utf-8", "utf-16-le", "utf-32-le", "utf-32-be"):
        assert not [part for part in parts if part.encode(encoding) in data and part != "https://"]
    assert not [value for value in number if int(value).to_bytes(8, "little") in data]


def test_a_build_that_fails_leaves_the_old_index_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "x.hgi"
    build_index([("a", codes(1))], target)
    before = target.read_bytes()

    def broken() -> Iterable[tuple[str, list[str]]]:
        yield "a", codes(2)
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        build_index(broken(), target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_column_longer_than_the_rows_counts_by_its_first_values(tmp_path: Path) -> None:
    values = [f"{at:05}" for at in range(40)] + ["not a number"] * 40
    build_index([("x", values)], tmp_path / "x.hgi", rows=40)
    assert entries_in(tmp_path / "x.hgi") == index_columns([values[:40]])


def test_entries_of_no_columns_are_none() -> None:
    assert index_columns([]) == Entries.empty()
    assert index_columns([[]]) == Entries.empty()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tau": 0}, "tau is 0"),
        ({"floor": 0}, "floor is 0"),
        ({"rows": 9}, "rows is 9"),
        ({"target": "nowhere/x.hgi"}, "no folder"),
        ({"source": []}, "nothing to index"),
        ({"source": ["nowhere"]}, "no file or folder"),
        ({"source": "."}, "no Parquet or CSV file"),
        ({"source": ["what://x"]}, "cannot be opened"),
        ({"spark": object()}, "in this process"),
    ],
)
def test_misuse_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    right = {"source": [("a", codes(1))], "target": "x.hgi"}
    with pytest.raises(MisuseError, match=told):
        build_index(**(right | wrong))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_the_sum_of_many_entries_is_that_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_MAX_WAITING", 100)
    chance = np.random.default_rng(7)
    total, every = build._EntrySum(), []
    for _ in range(50):
        rows = index_columns([made(int(chance.integers(99)), 1)[0]]).rows
        total.add(rows)
        every.append(rows)
    assert total.total() == Entries.of(np.concatenate(every))
