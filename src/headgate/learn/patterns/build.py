"""The offline stage of Auto-Validate: from a lake of columns to an index file, by a Spark job or in this process.

    tables, or rows of (column, value)
       |   each task: columns -> bounded columns -> entries, added up as long as they are few
       v
    (piece, entries of a piece)      pieces are ranges of keys, which are hashes: all about as large
       |   repartition by piece: entries of one pattern meet, and are added up
       v
    driver: pieces in the order of their keys -> file

When a lake is read no value of it is exchanged, and no pattern is a row of its own: Spark moves blocks of entries.
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

from headgate.learn.patterns import index_file, lake
from headgate.learn.patterns.entries import ENTRY, Entries, Rows
from headgate.learn.patterns.enumerate import TAU, Columns, count_patterns
from headgate.learn.patterns.lake import CUT, LEAST, ROWS, LakeColumn, LakeTable, SkippedFile
from headgate.learn.patterns.pattern import LANGUAGE
from headgate.learn.patterns.sample import DISTINCT, SampledColumn
from headgate.values.errors import EngineError, MisuseError
from headgate.values.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS_AT_ONCE = (
    100  # columns that are enumerated at once: with 200 distinct values each, 300 MB, of mixed ones up to 2 GB
)
_MOST_WAITING = 1 << 20  # entries that wait, at least, before they are added up
_BITS = 10  # leading bits of a key that say its piece
_NOTE = -1  # instead of a piece: what a task says of its work
_BODY = 25_000  # entries of one row, 1 MB
_BATCH_BYTES = 16 << 20
_TABLES_A_TASK = 32
_FEWEST_TASKS, _MOST_TASKS = 32, 10_000
_SKIPPED_SHOWN = 5

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # of values, or of blocks, which have 40 kB
    # So that a column is cut to its first values before it is exchanged; Spark's own bound is 1,000 values.
    "spark.sql.optimizer.windowGroupLimitThreshold": str(2**31 - 1),
}
"""Settings of the session for the time of the job."""

_ROW = "piece int, body binary"
_ARROW = pa.schema([("piece", pa.int32()), ("body", pa.binary())])

T = TypeVar("T")
Block: TypeAlias = tuple[int, bytes]
Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
IndexSource: TypeAlias = "str | Path | Iterable[str | Path] | Iterable[tuple[str, Sequence[str]]] | DataFrame"


class BuildResult(msgspec.Struct, frozen=True):
    """An index that was built: where it is, what it holds, and the files that could not be read."""

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
            more = len(self.skipped) - _SKIPPED_SHOWN
            lines.append(f"{len(self.skipped):,} files skipped:")
            lines += [f"  {each.path}: {each.why}" for each in self.skipped[:_SKIPPED_SHOWN]]
            lines += [f"  and {more:,} more"] if more > 0 else []
        return "\n".join(lines)


class _Recipe(msgspec.Struct, frozen=True):
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
    rows: int = ROWS,
    tasks: int | None = None,
) -> BuildResult:
    """Write the index of all patterns of the source's columns: how many have each of them, and how much of it.

    `source` is a lake (paths of Parquet and CSV files and of folders), pairs of a column's name and its values in their
    order, or a DataFrame with the columns `column`, `value` and, if there is one, `position`, the order of the values.
    Without a position the order is that of a hash of the value and of the number of its repeat: the first values are
    then a random sample, always the same one. A lake is read by `spark` if that is given, as `tasks` tasks, else by
    this process; the file is the same byte for byte.

    Of each table the first `rows` rows are read, of a DataFrame's column its first `rows` values; null and the empty
    text are no values, and columns with fewer than 10 are left out. Of a column, `DISTINCT` distinct values are kept.
    Values with more than `tau` tokens have no patterns here; patterns of fewer than `floor` columns are not written.

    The file holds hashes of patterns and counts, no values. It is there whole or not at all. Through Spark Connect its
    size is bounded by the server's `spark.driver.maxResultSize`.
    """
    begun, target = time.monotonic(), Path(target)
    recipe = _check_recipe(_Recipe(tau, floor, rows), target)
    with ExitStack() as stack:
        spool = _Spool(stack.enter_context(tempfile.TemporaryFile(dir=target.parent)))
        if hasattr(source, "mapInArrow"):
            frame: Any = source
            _run_spark_job(frame.sparkSession, lambda: _merge_pieces(_read_frame(frame, recipe), recipe), spool)
        else:
            _fill_spool(spool, source, spark, recipe, tasks)
        about = {"name": name, "columns": spool.columns, "tau": tau, "floor": floor, "rows": rows}
        about |= {"distinct": DISTINCT, "language": LANGUAGE, "headgate": __version__}
        index_file.write_index(target, spool.entries(floor), about)
    with index_file.PatternFile.open(target) as index:
        patterns = len(index)
    taken = time.monotonic() - begun
    return BuildResult(str(target), spool.columns, patterns, target.stat().st_size, taken, sorted(spool.skipped))


def index_columns(columns: Iterable[Sequence[str]], tau: int = TAU) -> Entries:
    """What columns, each given as its values in their order, say of their patterns; in memory.

    >>> entries = index_columns([["A-1", "A-2"], ["B-7"]])
    >>> int(entries.rows["columns"].max())
    2
    """
    gathered = _ColumnBuffer(tau)
    for values in columns:
        gathered.add(values)
    return gathered.take()


def _check_recipe(recipe: _Recipe, target: Path) -> _Recipe:
    for name, least in (("tau", 1), ("floor", 1), ("rows", LEAST)):
        if getattr(recipe, name) < least:
            raise MisuseError(f"{name} is {getattr(recipe, name)}.", hint=f"Give {least} or more.")
    if not target.parent.is_dir():
        raise MisuseError(f"there is no folder {target.parent} for the index.", hint="Make it first.")
    return recipe


def _fill_spool(spool: _Spool, source: Any, spark: SparkSession | None, recipe: _Recipe, tasks: int | None) -> None:
    """From paths, or from pairs, which are never sent to Spark."""
    given = iter([source] if isinstance(source, str | Path) else source)
    first = next(given, None)
    if first is None:
        raise MisuseError("there is nothing to index.", hint="Give paths, a DataFrame, or columns with their values.")
    if not isinstance(first, str | Path):
        if spark is not None:
            raise MisuseError("pairs of column and values are in this process.", hint="Leave `spark` out.")
        pairs = chain([first], given)
        spool.fill(_make_blocks((_take_values(values, recipe.rows) for _, values in pairs), recipe.tau))
        return
    tables = lake.find_tables([first, *given])
    if not tables:
        raise MisuseError(f"no Parquet or CSV file is in {first}.", hint="Files are known by the ends of their names.")
    if spark is None:
        spool.fill(_make_blocks(_read_tables(tables, recipe), recipe.tau))
        return
    _run_spark_job(spark, lambda: _merge_pieces(_read_lake(spark, tables, recipe, tasks), recipe), spool)


# Columns to blocks of entries, in a task or in this process.


class _EntrySum:
    """Entries added up as they come, when as many wait as were added before: each is moved a few times only."""

    def __init__(self) -> None:
        self._total = Entries.empty()
        self._waiting: list[Rows] = []
        self.size = 0

    def add(self, rows: Rows) -> None:
        self._waiting.append(rows)
        self.size += len(rows)
        if self.size - len(self._total) > max(len(self._total), _MOST_WAITING):
            self.total()

    def total(self) -> Entries:
        if self._waiting:
            self._total = Entries.of(np.concatenate([self._total.rows, *self._waiting]))
            self._waiting, self.size = [], len(self._total)
        return self._total


class _ColumnBuffer:
    """Columns that wait to be enumerated together, and the entries of those before."""

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
        """Whether there are many, also when added up; columns that are alike add up to few, and go on together."""
        return self._sum.size >= _MOST_WAITING and len(self._sum.total()) >= _MOST_WAITING // 2

    def take(self) -> Entries:
        self._enumerate_columns()
        total, self._sum = self._sum.total(), _EntrySum()
        return total

    def _enumerate_columns(self) -> None:
        if self._columns:
            self._sum.add(count_patterns(Columns.of(self._columns), self.tau).rows)
            self._columns = []


def _make_blocks(columns: Iterable[Sequence[str] | SkippedFile], tau: int) -> Iterator[Block]:
    """Entries of columns, cut into pieces, and a note of what was indexed and skipped."""
    gathered, count, skipped = _ColumnBuffer(tau), 0, []
    for each in columns:
        if isinstance(each, SkippedFile):
            skipped.append(each)
        elif len(each) >= LEAST:
            gathered.add(each)
            count += 1
            if gathered.is_full:
                yield from _cut_pieces(gathered.take())
    yield from _cut_pieces(gathered.take())
    yield _NOTE, msgspec.msgpack.encode(_TaskNote(count, skipped))


def _cut_pieces(entries: Entries) -> Iterator[Block]:
    begins = np.arange(1 << _BITS, dtype=np.uint64) << np.uint64(64 - _BITS)
    ends = np.append(np.searchsorted(entries.rows["key"], begins), len(entries)).tolist()
    for piece in range(1 << _BITS):
        if ends[piece] < ends[piece + 1]:
            yield piece, entries.rows[ends[piece] : ends[piece + 1]].tobytes()


def _read_tables(tables: Iterable[LakeTable], recipe: _Recipe) -> Iterator[Sequence[str] | SkippedFile]:
    for table in tables:
        for each in lake.columns_of(table, recipe.rows):
            yield each.values if isinstance(each, LakeColumn) else each


def _take_values(values: Iterable[str | None], rows: int) -> list[str]:
    return [value[:CUT] for value in values if value][:rows]


class _Spool:
    """Blocks on disk in the order in which they came; each piece is read once."""

    def __init__(self, disk: IO[bytes]) -> None:
        self._disk = disk
        self._places: dict[int, list[tuple[int, int]]] = {}
        self.columns = 0
        self.skipped: list[SkippedFile] = []

    def fill(self, blocks: Iterable[Block]) -> None:
        for piece, body in blocks:
            if piece == _NOTE:
                note = msgspec.msgpack.decode(body, type=_TaskNote)
                self.columns += note.columns
                self.skipped += note.skipped
            else:
                self._places.setdefault(piece, []).append((self._disk.tell(), len(body)))
                self._disk.write(body)

    def clear(self) -> None:
        self._disk.seek(0)
        self._disk.truncate()
        self._places, self.columns, self.skipped = {}, 0, []

    def entries(self, floor: int) -> Iterator[Entries]:
        """In the order of the keys."""
        for piece in sorted(self._places):
            yield _sum_entries(self._read_bodies(piece)).at_least(floor)

    def _read_bodies(self, piece: int) -> Iterator[bytes]:
        for place, length in self._places[piece]:
            self._disk.seek(place)
            yield self._disk.read(length)


def _sum_entries(bodies: Iterable[bytes]) -> Entries:
    total = _EntrySum()
    for body in bodies:
        total.add(np.frombuffer(body, ENTRY))
    return total.total()


# The job. pyspark is needed by nobody who does not come with a session or a DataFrame of their own.


def _read_lake(spark: SparkSession, tables: Sequence[LakeTable], recipe: _Recipe, tasks: int | None) -> DataFrame:
    encoded_tables = [(msgspec.json.encode(table).decode(),) for table in tables]
    usual = max(_FEWEST_TASKS, min(len(tables) // _TABLES_A_TASK, _MOST_TASKS))
    frame = spark.createDataFrame(encoded_tables, "encoded string").repartition(tasks or min(usual, len(tables)))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        each = (text for batch in batches for text in batch.column(0).to_pylist())
        tables = (msgspec.json.decode(text, type=LakeTable) for text in each)
        return _pack_blocks(_make_blocks(_read_tables(tables, recipe), recipe.tau))

    return frame.mapInArrow(read, _ROW)


def _read_frame(frame: DataFrame, recipe: _Recipe) -> DataFrame:
    """All values of a column are in one task, because the window has put them there, and come in their order."""
    kinds = {name.lower(): kind for name, kind in frame.dtypes}
    if "column" not in kinds or not kinds.get("value", "").startswith("string"):
        raise MisuseError(
            f"the DataFrame has the columns {', '.join(frame.columns)}.",
            hint="Name them `column`, `value` (a text) and, if the values have an order, `position`.",
        )
    order = ["`position` AS p"] if "position" in kinds else []
    # The text of expressions, because pyspark's functions are for one kind of session and a process may have both.
    cells = frame.selectExpr("CAST(`column` AS STRING) AS c", f"substring(`value`, 1, {CUT}) AS v", *order)
    cells = cells.filter("c IS NOT NULL AND v IS NOT NULL AND v <> ''")
    if order:
        ranked = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c ORDER BY p NULLS LAST, v) AS r")
    else:
        cells = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c, v ORDER BY v) AS n")
        ranked = cells.selectExpr("c", "v", "row_number() OVER (PARTITION BY c ORDER BY xxhash64(v, n), v, n) AS r")
    first = ranked.filter(f"r <= {recipe.rows}").sortWithinPartitions("c", "r").select("c", "v")

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _pack_blocks(_make_blocks(_group_by_column(batches), recipe.tau))

    return first.mapInArrow(read, _ROW)


def _group_by_column(batches: Iterable[pa.RecordBatch]) -> Iterator[list[str]]:
    """The values of each column, from rows of which those of one column follow each other."""
    last: str | None = None
    held: list[str] = []
    for batch in batches:
        names = batch.column(0).to_pylist()
        at = 0
        for name, same in groupby(names):
            count = sum(1 for _ in same)
            if name != last:
                yield held
                last, held = name, []
            held.extend(lake.list_texts(batch.column(1).slice(at, count)))
            at += count
    yield held


def _merge_pieces(blocks: DataFrame, recipe: _Recipe) -> DataFrame:
    """Blocks of one piece added up. The last exchange lets that be done at once, before the driver fetches in turn."""

    def merge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _pack_blocks(_sum_pieces(_unpack_blocks(batches), recipe.floor))

    return blocks.repartition("piece").sortWithinPartitions("piece").mapInArrow(merge, _ROW).repartition("piece")


def _sum_pieces(blocks: Iterable[Block], floor: int) -> Iterator[Block]:
    for piece, same in groupby(blocks, key=lambda block: block[0]):
        if piece == _NOTE:
            yield from same
            continue
        rows = _sum_entries(body for _, body in same).at_least(floor).rows
        yield from ((piece, rows[at : at + _BODY].tobytes()) for at in range(0, len(rows), _BODY))


def _unpack_blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _pack_blocks(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    """Blocks as record batches of a bounded size."""
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
    """What is taken from a job's result; once more, with our code sent along, if the workers lack it."""
    from pyspark.errors import PySparkException

    from headgate.engine.spark_code import explain_failure, missing_module, ship_code
    from headgate.engine.spark_session import apply_settings, describe_jobs

    with apply_settings(spark, SETTINGS), describe_jobs(spark, f"headgate: {name}"):
        try:
            return take(job())
        except PySparkException as trouble:
            if missing_module(trouble).partition(".")[0] != "headgate":
                raise _as_engine_error(trouble, explain_failure) from trouble
        ship_code(spark)
        return take(job())


def _as_engine_error(trouble: Exception, explain_error: Callable[[Exception, str], EngineError]) -> EngineError:
    return explain_error(trouble, (str(trouble).strip() or type(trouble).__name__).splitlines()[0][:500])


def _run_spark_job(spark: SparkSession, job: Callable[[], DataFrame], spool: _Spool) -> None:
    run_job(spark, job, lambda blocks: _fetch_blocks(blocks, spool), "index of patterns")


def _fetch_blocks(blocks: DataFrame, spool: _Spool) -> None:
    spool.clear()
    spool.fill((row[0], bytes(row[1])) for row in blocks.toLocalIterator())
