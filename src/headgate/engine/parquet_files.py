"""Parquet files that a task reads by itself: which row groups it reads, and their columns as Arrow arrays.

Spark decodes such files into rows of its own and converts these to Arrow, which takes longer than the folds do. A file
that Spark would read in another way is refused (`UnlikeSpark`), and Spark reads the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine.local import LocalBatch, RowTest, add_places
from headgate.engine.nested import TypeTree
from headgate.engine.parquet_types import StoredSchema, UnlikeSpark, check_calendar, has_moments, make_arrow_type
from headgate.engine.s3_access import S3Access

if TYPE_CHECKING:
    import pyarrow.parquet as pq

Value: TypeAlias = Any  # of a partition column: a text, a number, a boolean or a date
Arrays: TypeAlias = dict[int, pa.Array]

_MOST_BYTES = 64 << 20  # of a batch as it is stored, and of the buffers from which a file on S3 is read
_LEAST_BUFFER = 1 << 16
_INDEX_BYTES = 4  # a value in plain encoding takes more, an index into a dictionary less


class FileColumn(msgspec.Struct, frozen=True):
    """A column as the files have it.

    Args:
        name: The name in Spark, and in the files unless they have ids.
        tree: The type in Spark.
        folder: The index among the values that folders are named after, of a column whose value is there.
        ids: In files of Iceberg, the id of the column and those of the fields inside it.
        is_always_stored: Whether a file without it has its values elsewhere. In other files without it, it is null.
    """

    name: str
    tree: TypeTree
    folder: int | None = None
    ids: tuple[int, ...] = ()
    is_always_stored: bool = False

    def find_in(self, schema: StoredSchema, ignores_case: bool) -> str | None:
        """The name in a file; None if the values are null there. Raises `UnlikeSpark` if they are something else."""
        if not self.ids:
            return schema.find_column(self.name, self.tree, ignores_case)
        name = schema.find_field(self.ids, self.tree)
        if name is None and self.is_always_stored:
            raise UnlikeSpark(f"a file lacks {self.name!r}, whose values are in the metadata of the table")
        return name


class FilePart(msgspec.Struct, frozen=True):
    """The row groups of a file that begin between two of its bytes, and the values that its folder is named after."""

    path: str
    start: int
    end: int | None  # None: to the end of the file
    values: tuple[Value, ...] = ()


def make_tasks(
    files: Sequence[tuple[FilePart, int]], most: int, opening: int, parallel: int
) -> tuple[tuple[FilePart, ...], ...]:
    """What each task reads, as Spark cuts files: large ones into parts, small ones together.

    >>> [len(task) for task in make_tasks([(FilePart("a", 0, None), 300), (FilePart("b", 0, None), 20)], 100, 4, 2)]
    [1, 1, 1, 1]

    Args:
        files: The files, each with its size in bytes.
        most: The most bytes of a task.
        opening: The bytes that could be read in the time it takes to open a file.
        parallel: How many tasks run at a time.
    """
    total = sum(size + opening for _, size in files)
    limit = max(1, min(most, max(opening, total // max(1, parallel))))
    parts = []
    for file, size in files:
        for start in range(0, max(1, size), limit):
            end = start + limit if start + limit < size else None
            parts.append((msgspec.structs.replace(file, start=start, end=end), min(limit, size - start)))
    tasks: list[list[FilePart]] = []
    taken = 0
    for part, size in sorted(parts, key=lambda each: -each[1]):
        if not tasks or taken + size > limit:
            tasks.append([])
            taken = 0
        tasks[-1].append(part)
        taken += size + opening
    return tuple(map(tuple, tasks))


class ParquetFiles:
    """The files of a batch.

    Args:
        names: The names of the batch's own columns.
        columns: The columns of the files and their folders, by any number of which a column of the batch is made.
        outputs: For each column of the batch the index of the one of `columns` that it is.
        tasks: What each task reads.
        tests: The predicates of the plan, in order.
        condition: Which rows belong to the batch; None if all do. It names the `columns`.
        counted: The indices of those of `columns` of which only the number of nulls is wanted. Where the footers of
            files have it, their values are not read.
        access: How the files are opened, if they are on S3; None if they are on the machine of the task.
        checks_calendar: Whether Spark refuses or rebases the days before the Gregorian calendar if it does not know
            which calendar the writer of a file used.
        ignores_case: Whether Spark finds a column whatever the case of the letters of its name.
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[FileColumn],
        outputs: Sequence[int],
        tasks: Sequence[Sequence[FilePart]],
        tests: Sequence[RowTest] = (),
        condition: RowTest | None = None,
        counted: frozenset[int] = frozenset(),
        access: S3Access | None = None,
        checks_calendar: bool = False,
        ignores_case: bool = True,
    ) -> None:
        self.names = tuple(names)
        self.columns = tuple(columns)
        self.outputs = tuple(outputs)
        self.tasks = tasks
        self.tests = tests
        self.condition = condition
        self.counted = counted
        self.access = access
        self.checks_calendar = checks_calendar
        self.ignores_case = ignores_case

    @property
    def count(self) -> int:
        """How many files there are."""
        return len({part.path for task in self.tasks for part in task})

    def open_task(self, number: int) -> LocalBatch:
        """What one task reads, as a batch with the schema that the DataFrame has."""
        types = [self.columns[output].tree for output in self.outputs]
        return add_places(zip(self.names, types, strict=True), partial(self._read_task, number))

    def check_first(self, wanted: Iterable[int]) -> None:
        """Raise `UnlikeSpark` if the first file has one of these columns in a form that Spark reads in another way.

        So a job is spared for tables all of whose files are like that. Nothing is said of a file that cannot be opened
        here: tasks may be on another machine.
        """
        if not self.tasks:
            return
        part = self.tasks[0][0]
        stored = {index: self.columns[index] for index in wanted if self.columns[index].folder is None}
        try:
            with _open_file(part.path, self.access) as source:
                schema = StoredSchema(_open_parquet(source))
        except (OSError, pa.ArrowException):
            return
        for column in stored.values():
            column.find_in(schema, self.ignores_case)

    def _read_task(self, number: int, positions: Sequence[int], size: int) -> Iterator[tuple[list[pa.Array], int]]:
        outputs = [self.outputs[position] for position in positions]
        named = self.condition.columns if self.condition else frozenset[str]()
        tested = [index for index, column in enumerate(self.columns) if column.name in named]
        for part in self.tasks[number]:
            for arrays, count in self._read_part(part, sorted({*outputs, *tested}), size):
                if self.condition is not None:
                    arrays, count = self._select_rows(arrays, count, tested)
                if count:
                    yield [arrays[output] for output in outputs], count

    def _select_rows(self, arrays: Arrays, count: int, tested: Sequence[int]) -> tuple[Arrays, int]:
        assert self.condition is not None
        mask = self.condition.of({self.columns[index].name: arrays[index] for index in tested}, count)
        if self.condition.error:
            raise UnlikeSpark(f"the condition of the rows: {self.condition.error}")
        selected = pc.fill_null(mask, False)
        kept = int(selected.true_count)
        if kept == count:
            return arrays, count
        return {index: array.filter(selected) for index, array in arrays.items()}, kept

    def _read_part(self, part: FilePart, wanted: Sequence[int], size: int) -> Iterator[tuple[Arrays, int]]:
        stored = [index for index in wanted if self.columns[index].folder is None]
        constant = [index for index in wanted if self.columns[index].folder is not None]
        with _open_file(part.path, self.access) as source:
            for arrays, count in self._read_stored(source, part, stored, size):
                for index in constant:
                    column = self.columns[index]
                    arrays[index] = _repeat(part.values[column.folder or 0], make_arrow_type(column.tree), count)
                yield arrays, count

    def _read_stored(
        self, source: Any, part: FilePart, wanted: Sequence[int], size: int
    ) -> Iterator[tuple[Arrays, int]]:
        file = _open_parquet(source)
        groups = _find_groups(file.metadata, part)
        if not groups:
            return
        schema = StoredSchema(file)
        columns = {index: self.columns[index] for index in wanted}
        places = {at: each.find_in(schema, self.ignores_case) for at, each in columns.items()}
        nulls = {at: _count_nulls(file, schema, groups, places[at]) for at in self.counted & set(places)}
        filled = {at: _fill_nulls(count) for at, count in nulls.items() if count is not None}
        places = {at: name for at, name in places.items() if at not in filled}
        names = [name for name in places.values() if name is not None]
        coded = _list_coded(file, schema, groups, names)
        buffer = 0 if self.access is None else max(_LEAST_BUFFER, _MOST_BYTES // max(1, len(names)))
        if coded or buffer:
            file = _open_parquet(source, metadata=file.metadata, read_dictionary=coded, buffer_size=buffer)
        for arrays, count in _read_groups(file, groups, names, min(size, _limit_rows(file, groups, names))):
            if self.checks_calendar:
                _check_calendars(schema, columns, places, arrays)
            read = {at: _take_column(columns[at], name, arrays, count) for at, name in places.items()}
            yield {**read, **{at: fill(count) for at, fill in filled.items()}}, count


def _read_groups(
    file: pq.ParquetFile, groups: Sequence[int], names: Sequence[str], size: int
) -> Iterator[tuple[dict[str, pa.Array], int]]:
    """The columns of row groups, so many rows at a time."""
    if not names:
        rows = sum(file.metadata.row_group(group).num_rows for group in groups)
        yield from (({}, min(size, rows - start)) for start in range(0, rows, size))
        return
    for batch in file.iter_batches(size, row_groups=groups, columns=names, use_threads=False):
        yield {name: batch.column(name) for name in names}, batch.num_rows


def _count_nulls(file: pq.ParquetFile, schema: StoredSchema, groups: Sequence[int], name: str | None) -> int | None:
    """How many values of a column are null in these row groups, by the footer; None if it does not tell."""
    if name is None or not schema.is_plain(name):
        return None
    chunks = [file.metadata.row_group(group).column(schema.positions[name]) for group in groups]
    if not all(chunk.is_stats_set and chunk.statistics.has_null_count for chunk in chunks):
        return None
    return int(sum(chunk.statistics.null_count for chunk in chunks))


def _fill_nulls(nulls: int) -> Callable[[int], pa.Array]:
    """A function that gives so many values at each call, the first `nulls` of all of which are null."""
    left = nulls

    def fill(count: int) -> pa.Array:
        nonlocal left
        absent = min(left, count)
        left -= absent
        return pa.concat_arrays([pa.nulls(absent, pa.bool_()), pa.repeat(True, count - absent)])

    return fill


def _take_column(column: FileColumn, name: str | None, arrays: Mapping[str, pa.Array], count: int) -> pa.Array:
    return pa.nulls(count, make_arrow_type(column.tree)) if name is None else arrays[name]


def _check_calendars(
    schema: StoredSchema,
    columns: Mapping[int, FileColumn],
    places: Mapping[int, str | None],
    arrays: Mapping[str, pa.Array],
) -> None:
    for at, name in places.items():
        if name is not None and has_moments(columns[at].tree):
            check_calendar(schema.facts, arrays[name])


def _open_parquet(source: Any, **options: Any) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", **options)


def _limit_rows(file: pq.ParquetFile, groups: Sequence[int], names: Sequence[str]) -> int:
    """The most rows of a batch, so that long values do not fill the memory of a worker."""
    wanted = set(names)
    leaves = [at for at in range(len(file.schema)) if file.schema.column(at).path.partition(".")[0] in wanted]
    chosen = [file.metadata.row_group(group) for group in groups]
    stored = sum(int(group.column(at).total_uncompressed_size) for group in chosen for at in leaves)
    return max(1, _MOST_BYTES * sum(int(group.num_rows) for group in chosen) // max(1, stored))


def _open_file(path: str, access: S3Access | None) -> Any:
    return pa.memory_map(path) if access is None else access.open_file(path)


def _find_groups(metadata: pq.FileMetaData, part: FilePart) -> list[int]:
    """The row groups that begin in the part. All parts of a file together have every row group once."""
    groups = []
    for group in range(metadata.num_row_groups):
        first = metadata.row_group(group).column(0)
        begin = first.data_page_offset
        if first.has_dictionary_page and first.dictionary_page_offset:
            begin = min(begin, first.dictionary_page_offset)
        if part.start <= begin and (part.end is None or begin < part.end):
            groups.append(group)
    return groups


def _list_coded(file: pq.ParquetFile, schema: StoredSchema, groups: Sequence[int], names: Sequence[str]) -> list[str]:
    """The text columns that nearly all row groups store as indices into a dictionary, so that folds can use it."""
    coded = []
    for name in names:
        if name in schema.positions and pa.types.is_string(schema.arrow.field(name).type):
            chunks = [file.metadata.row_group(group).column(schema.positions[name]) for group in groups]
            stored = sum(chunk.total_uncompressed_size for chunk in chunks)
            values = sum(chunk.num_values for chunk in chunks)
            are_indices = stored < _INDEX_BYTES * values or any(map(_has_long_values, chunks))
            if all(chunk.has_dictionary_page for chunk in chunks) and are_indices:
                coded.append(name)
    return coded


def _has_long_values(chunk: pq.ColumnChunkMetaData) -> bool:
    """Whether there may be values of more than 4 kB, of which writers keep no least and greatest in a footer."""
    return not (chunk.is_stats_set and chunk.statistics.has_min_max)


def _repeat(value: Value, kind: pa.DataType, count: int) -> pa.Array:
    """One value for all rows, a text as a dictionary of one entry."""
    if value is None:
        return pa.nulls(count, kind)
    if pa.types.is_string(kind):
        return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), pa.array([value], kind))
    return pa.repeat(pa.scalar(value, kind), count)
