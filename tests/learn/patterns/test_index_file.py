"""The file of a pattern index: what is written is found, and no altered byte is used."""

from __future__ import annotations

import hashlib
import random
import struct
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.learn.patterns import index_file as pattern_file
from headgate.learn.patterns.entries import ENTRY, IMPURITY_ONE, Entries, Keys, Rows
from headgate.learn.patterns.index_file import BLOCK, FORMAT, MAGIC, PatternFile, merge_indexes, write_index
from headgate.values.errors import CorruptBytes, MisuseError, NewerFormat, StoredDataError

GOLDEN = Path(__file__).parents[2] / "golden" / "pattern_index_1.hgi"
ABOUT = {"name": "small", "columns": 40, "licence": "CC0-1.0", "tau": 8, "floor": 1}
ENDS = [0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
HEADER = struct.Struct("<4sHHIIIIQ6Q32s")
FIELDS = [
    *("magic", "format", "entry", "header", "block", "bits", "about", "count"),
    *("directory", "directory_length", "entries", "entries_length", "sums", "sums_length", "digest"),
]


def entries_of(keys: list[int] | Keys) -> Entries:
    """Entries of these keys; the rest of each follows from its key."""
    rows = np.zeros(len(keys), ENTRY)
    rows["key"] = np.array(keys, np.uint64)
    rows["failed"] = rows["key"] % 5
    rows["strayed"] = rows["failed"] + 1
    rows["slipped"] = rows["strayed"] + rows["key"] % 2
    rows["led"] = rows["slipped"] + 2
    rows["most"] = rows["led"] + rows["key"] % 3
    rows["columns"] = rows["most"] + rows["key"] % 7
    rows["impurity"] = rows["columns"] * np.uint64(IMPURITY_ONE // 8) + rows["key"] % 11
    rows["tokens"], rows["open"] = rows["key"] % 9, rows["key"] % 2
    return Entries.of(rows)


def random_keys(count: int, seed: int = 0) -> Keys:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


def golden_entries() -> Entries:
    return entries_of([0, 2**64 - 1, *(at * 0x9E3779B97F4A7C15 % 2**64 for at in range(1, 41))])


def expected(entries: Entries, keys: Keys) -> Rows:
    known = {each[0]: each for each in entries.rows.tolist()}
    return np.array([known.get(key, (0,) * 11) for key in keys.tolist()], ENTRY)


def written(path: Path, entries: Entries, about: dict[str, Any] = ABOUT) -> Path:
    write_index(path, entries, about)
    return path


def probes(entries: Entries, seed: int = 1) -> Keys:
    """Keys that are there, their neighbours, the ends and others, in no order."""
    keys = entries.rows["key"]
    all_of_them = np.concatenate([keys, keys + np.uint64(1), keys - np.uint64(1), np.array(ENDS, np.uint64)])
    return np.random.default_rng(seed).permutation(np.concatenate([all_of_them, random_keys(50, seed)]))


def assert_holds(path: Path, entries: Entries) -> None:
    with PatternFile.open(path) as index:
        index.verify()
        assert len(index) == len(entries)
        keys = probes(entries)
        assert np.array_equal(index.find_entries(keys), expected(entries, keys))
        assert reduce(add, index.read_chunks(7), Entries.empty()) == entries


@settings(max_examples=60)
@given(st.sets(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.sampled_from(ENDS)), max_size=200))
def test_what_is_looked_up_is_what_a_dictionary_would_say(keys: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        entries = entries_of(sorted(keys))
        assert_holds(written(Path(folder) / "index.hgi", entries), entries)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([], id="none"),
        pytest.param([0], id="only the first"),
        pytest.param([2**64 - 1], id="only the last"),
        pytest.param(ENDS, id="the ends"),
        pytest.param(list(range(5_000)), id="all in the first bucket"),
        pytest.param(list(range(2**64 - 5_000, 2**64)), id="all in the last bucket"),
        pytest.param([*range(2_000), *range(2**64 - 2_000, 2**64)], id="nothing between"),
    ],
)
def test_keys_need_not_be_spread(tmp_path: Path, keys: list[int]) -> None:
    assert_holds(written(tmp_path / "index.hgi", entries_of(keys)), entries_of(keys))


@pytest.mark.parametrize("count", [1, 8, 9, 16, 17, 1_000, 8_191, 8_192, 8_193, 200_000])
def test_an_index_of_any_size_holds_what_was_written(tmp_path: Path, count: int) -> None:
    entries = entries_of(random_keys(count))
    with PatternFile.open(written(tmp_path / "index.hgi", entries)) as index:
        index.verify()
        assert reduce(add, index.read_chunks()) == entries
        assert np.array_equal(index.find_entries(entries.rows["key"][::-1].copy()), entries.rows[::-1])
        assert not index.find_entries(random_keys(500, seed=2))["columns"].any()


def test_the_description_of_an_index_is_kept(tmp_path: Path) -> None:
    with PatternFile.open(written(tmp_path / "index.hgi", Entries.empty())) as index:
        assert index.about == ABOUT
        index.about["name"] = "other"
        assert index.about == ABOUT


def test_no_key_finds_nothing(tmp_path: Path) -> None:
    with PatternFile.open(written(tmp_path / "index.hgi", golden_entries())) as index:
        assert index.find_entries(np.zeros(0, np.uint64)).shape == (0,)


def test_a_stream_is_written_as_the_whole_is(tmp_path: Path) -> None:
    whole = entries_of(random_keys(3_000))
    parts = (Entries(whole.rows[start : start + 70]) for start in range(0, 3_000, 70))
    write_index(tmp_path / "stream.hgi", (part for each in parts for part in (Entries.empty(), each)), ABOUT)
    assert (tmp_path / "stream.hgi").read_bytes() == written(tmp_path / "whole.hgi", whole).read_bytes()


@pytest.mark.parametrize("sizes", [(0,), (40, 0, 1_000, 4_000, 700), (3_000,) * 5])
def test_a_merged_file_is_that_of_the_sum(
    tmp_path: Path, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern_file, "_MERGE_SIZE", 1)  # the smallest pieces, so that several are needed
    chance, shared = np.random.default_rng(4), random_keys(6_000)
    parts = [entries_of(chance.choice(shared, size, replace=False)) for size in sizes]
    merge_indexes(
        [written(tmp_path / f"{at}.hgi", part) for at, part in enumerate(parts)], tmp_path / "merged.hgi", ABOUT
    )
    assert (tmp_path / "merged.hgi").read_bytes() == written(tmp_path / "sum.hgi", reduce(add, parts)).read_bytes()


def test_nothing_merges_to_nothing(tmp_path: Path) -> None:
    merge_indexes([], tmp_path / "merged.hgi", ABOUT)
    assert_holds(tmp_path / "merged.hgi", Entries.empty())


def test_a_file_can_be_merged_into_its_own_place(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    merge_indexes([path, path], path, ABOUT)
    assert_holds(path, golden_entries() + golden_entries())


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())

    def broken() -> Iterator[Entries]:
        yield entries_of([1])
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="broke"):
        write_index(path, broken(), ABOUT)
    assert_holds(path, golden_entries())
    assert list(tmp_path.iterdir()) == [path]


def test_an_open_file_is_not_changed_by_writing_it_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    with PatternFile.open(path) as index:
        write_index(path, entries_of([5]), ABOUT)
        assert np.array_equal(index.find_entries(golden_entries().rows["key"]), golden_entries().rows)
    assert_holds(path, entries_of([5]))


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "index.hgi", golden_entries()).read_bytes()
    cut = tmp_path / "cut.hgi"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(CorruptBytes):
            PatternFile.open(cut)


def test_a_file_with_more_at_its_end_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "index.hgi", golden_entries()).read_bytes()
    (tmp_path / "more.hgi").write_bytes(whole + b"\0")
    with pytest.raises(CorruptBytes, match="should have"):
        PatternFile.open(tmp_path / "more.hgi")


def test_no_flipped_bit_passes(tmp_path: Path) -> None:
    entries = entries_of(random_keys(400))
    whole, keys = written(tmp_path / "index.hgi", entries).read_bytes(), np.sort(probes(entries))
    right, path, chance = expected(entries, keys), tmp_path / "flipped.hgi", random.Random(20_261)
    looked_up = 0
    for _ in range(2_000):
        bit = chance.randrange(8 * len(whole))
        altered = bytearray(whole)
        altered[bit // 8] ^= 1 << bit % 8
        path.write_bytes(altered)
        try:
            index = PatternFile.open(path)
        except StoredDataError:
            continue
        for some in np.array_split(np.arange(len(keys)), 20):
            try:
                found = index.find_entries(keys[some])
            except CorruptBytes:
                continue
            looked_up += len(found)
            assert np.array_equal(found, right[some])
        with pytest.raises(CorruptBytes):
            index.verify()
        index.close()
    assert looked_up > 0


def test_blocks_that_are_not_read_are_not_checked(tmp_path: Path) -> None:
    entries = entries_of(random_keys(2_000))
    path = written(tmp_path / "index.hgi", entries)
    altered = bytearray(path.read_bytes())
    altered[-200] ^= 1  # among the last entries
    path.write_bytes(altered)
    with PatternFile.open(path) as index:
        assert np.array_equal(index.find_entries(entries.rows["key"][:100].copy()), entries.rows[:100])
        with pytest.raises(CorruptBytes, match="block at byte"):
            index.find_entries(entries.rows["key"][-1:].copy())
        with pytest.raises(CorruptBytes, match="block at byte"):
            index.find_entries(entries.rows["key"][-1:].copy())


def test_an_entry_that_reaches_into_an_altered_block_is_refused(tmp_path: Path) -> None:
    entries = entries_of(random_keys(200))
    path, across = written(tmp_path / "index.hgi", entries), BLOCK // ENTRY.itemsize
    altered = bytearray(path.read_bytes())
    altered[2 * BLOCK + BLOCK] ^= 1  # the entries begin with the third block; this is the first byte of the fourth
    path.write_bytes(altered)
    with PatternFile.open(path) as index:
        assert np.array_equal(index.find_entries(entries.rows["key"][:50].copy()), entries.rows[:50])
        with pytest.raises(CorruptBytes, match="block at byte 12,288"):
            index.find_entries(entries.rows["key"][across : across + 1].copy())


def altered_head(whole: bytes, **changes: Any) -> bytes:
    """The file with another header, whose checksum is right."""
    fields = dict(zip(FIELDS, HEADER.unpack_from(whole), strict=True))
    size = fields["header"]
    front = HEADER.pack(*(fields | changes).values()) + whole[HEADER.size : size - 32]
    return front + hashlib.sha256(front).digest() + whole[size:]


def test_a_newer_format_is_refused_in_words(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    path.write_bytes(altered_head(path.read_bytes(), format=FORMAT + 1))
    with pytest.raises(NewerFormat, match=r"format 2; this version reads up to 1\. Upgrade headgate"):
        PatternFile.open(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 0},
        {"entry": 40},
        {"block": 0},
        {"bits": 0},
        {"bits": 2**32 - 1},
        {"about": 2**32 - 1},
        {"about": 3},
        {"count": 0},
        {"count": 41},
        {"count": 2**32},
        {"count": 2**64 - 1},
        {"directory": 0},
        {"directory_length": 2**64 - 1},
        {"entries": 2**64 - 44},
        {"entries_length": 2**63},
        {"sums": 2**64 - 1},
        {"sums_length": 2**40},
        {"header": 0},
        {"header": 2**32 - 1},
        {"header": 4_095},
        {"digest": bytes(32)},
        {"magic": b"HGTE"},
    ],
    ids=str,
)
def test_a_header_that_promises_what_is_not_there_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    path.write_bytes(altered_head(path.read_bytes(), **changes))
    with pytest.raises(CorruptBytes):
        PatternFile.open(path)


def test_a_large_count_with_the_layout_that_follows_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    for count in (2**20, 2**32 - 1):
        layout = pattern_file._FileLayout.of(BLOCK, count)
        changes = dict(zip(FIELDS[8:14], layout, strict=True)) | {
            "count": count,
            "bits": pattern_file._bucket_bits(count),
        }
        altered = tmp_path / "altered.hgi"
        altered.write_bytes(altered_head(path.read_bytes(), **changes))
        with pytest.raises(CorruptBytes, match="should have"):
            PatternFile.open(altered)


@pytest.mark.parametrize(
    "about", [b"\xc1", b"\x80" * 0, b"\x91\x01", b"\x81\x01\x01", b"\x81\xa1\xff\x01", b"\x91" * 3_000]
)
def test_the_description_of_an_index_must_be_a_map(tmp_path: Path, about: bytes) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    whole = bytearray(path.read_bytes())
    whole[HEADER.size : HEADER.size + len(about)] = about
    path.write_bytes(altered_head(bytes(whole), about=len(about)))
    with pytest.raises(CorruptBytes, match="says about the index"):
        PatternFile.open(path)


def resealed(whole: bytes) -> bytes:
    """The file with sums that fit its body: only its author could have made it so."""
    fields = dict(zip(FIELDS, HEADER.unpack_from(whole), strict=True))
    body = whole[fields["directory"] : fields["sums"]]
    sums = [zlib.crc32(body[at : at + BLOCK]) for at in range(0, len(body), BLOCK)]
    table = np.array(sums, "<u4").tobytes()
    return altered_head(whole[: fields["sums"]] + table, digest=hashlib.sha256(table).digest())


def test_a_directory_that_leads_astray_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    whole = bytearray(path.read_bytes())
    whole[BLOCK : BLOCK + 4] = struct.pack("<I", 2**32 - 1)
    path.write_bytes(resealed(bytes(whole)))
    with PatternFile.open(path) as index:
        with pytest.raises(CorruptBytes, match="directory does not lead"):
            index.find_entries(np.zeros(1, np.uint64))
        with pytest.raises(CorruptBytes, match="directory does not lead"):
            index.verify()


@pytest.mark.parametrize("size", [1, 100])
def test_entries_out_of_order_are_refused(tmp_path: Path, size: int) -> None:
    path = written(tmp_path / "index.hgi", golden_entries())
    whole = bytearray(path.read_bytes())
    whole[2 * BLOCK : 2 * BLOCK + 44], whole[2 * BLOCK + 44 : 2 * BLOCK + 88] = (
        whole[2 * BLOCK + 44 : 2 * BLOCK + 88],
        whole[2 * BLOCK : 2 * BLOCK + 44],
    )
    path.write_bytes(resealed(bytes(whole)))
    with PatternFile.open(path) as index, pytest.raises(CorruptBytes, match="no index"):
        list(index.read_chunks(size))


def test_another_file_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "text.hgi").write_bytes(b"pattern,columns\n" * 1_000)
    with pytest.raises(CorruptBytes, match="does not begin like"):
        PatternFile.open(tmp_path / "text.hgi")


def test_several_threads_find_what_one_finds(tmp_path: Path) -> None:
    entries = entries_of(random_keys(50_000))
    path, keys = written(tmp_path / "index.hgi", entries), entries.rows["key"].copy()
    chance = np.random.default_rng(3)
    orders = [chance.permutation(len(keys))[:5_000] for _ in range(16)]
    with PatternFile.open(path) as index, ThreadPoolExecutor(8) as threads:
        for order, found in zip(
            orders, threads.map(lambda order: index.find_entries(keys[order]), orders), strict=True
        ):
            assert np.array_equal(found, entries.rows[order])


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = PatternFile.open(written(tmp_path / "index.hgi", golden_entries()))
    index.close()
    index.close()
    with pytest.raises(MisuseError, match=r"closed\. Open it again"):
        index.find_entries(np.zeros(1, np.uint64))
    with pytest.raises(MisuseError, match="closed"):
        list(index.read_chunks())


@pytest.mark.parametrize("keys", [np.zeros(1, np.int64), np.zeros((1, 1), np.uint64)])
def test_keys_of_another_kind_are_refused(tmp_path: Path, keys: Keys) -> None:
    with PatternFile.open(written(tmp_path / "index.hgi", golden_entries())) as index, pytest.raises(MisuseError):
        index.find_entries(keys)


def test_chunks_of_nothing_are_refused(tmp_path: Path) -> None:
    with PatternFile.open(written(tmp_path / "index.hgi", golden_entries())) as index, pytest.raises(MisuseError):
        list(index.read_chunks(0))


def test_parts_out_of_order_are_refused(tmp_path: Path) -> None:
    for parts in ([entries_of([2]), entries_of([1])], [entries_of([1, 2]), entries_of([2, 3])]):
        with pytest.raises(MisuseError, match="order of their keys"):
            write_index(tmp_path / "index.hgi", parts, ABOUT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "about", [{"name": object()}, {"name": "x" * 2_000_000}, {"number": 2**70}], ids=["object", "long", "large"]
)
def test_a_description_that_cannot_be_stored_is_refused(tmp_path: Path, about: dict[str, Any]) -> None:
    with pytest.raises(MisuseError, match="`about`"):
        write_index(tmp_path / "index.hgi", golden_entries(), about)


def test_the_description_of_an_index_may_be_long(tmp_path: Path) -> None:
    about = {"sources": [f"source {at}" for at in range(2_000)]}
    with PatternFile.open(written(tmp_path / "index.hgi", golden_entries(), about)) as index:
        assert index.about == about
        index.verify()


def test_an_index_that_was_written_once_still_loads() -> None:
    assert_holds(GOLDEN, golden_entries())
    with PatternFile.open(GOLDEN) as index:
        assert index.about == ABOUT


def test_the_same_index_is_written_with_the_same_bytes(tmp_path: Path) -> None:
    reversed_about = dict(reversed(ABOUT.items()))
    assert written(tmp_path / "index.hgi", golden_entries(), reversed_about).read_bytes() == GOLDEN.read_bytes()


def test_the_golden_file_is_laid_out_as_the_module_says() -> None:
    whole = GOLDEN.read_bytes()
    fields = dict(zip(FIELDS, HEADER.unpack_from(whole), strict=True))
    about = whole[HEADER.size : HEADER.size + fields["about"]]
    assert (fields["magic"], fields["count"], msgspec.msgpack.decode(about)) == (MAGIC, 42, ABOUT)
    rows = np.frombuffer(whole, ENTRY, fields["count"], fields["entries"])
    assert np.array_equal(rows, golden_entries().rows)
    starts = np.frombuffer(whole, "<u4", 2 ** fields["bits"] + 1, fields["directory"])
    leading = rows["key"] >> np.uint64(64 - fields["bits"])
    assert starts.tolist() == [int((leading < bucket).sum()) for bucket in range(2 ** fields["bits"] + 1)]
