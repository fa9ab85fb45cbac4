"""Reads the text columns of a lake: finds the tables in Parquet and CSV files and reads the first rows of each."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.fs as pfs
import pyarrow.parquet as pq

from headgate.learn.patterns.lexer import MAX_LENGTH
from headgate.values.errors import MisuseError

MAX_ROWS = 10_000
"""The most rows read from a table; fewer from a wide table, so that at most `MAX_CELLS` values are read."""

MAX_CELLS = 4_000_000
MIN_VALUES = 10
"""The fewest values of a column that is indexed."""

CUT_LENGTH = MAX_LENGTH + 1  # characters kept of a value: enough to see that it is too long to have a pattern
_MIN_ROWS = 1_000  # rows read from a table of any width
_BATCH_ROWS = 2_000
_CREDENTIALS = re.compile(r"//[^/@\s]*@")
_MAX_LINE = 1 << 22
_HEAD_BYTES = 1 << 12
_PARQUET, _CSV = "parquet", "csv"
_ENDINGS = {".parquet": _PARQUET, ".pq": _PARQUET, ".csv": _CSV, ".csv.gz": _CSV, ".tsv": _CSV, ".tsv.gz": _CSV}

Label: TypeAlias = tuple[str, int]  # a column's name, and its number among the columns of that name


class LakeTable(msgspec.Struct, frozen=True):
    """The files of one table, on the file system that the URI `root` opens; the local one if `root` is empty."""

    root: str
    paths: tuple[str, ...]


class LakeColumn(msgspec.Struct, frozen=True):
    """The values of a text column in their order, without nulls and empty strings."""

    table: str
    name: str
    values: list[str]


class SkippedFile(msgspec.Struct, frozen=True, order=True):
    """A file that could not be read, and the reason."""

    path: str
    why: str


class _FileColumns(msgspec.Struct, frozen=True):
    """The number of rows read from one file, and the values of each of its text columns."""

    rows: int
    columns: dict[Label, list[str]]


def find_tables(paths: Iterable[str | Path]) -> list[LakeTable]:
    """The tables in these files and folders, in the order of their names.

    Folders are searched recursively for Parquet and CSV files; names that begin with a dot or an underscore are
    ignored. The `part-*` files of one folder are one table. Below folders named `key=value`, files of the same name
    are one table, and so are all files whose names begin with a digit.
    """
    tables: dict[tuple[str, str, str], tuple[str, set[str]]] = {}
    for given in paths:
        root, system, start = _open_file_system(given)
        for path in _list_files(system, start, str(given)):
            key = (root.partition("://")[0] if root else "", *_table_of(path))
            _, files = tables.setdefault(key, (root, set()))
            files.add(path)
    return [
        LakeTable(root, tuple(sorted(files))) for _, (root, files) in sorted(tables.items(), key=lambda each: each[0])
    ]


def _open_file_system(given: str | Path) -> tuple[str, Any, str]:
    """The URI that opens the file system in another process, the file system, and the path in it."""
    text = os.fspath(given)
    if "://" not in text:
        return "", pfs.LocalFileSystem(), os.path.abspath(text)
    try:
        system, start = pfs.FileSystem.from_uri(text)
    except (pa.ArrowException, OSError) as error:
        message = _CREDENTIALS.sub("//", f"{text} cannot be opened: {error}.")
        raise MisuseError(message, hint="Give a path, or s3://, gs://, hdfs://.") from None
    return text, system, start


def _list_files(system: Any, start: str, given: str) -> list[str]:
    info = system.get_file_info(start)
    if info.type == pfs.FileType.NotFound:
        raise MisuseError(f"there is no file or folder {given}.", hint="Give paths that this process can list.")
    if info.type == pfs.FileType.File:
        return [str(info.path)]
    infos = system.get_file_info(pfs.FileSelector(start, recursive=True))
    inside = [(str(each.path), str(each.path)[len(start) :].split("/")) for each in infos if each.is_file]
    visible = [path for path, names in inside if not any(name.startswith((".", "_")) for name in names)]
    return [path for path in visible if _file_format(path)]


def _file_format(path: str) -> str:
    return next((form for ending, form in _ENDINGS.items() if path.lower().endswith(ending)), "")


def _table_of(path: str) -> tuple[str, str]:
    """The name of the table that a file belongs to, and the file's format: files of two formats are two tables."""
    folder, _, name = path.rpartition("/")
    home = folder
    while "=" in home.rpartition("/")[2]:
        home = home.rpartition("/")[0]
    numbered = name.startswith("part-") or (home != folder and name[0].isdigit())
    return (home if numbered else f"{home}/{name}"), _file_format(path)


def columns_of(table: LakeTable, rows: int = MAX_ROWS) -> Iterator[LakeColumn | SkippedFile]:
    """The text columns with at least `MIN_VALUES` values in the first rows of a table, and the files skipped.

    All cells of CSV files are text, numbers too: their patterns are needed because numbers are parts of other values.
    """
    columns: dict[Label, list[str]] = {}
    left = rows
    for path in table.paths:
        if left <= 0:
            break
        part = _read_file(table.root, path, left)
        if isinstance(part, SkippedFile):
            yield part
            continue
        left = min(left, _limit_rows(rows, len(part.columns))) - part.rows
        for label, values in part.columns.items():
            columns.setdefault(label, []).extend(values)
    for (name, _), values in columns.items():
        if len(values) >= MIN_VALUES:
            yield LakeColumn(table.paths[0], name, values)


def _read_file(root: str, path: str, rows: int) -> _FileColumns | SkippedFile:
    read = {_PARQUET: _read_parquet, _CSV: _read_csv}.get(_file_format(path))
    if read is None:
        return SkippedFile(path, "its name ends neither like that of a Parquet nor like that of a CSV file")
    try:
        system = pfs.FileSystem.from_uri(root)[0] if root else pfs.LocalFileSystem()
        return read(system, path, rows)
    except Exception as error:  # any exception: one bad file must not stop the reading of the others
        return SkippedFile(path, (str(error).strip() or type(error).__name__).splitlines()[0][:200])


def _read_parquet(system: Any, path: str, rows: int) -> _FileColumns | SkippedFile:
    with system.open_input_file(path) as source, pq.ParquetFile(source) as file:
        leaves, names = _text_leaves(file.schema_arrow)
        if not len(file.schema_arrow):
            return SkippedFile(path, "it has no columns")
        rows = _limit_rows(rows, len(leaves))
        columns: list[list[str]] = [[] for _ in leaves]
        seen = 0
        # By position, because names may repeat and may contain dots, which separate the names of nested columns.
        groups = list(range(file.num_row_groups))
        batches = file.reader.iter_batches(_BATCH_ROWS, row_groups=groups, column_indices=leaves, use_threads=False)
        for batch in batches if leaves else ():
            taken = batch.slice(0, rows - seen)
            for values, array in zip(columns, taken.columns, strict=True):
                values.extend(list_texts(array))
            seen += taken.num_rows
            if seen >= rows:
                break
    return _FileColumns(seen if leaves else rows, dict(zip(_make_labels(names), columns, strict=True)))


def _text_leaves(schema: Any) -> tuple[list[int], list[str]]:
    """The indices and names of the text columns among the leaf columns that Parquet stores.

    A nested column has several leaves, so the index of a leaf is not the index of its field.
    """
    leaves, names, leaf = [], [], 0
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
            leaves.append(leaf)
            names.append(field.name)
        leaf += _count_leaves(field.type)
    return leaves, names


def _count_leaves(kind: Any) -> int:
    if pa.types.is_dictionary(kind):
        return 1
    return sum(_count_leaves(kind.field(index).type) for index in range(kind.num_fields)) if kind.num_fields else 1


def list_texts(array: Any) -> list[str]:
    """The values of an Arrow array of strings, without nulls and empty strings; invalid UTF-8 is replaced."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        values = array.to_pylist()
    except UnicodeDecodeError:
        values = [each and each.decode("utf-8", "replace") for each in array.cast(pa.large_binary()).to_pylist()]
    return [value[:CUT_LENGTH] for value in values if value]


def _read_csv(system: Any, path: str, rows: int) -> _FileColumns | SkippedFile:
    def open_stream() -> Any:
        return system.open_input_stream(path, compression="gzip" if path.lower().endswith(".gz") else None)

    with open_stream() as source:
        head = source.read(_HEAD_BYTES)
    if not head.strip():
        return SkippedFile(path, "it is empty")
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in head and not wide:
        return SkippedFile(path, "it is not text")
    is_tsv = ".tsv" in path.lower()[-7:]
    delimiter = "\t" if is_tsv else _find_delimiter(head.decode("utf-16" if wide else "latin-1", "ignore"))
    if wide:
        return _read_cells(open_stream, "utf-16", delimiter, rows)
    try:
        return _read_cells(open_stream, "utf-8-sig", delimiter, rows)
    except UnicodeDecodeError:
        return _read_cells(open_stream, "latin-1", delimiter, rows)


def _find_delimiter(head: str) -> str:
    """The delimiter that occurs most often in the first line, outside quotes.

    >>> _find_delimiter('"a,b";c;d')
    ';'
    """
    line = re.sub(r'"[^"]*"?', "", head.lstrip("\r\n")).splitlines()[:1] or [""]
    return max(",;\t|", key=line[0].count)


def _read_cells(open_stream: Callable[[], Any], encoding: str, delimiter: str, rows: int) -> _FileColumns:
    """The columns of a CSV file, whose first row has their names. Rows may have any length."""
    with open_stream() as source, io.TextIOWrapper(source, encoding, newline="") as text:
        reader = csv.reader(_read_lines(text), delimiter=delimiter)
        names = next((row for row in reader if row), [])
        columns: list[list[str]] = [[] for _ in names]
        seen, rows = 0, _limit_rows(rows, len(names))
        while chunk := list(islice(reader, min(_BATCH_ROWS, rows - seen))):
            seen += len(chunk)
            for index, values in enumerate(columns):
                values.extend(row[index][:CUT_LENGTH] for row in chunk if len(row) > index and row[index])
    return _FileColumns(seen, dict(zip(_make_labels(names), columns, strict=True)))


def _read_lines(text: io.TextIOWrapper) -> Iterator[str]:
    while line := text.readline(_MAX_LINE):
        if len(line) == _MAX_LINE:
            raise ValueError(f"a line of it has more than {_MAX_LINE:,} characters")
        yield line


def _limit_rows(rows: int, width: int) -> int:
    return min(rows, max(_MIN_ROWS, MAX_CELLS // max(width, 1)))


def _make_labels(names: Iterable[str]) -> list[Label]:
    """Number the columns of each name, so that repeated names stay apart.

    >>> _make_labels(["a", "b", "a"])
    [('a', 0), ('b', 0), ('a', 1)]
    """
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        labels.append((name, seen.get(name, 0)))
        seen[name] = seen.get(name, 0) + 1
    return labels
