"""Builds an index file from a lake of columns, by a Spark job or in this process (the offline stage of Auto-Validate).

    tables, or rows of (column, value)
       |   each task: columns -> sampled columns -> entries, added until they are many
       v
    (piece, entries of a piece)      pieces are ranges of keys; keys are hashes, so pieces are about equally large
       |   repartition by piece: the entries of one pattern come together and are added
       v
    driver: pieces in the order of their keys -> file

Spark moves blocks of entries: values of a lake are not shuffled, and a pattern is not a row of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from headgate.engine.spark_workers import import_first
from headgate.learn.patterns import index_file, lake
from headgate.learn.patterns.entries import ENTRY, Entries, Rows
from headgate.learn.patterns.enumerate import TAU, Columns, count_patterns
from headgate.learn.patterns.lake import CUT_LENGTH, MAX_ROWS, MIN_VALUES, LakeColumn, LakeTable, SkippedFile
from headgate.learn.patterns.pattern import LANGUAGE
from headgate.learn.patterns.sample import MAX_DISTINCT, SampledColumn
from headgate.values.errors import EngineError, MisuseError
from headgate.values.local_path import to_local_path
from headgate.values.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Columns enumerated at once. With 200 distinct values each they take 300 MB, and up to 2 GB for mixed tokens.
_COLUMNS_AT_ONCE = 100
_MAX_WAITING = 1 << 20  # entries that may wait before they are added
_PIECE_BITS = 10  # leading bits of a key that select its piece
_NOTE = -1  # in place of a piece's number, for the block that holds a task's `_TaskNote`
_ENTRIES_PER_ROW = 25_000  # 1 MB
_BATCH_BYTES = 16 << 20
_TABLES_PER_TASK = 32
_MIN_TASKS, _MAX_TASKS = 32, 10_000
_MAX_SKIPPED_SHOWN = 5

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # values, or blocks of 40 kB
    # So that a column is cut to its first values before the shuffle; Spark's default limit is 1,000 values.
    "spark.sql.optimizer.windowGroupLimitThreshold": str(2**31 - 1),
}
"""Settings of the Spark session during the job."""

_ROW = "piece int, body binary"
_ARROW = pa.schema([("piece", pa.int32()), ("body", pa.binary())])

T = TypeVar("T")
Block: TypeAlias = tuple[int, bytes]
Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
IndexSource: TypeAlias = "str | Path | Iterable[str | Path] | Iterable[tuple[str, Sequence[str]]] | DataFrame"


class BuildResult(msgspec.Struct, frozen=True):
    """Summary of a built index: its path, column and pattern counts, size, time, and the files skipped."""

    target: str
    columns: int
    patterns: int
    bytes: int
    seconds: float
    skipped: list[SkippedFile]

    def __str__(self) -> str:
        head = f"{self.target}: {self.patterns:,} patterns of {self.columns:,} columns, {self.bytes / 1e6:,.1f} MB"
        lines = [f"{head}, in {self.seconds:,.1f} s"]
        if self.skipped:
            more = len(self.skipped) - _MAX_SKIPPED_SHOWN
            lines.append(f"{len(self.skipped):,} files skipped:")
            lines += [f"  {each.path}: {each.why}" for each in self.skipped[:_MAX_SKIPPED_SHOWN]]
            lines += [f"  and {more:,} more"] if more > 0 else []
        return "\n".join(lines)


class _BuildSettings(msgspec.Struct, frozen=True):
    tau: int
    floor: int
    rows: int


class _TaskNote(msgspec.Struct, frozen=True):
    columns: int
    skipped: list[SkippedFile]


def build_index(
    source: IndexSource,
    target: str | Path,
    *,
    spark: SparkSession | None = None,
    tau: int = TAU,
    floor: int = 1,
    name: str = "",
    rows: int = MAX_ROWS,
    tasks: int | None = None,
) -> BuildResult:
    """Write the index of all patterns of the source's columns: how many columns have each, and in how many values.

    Nulls and empty strings are ignored, columns with fewer than 10 values are left out, and of a column at most 200
    distinct values are used. The file holds hashes of patterns and counts, but no values. It is written atomically.
    Its bytes do not depend on whether Spark or this process reads the lake. Through Spark Connect its size is limited
    by the server's `spark.driver.maxResultSize`.

    Args:
        source: A lake (paths of Parquet and CSV files, or of folders), pairs of a column's name and its values in
            their order, or a DataFrame with the columns `column`, `value` and, optionally, `position`, the order of the
            values. Without `position` the values are ordered by a hash, so that the first values are a random sample
            that is the same each time.
        target: The path of the index file. An existing file is replaced.
        spark: The Spark session that reads a lake. Without it this process reads the lake.
        tau: The most tokens of a value whose patterns are indexed. Default 13.
        floor: Patterns of fewer columns than this are not written. Default 1.
        name: A name for the index, stored in the file.
        rows: How many rows of each table, or values of a DataFrame's column, are read. Default 10,000.
        tasks: The number of Spark tasks. Default: one for each 32 tables, at least 32.
    """
    started, target = time.monotonic(), to_local_path(target, "the path of the index")
    settings = _check_settings(_BuildSettings(tau, floor, rows), target)
    with ExitStack() as stack:
        spool = _Spool(stack.enter_context(tempfile.TemporaryFile(dir=target.parent)))
        if hasattr(source, "mapInArrow"):
            frame: Any = source
            _run_spark_job(frame.sparkSession, lambda: _merge_pieces(_read_frame(frame, settings), settings), spool)
        else:
            _fill_spool(spool, source, spark, settings, tasks)
        about = {"name": name, "columns": spool.columns, "tau": tau, "floor": floor, "rows": rows}
        about |= {"distinct": MAX_DISTINCT, "language": LANGUAGE, "headgate": __version__}
        index_file.write_index(target, spool.entries(floor), about)
    with index_file.PatternFile.open(target) as index:
        patterns = len(index)
    seconds = time.monotonic() - started
    return BuildResult(str(target), spool.columns, patterns, target.stat().st_size, seconds, sorted(spool.skipped))


def index_columns(columns: Iterable[Sequence[str]], tau: int = TAU) -> Entries:
    """The entries of columns in memory; each column is given as its values in their order.

    >>> entries = index_columns([["A-1", "A-2"], ["B-7"]])
    >>> int(entries.rows["columns"].max())
    2
    """
    buffer = _ColumnBuffer(tau)
    for values in columns:
        buffer.add(values)
    return buffer.take()


def _check_settings(settings: _BuildSettings, target: Path) -> _BuildSettings:
    for name, least in (("tau", 1), ("floor", 1), ("rows", MIN_VALUES)):
        if getattr(settings, name) < least:
            raise MisuseError(f"{name} is {getattr(settings, name)}.", hint=f"Give {least} or more.")
    if not target.parent.is_dir():
        raise MisuseError(f"there is no folder {target.parent} for the index.", hint="Make it first.")
    return settings


def _fill_spool(
    spool: _Spool, source: Any, spark: SparkSession | None, settings: _BuildSettings, tasks: int | None
) -> None:
    """Fill the spool from paths, or from pairs of name and values, which are never sent to Spark."""
    given = iter([source] if isinstance(source, str | Path) else source)
    first = next(given, None)
    if first is None:
        raise MisuseError("there is nothing to index.", hint="Give paths, a DataFrame, or columns with their values.")
    if not isinstance(first, str | Path):
        if spark is not None:
            raise MisuseError("pairs of column and values are in this process.", hint="Leave `spark` out.")
        pairs = chain([first], given)
        spool.fill(_make_blocks((_take_values(values, settings.rows) for _, values in pairs), settings.tau))
        return
    tables = lake.find_tables([first, *given])
    if not tables:
        raise MisuseError(f"no Parquet or CSV file is in {first}.", hint="Files are known by the ends of their names.")
    if spark is None:
        spool.fill(_make_blocks(_read_tables(tables, settings), settings.tau))
        return
    _run_spark_job(spark, lambda: _merge_pieces(_read_lake(spark, tables, settings, tasks), settings), spool)


# Columns to blocks of entries, in a task or in this process.


class _EntrySum:
    """A sum of entries. New entries wait until they outnumber the sum, so that each is copied only a few times."""

    def __init__(self) -> None:
        self._total = Entries.empty()
        self._waiting: list[Rows] = []
        self.size = 0

    def add(self, rows: Rows) -> None:
        self._waiting.append(rows)
        self.size += len(rows)
        if self.size - len(self._total) > max(len(self._total), _MAX_WAITING):
            self.total()

    def total(self) -> Entries:
        if self._waiting:
            self._total = Entries.of(np.concatenate([self._total.rows, *self._waiting]))
            self._waiting, self.size = [], len(self._total)
        return self._total


class _ColumnBuffer:
    """Columns that wait to be enumerated together, and the sum of the entries of earlier columns."""

    def __init__(self, tau: int) -> None:
        self.tau = tau
        self._columns: list[SampledColumn] = []
        self._sum = _EntrySum()

    def add(self, values: Sequence[str]) -> None:
        self._columns.append(SampledColumn.of(values))
        if len(self._columns) >= _COLUMNS_AT_ONCE:
            self._enumerate_columns()

    @property
    def is_full(self) -> bool:
        """Whether many entries are left after adding; entries of similar columns add up to few and need no flush."""
        return self._sum.size >= _MAX_WAITING and len(self._sum.total()) >= _MAX_WAITING // 2

    def take(self) -> Entries:
        self._enumerate_columns()
        total, self._sum = self._sum.total(), _EntrySum()
        return total

    def _enumerate_columns(self) -> None:
        if self._columns:
            self._sum.add(count_patterns(Columns.of(self._columns), self.tau).rows)
            self._columns = []


def _make_blocks(columns: Iterable[Sequence[str] | SkippedFile], tau: int) -> Iterator[Block]:
    """Blocks with the entries of columns, and one with a note of the columns indexed and files skipped."""
    buffer, count, skipped = _ColumnBuffer(tau), 0, []
    for values in columns:
        if isinstance(values, SkippedFile):
            skipped.append(values)
        elif len(values) >= MIN_VALUES:
            buffer.add(values)
            count += 1
            if buffer.is_full:
                yield from _cut_pieces(buffer.take())
    yield from _cut_pieces(buffer.take())
    yield _NOTE, msgspec.msgpack.encode(_TaskNote(count, skipped))


def _cut_pieces(entries: Entries) -> Iterator[Block]:
    begins = np.arange(1 << _PIECE_BITS, dtype=np.uint64) << np.uint64(64 - _PIECE_BITS)
    ends = np.append(np.searchsorted(entries.rows["key"], begins), len(entries)).tolist()
    for piece in range(1 << _PIECE_BITS):
        if ends[piece] < ends[piece + 1]:
            yield piece, entries.rows[ends[piece] : ends[piece + 1]].tobytes()


def _read_tables(tables: Iterable[LakeTable], settings: _BuildSettings) -> Iterator[Sequence[str] | SkippedFile]:
    for table in tables:
        for column in lake.columns_of(table, settings.rows):
            yield column.values if isinstance(column, LakeColumn) else column


def _take_values(values: Iterable[str | None], rows: int) -> list[str]:
    return [value[:CUT_LENGTH] for value in values if value][:rows]


class _Spool:
    """Blocks on disk in the order of their arrival; each piece is read once."""

    def __init__(self, disk: IO[bytes]) -> None:
        self._disk = disk
        self._extents: dict[int, list[tuple[int, int]]] = {}  # offset and length of each block of a piece
        self.columns = 0
        self.skipped: list[SkippedFile] = []

    def fill(self, blocks: Iterable[Block]) -> None:
        for piece, body in blocks:
            if piece == _NOTE:
                note = msgspec.msgpack.decode(body, type=_TaskNote)
                self.columns += note.columns
                self.skipped += note.skipped
            else:
                self._extents.setdefault(piece, []).append((self._disk.tell(), len(body)))
                self._disk.write(body)

    def clear(self) -> None:
        self._disk.seek(0)
        self._disk.truncate()
        self._extents, self.columns, self.skipped = {}, 0, []

    def entries(self, floor: int) -> Iterator[Entries]:
        """The sums of all entries, in the order of their keys."""
        for piece in sorted(self._extents):
            yield _sum_entries(self._read_bodies(piece)).at_least(floor)

    def _read_bodies(self, piece: int) -> Iterator[bytes]:
        for offset, length in self._extents[piece]:
            self._disk.seek(offset)
            yield self._disk.read(length)


def _sum_entries(bodies: Iterable[bytes]) -> Entries:
    total = _EntrySum()
    for body in bodies:
        total.add(np.frombuffer(body, ENTRY))
    return total.total()


# The Spark job. pyspark is imported only for callers that pass a session or a DataFrame.


def _read_lake(
    spark: SparkSession, tables: Sequence[LakeTable], settings: _BuildSettings, tasks: int | None
) -> DataFrame:
    encoded_tables = [(msgspec.json.encode(table).decode(),) for table in tables]
    default = max(_MIN_TASKS, min(len(tables) // _TABLES_PER_TASK, _MAX_TASKS))
    frame = spark.createDataFrame(encoded_tables, "encoded string").repartition(tasks or min(default, len(tables)))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        texts = (text for batch in batches for text in batch.column(0).to_pylist())
        tables = (msgspec.json.decode(text, type=LakeTable) for text in texts)
        return _pack_blocks(_make_blocks(_read_tables(tables, settings), settings.tau))

    return frame.mapInArrow(import_first(read), _ROW)


def _read_frame(frame: DataFrame, settings: _BuildSettings) -> DataFrame:
    """Blocks of a DataFrame's columns. The window puts all values of a column into one task, in their order."""
    kinds = {name.lower(): kind for name, kind in frame.dtypes}
    if "column" not in kinds or not kinds.get("value", "").startswith("string"):
        raise MisuseError(
            f"the DataFrame has the columns {', '.join(frame.columns)}.",
            hint="Name them `column`, `value` (a text) and, if the values have an order, `position`.",
        )
    order = ["`position` AS p"] if "position" in kinds else []
    # Expressions as text, because pyspark's functions differ between classic and Connect sessions, and both may occur.
    cells = frame.selectExpr("CAST(`column` AS STRING) AS c", f"substring(`value`, 1, {CUT_LENGTH}) AS v", *order)
    cells = cells.filter("c IS NOT NULL AND v IS NOT NULL AND v <> ''")
    if order:
        ranked = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c ORDER BY p NULLS LAST, v) AS r")
    else:
        cells = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c, v ORDER BY v) AS n")
        ranked = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c ORDER BY xxhash64(v, n), v, n) AS r")
    first = ranked.filter(f"r <= {settings.rows}").sortWithinPartitions("c", "r").select("c", "v")

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _pack_blocks(_make_blocks(_group_by_column(batches), settings.tau))

    return first.mapInArrow(import_first(read), _ROW)


def _group_by_column(batches: Iterable[pa.RecordBatch]) -> Iterator[list[str]]:
    """The values of each column, from rows in which the rows of a column are adjacent."""
    last: str | None = None
    values: list[str] = []
    for batch in batches:
        names = batch.column(0).to_pylist()
        start = 0
        for name, same in groupby(names):
            count = sum(1 for _ in same)
            if name != last:
                yield values
                last, values = name, []
            values.extend(lake.list_texts(batch.column(1).slice(start, count)))
            start += count
    yield values


def _merge_pieces(blocks: DataFrame, settings: _BuildSettings) -> DataFrame:
    """The sums of the blocks of each piece.

    The last repartition makes all tasks run at once; without it `toLocalIterator` would run them one after the other.
    """

    def merge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _pack_blocks(_sum_pieces(_unpack_blocks(batches), settings.floor))

    return (
        blocks.repartition("piece")
        .sortWithinPartitions("piece")
        .mapInArrow(import_first(merge), _ROW)
        .repartition("piece")
    )


def _sum_pieces(blocks: Iterable[Block], floor: int) -> Iterator[Block]:
    for piece, same in groupby(blocks, key=lambda block: block[0]):
        if piece == _NOTE:
            yield from same
            continue
        rows = _sum_entries(body for _, body in same).at_least(floor).rows
        for start in range(0, len(rows), _ENTRIES_PER_ROW):
            yield piece, rows[start : start + _ENTRIES_PER_ROW].tobytes()


def _unpack_blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _pack_blocks(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    """The blocks as record batches of a bounded size."""
    waiting: list[Block] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block[1])
        if size > _BATCH_BYTES:
            yield _make_batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _make_batch(waiting)


def _make_batch(blocks: Sequence[Block]) -> pa.RecordBatch:
    arrays = [pa.array(values, field.type) for values, field in zip(zip(*blocks, strict=True), _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def run_job(spark: SparkSession, job: Callable[[], DataFrame], take: Callable[[DataFrame], T], name: str) -> T:
    """Run a job and return what `take` gets from its result.

    If the workers cannot import headgate, its code is sent to them and the job is run once more.
    """
    from pyspark.errors import PySparkException

    from headgate.engine.spark_code import ship_code
    from headgate.engine.spark_faults import missing_module, raise_fault, summarize_error
    from headgate.engine.spark_session import describe_jobs
    from headgate.engine.spark_settings import apply_settings

    with apply_settings(spark, SETTINGS), describe_jobs(spark, f"headgate: {name}"):
        try:
            return take(job())
        except PySparkException as error:
            if missing_module(error).partition(".")[0] != "headgate":
                raise_fault(error, spark)
                raise EngineError(f"the data could not be read: {summarize_error(error)}") from error
        ship_code(spark)
        return take(job())


def _run_spark_job(spark: SparkSession, job: Callable[[], DataFrame], spool: _Spool) -> None:
    run_job(spark, job, lambda blocks: _fetch_blocks(blocks, spool), "index of patterns")


def _fetch_blocks(blocks: DataFrame, spool: _Spool) -> None:
    spool.clear()
    spool.fill((row[0], bytes(row[1])) for row in blocks.toLocalIterator())
