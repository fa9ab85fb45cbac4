"""Finds datasets in folders: the files or folders that are the batches of each."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PARTITION = "{partition}"
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_DATE = re.compile(r"(?<!\d)(?:\d{4}-\d{2}-\d{2}(?:[T_-]\d{2}(?:[:-]?\d{2})?)?|\d{4}-\d{2}|20\d{6}(?:\d{2})?)(?!\d)")
_HIVE = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.+)", re.DOTALL)
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_SPECIAL = re.compile(r"[*?\[\]{}]")  # wildcards and placeholders of a path
_MAX_DEPTH = 4
_MAX_DATASETS = 20
"""The most datasets of one configuration; a user who has more names folders."""


@dataclass(frozen=True)
class FoundSource:
    """A dataset that was found, with its path and its partitions, oldest first."""

    name: str
    format: str
    root: Path
    inside: str
    """The path below the root, with `{partition}` in it; empty if the root itself is read."""
    partitions: tuple[str, ...] = ()
    key: str = ""
    """The column that holds the partition, in Delta and Iceberg tables and in a growing file."""

    @property
    def needs_spark(self) -> bool:
        return self.format in ("delta", "iceberg")

    def batch_path(self, partition: str) -> Path:
        return self.root / self.inside.replace(PARTITION, partition)


def sources_in(folder: Path) -> list[FoundSource]:
    """The datasets at or below a folder, or the one that a file belongs to."""
    if folder.is_file():
        return [*_find_dated_files(folder.parent, [folder.name])] or [*_find_single_file(folder)]
    return list(_walk_folder(folder, _MAX_DEPTH))[:_MAX_DATASETS]


def _walk_folder(folder: Path, depth: int) -> Iterator[FoundSource]:
    if source := _find_table(folder):
        yield source
        return
    names = _list_names(folder)
    folders = [name for name in names if (folder / name).is_dir()]
    if source := _find_hive_folders(folder, folders) or _find_dated_folders(folder, folders):
        yield source
        return
    files = [name for name in names if name not in folders and format_of(name)]
    yield from _find_dated_files(folder, files)
    if depth > 0:
        for name in folders:
            yield from _walk_folder(folder / name, depth - 1)


def _find_table(folder: Path) -> FoundSource | None:
    """The Delta or Iceberg table in a folder, recognized by its log; None if there is none."""
    if (folder / "_delta_log").is_dir():
        kind = "delta"
    elif any((folder / "metadata").glob("*.metadata.json")):
        kind = "iceberg"
    else:
        return None
    inside = folder / "data" if kind == "iceberg" and (folder / "data").is_dir() else folder
    hive = _find_hive_folders(inside, [name for name in _list_names(inside) if (inside / name).is_dir()])
    key = hive.inside.partition("=")[0] if hive else ""
    return FoundSource(_name_from_folder(folder), kind, folder, "", hive.partitions if hive else (), key)


def _find_hive_folders(folder: Path, folders: list[str]) -> FoundSource | None:
    """The dataset of folders such as day=2026-11-14; of several keys, the one with the most folders."""
    values: dict[str, list[str]] = defaultdict(list)
    for name in folders:
        if (match := _HIVE.fullmatch(name)) and match["value"] != _HIVE_NULL:
            values[match["key"]].append(match["value"])
    if not values:
        return None
    key = max(values, key=lambda each: len(values[each]))
    return _make_source(folder, f"{key}={PARTITION}", values[key])


def _find_dated_folders(folder: Path, folders: list[str]) -> FoundSource | None:
    dated = [name for name in folders if _DATE.fullmatch(name)]
    return _make_source(folder, PARTITION, dated) if dated else None


def _make_source(folder: Path, inside: str, values: list[str]) -> FoundSource | None:
    """The dataset of these partitions, in the format of the newest that has a known one."""
    if _SPECIAL.search(str(folder)):
        return None
    partitions = sort_partitions(values)
    for newest in reversed(partitions):
        if kind := _format_inside(folder / inside.replace(PARTITION, newest)):
            return FoundSource(_name_from_folder(folder), kind, folder, inside, partitions)
    return None


def _find_dated_files(folder: Path, files: list[str]) -> Iterator[FoundSource]:
    """The datasets of files whose names differ only in a date, such as orders-2026-11-14.csv."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in files:
        if match := _DATE.search(name):
            groups[name[: match.start()], name[match.end() :]].append(match.group())
    for (before, after), dates in sorted(groups.items()):
        inside = f"{before}{PARTITION}{after}"
        kind = format_of(inside)
        if kind and not _SPECIAL.search(f"{folder}{before}{after}"):
            # `files` may be a single file that the user named: its dataset has the others of the folder too.
            similar = [name for name in _list_names(folder) if name.startswith(before) and name.endswith(after)]
            dates = [date for name in similar if _DATE.fullmatch(date := name[len(before) : len(name) - len(after)])]
            yield FoundSource(
                _make_name(before) or _name_from_folder(folder), kind, folder, inside, sort_partitions(dates)
            )


def _find_single_file(file: Path) -> Iterator[FoundSource]:
    kind = format_of(file.name)
    if kind and not _SPECIAL.search(str(file)):
        yield FoundSource(_make_name(file.name.partition(".")[0]) or "data", kind, file.parent, file.name)


def sort_partitions(partitions: list[str]) -> tuple[str, ...]:
    from headgate.values.run import partition_sort_key

    return tuple(sorted(set(partitions), key=lambda each: (partition_sort_key(each), each)))


def is_date(text: str) -> bool:
    """Whether a text is only a day, an hour or a month.

    >>> is_date("2026-11-14"), is_date("20261114"), is_date("A-2026-11-14")
    (True, True, False)
    """
    return _DATE.fullmatch(text) is not None


def format_of(name: str) -> str | None:
    """The format that the suffix of a file names; a suffix of compression is skipped.

    >>> format_of("orders-2026-11-14.csv.gz"), format_of("part-0.snappy.parquet"), format_of("notes.txt")
    ('csv', 'parquet', None)
    """
    stem, suffix = os.path.splitext(name.lower())
    return format_of(stem) if suffix in _COMPRESSED else _SUFFIXES.get(suffix)


def _format_inside(folder: Path) -> str | None:
    for _, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if not name.startswith(("_", ".")) and (kind := format_of(name)):
                return kind
    return None


def _list_names(folder: Path) -> list[str]:
    """The names in a folder, without hidden ones; empty if it cannot be read."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith((".", "_")))
    except OSError:
        return []


def _name_from_folder(folder: Path) -> str:
    return _make_name(folder.resolve().name) or "data"


def _make_name(text: str) -> str:
    """A dataset name that needs no quotes.

    >>> _make_name("Daily orders_"), _make_name("2026-")
    ('Daily_orders', 'd2026')
    """
    name = re.sub(r"\W+", "_", text).strip("_")
    return f"d{name}" if name[:1].isdigit() else name
