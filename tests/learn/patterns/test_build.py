"""Building an index in this process: what of a lake is read, what is skipped, and that no value is in the file."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable
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
from headgate.learn.patterns.lake import SkippedFile
from headgate.learn.patterns.sample import SampledColumn
from headgate.values.errors import MisuseError
from tests.learn.patterns.lakes import codes, write_lake


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


def entries_in(target: Path) -> Entries:
    with PatternFile.open(target) as index:
        return sum(index.read_chunks(), Entries.empty())


def test_a_bad_file_is_reported_and_the_others_are_indexed(tmp_path: Path) -> None:
    whole = write_lake([codes(1), codes(2)], tmp_path / "lake")
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


# What is built.


def test_a_lake_pairs_and_entries_in_memory_are_the_same_index(tmp_path: Path) -> None:
    columns = made(1, 30)
    build_index([write_lake(columns, tmp_path / "lake")], tmp_path / "lake.hgi", name="x")
    built = build_index(((str(at), each) for at, each in enumerate(columns)), tmp_path / "pairs.hgi", name="x")
    assert (tmp_path / "lake.hgi").read_bytes() == (tmp_path / "pairs.hgi").read_bytes()
    assert entries_in(tmp_path / "lake.hgi") == index_columns(columns)
    assert built.patterns == len(index_columns(columns))


def test_entries_are_the_evidence_of_all_columns_at_once() -> None:
    columns = made(2, 40)
    assert index_columns(columns, tau=8) == count_patterns(Columns.of([SampledColumn.of(each) for each in columns]), 8)


def test_how_much_is_kept_in_memory_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_lake(made(3, 40), tmp_path / "lake")
    build_index(folder, tmp_path / "one.hgi")
    for name, value in {"_COLUMNS_AT_ONCE": 3, "_MAX_WAITING": 500}.items():
        monkeypatch.setattr(build, name, value)
    build_index(folder, tmp_path / "two.hgi")
    assert (tmp_path / "one.hgi").read_bytes() == (tmp_path / "two.hgi").read_bytes()


def test_two_indexes_merged_are_the_index_of_both_lakes(tmp_path: Path) -> None:
    one, two = write_lake(made(4, 20), tmp_path / "one"), write_lake(made(5, 25), tmp_path / "two")
    for name, source in {"one": [one], "two": [two], "both": [one, two]}.items():
        build_index(source, tmp_path / f"{name}.hgi", name=name)
    with PatternFile.open(tmp_path / "both.hgi") as both:
        about = both.about
    index_file.merge_indexes([tmp_path / "one.hgi", tmp_path / "two.hgi"], tmp_path / "merged.hgi", about)
    assert (tmp_path / "merged.hgi").read_bytes() == (tmp_path / "both.hgi").read_bytes()


def test_a_floor_leaves_out_what_few_columns_have(tmp_path: Path) -> None:
    folder = write_lake(made(6, 30), tmp_path / "lake")
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
def test_misuse_is_refused_before_anything_is_read(
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
