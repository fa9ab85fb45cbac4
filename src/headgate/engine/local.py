"""The engine without a JVM: it folds Arrow tables, datasets and readers, pandas and polars frames in this process."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate.engine.arrow_nested import read_arrow_type, read_place, split_elements
from headgate.engine.file_errors import raise_outages
from headgate.engine.membership import LocalMembership, kinds_of
from headgate.engine.nested import TypeTree, build_schema, list_named
from headgate.engine.part import Part
from headgate.engine.parted_scan import PartedScan, ScanResult
from headgate.engine.plan import EVERY_ROW, Plan, RowQuestion
from headgate.engine.progress import Progress
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.metric import Membership
from headgate.values.errors import EngineError, MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Kind, Schema
from headgate.values.state import State

ROWS = 1 << 16  # the most rows in a batch
_NOT_READ = "the files could not be read to the end"
CELLS = 1 << 23  # cells in a batch, about, so that wide tables get fewer rows

if TYPE_CHECKING:
    import pyarrow.dataset as ds

    from headgate.engine.predicates import RowPredicate

Arrays = Sequence[pa.Array | pa.ChunkedArray]


class LocalBatch:
    """Data in this process: the schema, and a function that reads columns some rows at a time."""

    def __init__(
        self,
        schema: Schema,
        read: Callable[[Sequence[int], int], Iterator[tuple[Arrays, int]]],
        count_rows: Callable[[], int] = lambda: 0,
    ) -> None:
        self.schema = schema
        self.read = read
        self.count_rows = count_rows  # 0 if the count is not known without reading the data


def open_local(data: Any) -> LocalBatch | None:
    """The data as a local batch; None if this engine does not support their type."""
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return _of_columns(data.column_names, data.columns, data.num_rows)
    if _is_dataset(data):
        return _of_dataset(data)
    if isinstance(data, pa.RecordBatchReader):
        return _of_reader(data)
    match type(data).__module__.partition(".")[0]:
        case "pandas" if hasattr(data, "columns"):
            return _of_pandas(data)
        case "polars" if hasattr(data, "lazy"):
            table = (data.collect() if hasattr(data, "collect") else data).to_arrow()
            return _of_columns(table.column_names, table.columns, table.num_rows)
    return None


def in_memory(data: Any) -> Any:
    """The data as a table or an eager frame, whose rows can be counted and selected; other data unchanged."""
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _is_dataset(data) or isinstance(data, pa.RecordBatchReader):
        with raise_outages(_NOT_READ):
            return data.to_table() if _is_dataset(data) else data.read_all()
    lazy = type(data).__module__.startswith("polars.") and hasattr(data, "collect")
    return data.collect() if lazy else data


def _is_dataset(data: Any) -> bool:
    """Whether it is a dataset of Arrow. The module, which brings pandas, is loaded already if there is one."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(data, module.Dataset)


def run_local(
    batch: LocalBatch,
    plan: Plan,
    tables: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ScanResult:
    """One pass over the batch: the states of each part by state key, and the metrics that failed."""
    plan, tests = _build_tests(plan, tables or {})
    scan = PartedScan(plan)
    states: dict[Part, dict[MetricKey, State]] = {} if plan.by and not plan.whole else {(): {}}
    for _ in fold_rows(batch, scan, tests, progress):
        pass
    for part, slot, state in scan.states():
        states.setdefault(part, {})[plan.folds[slot].metric.state_key] = state
    errors = {plan.folds[slot].metric.state_key: why for slot, why in scan.errors.items()}
    lost = {each.key: Failed(errors[each.state_key]) for each in plan.metrics if each.state_key in errors}
    for test in tests:
        if test.error:
            plan = plan.without(
                test.question, f"the predicate {str(test.question)!r} could not be evaluated: {test.error}"
            )
    return ScanResult(states, {**lost, **plan.failed})


def fold_rows(
    batch: LocalBatch, scan: PartedScan, tests: Sequence[RowTest], progress: Callable[[Progress], None] | None = None
) -> Iterator[None]:
    """Fold the rows of a batch, and pause after each piece of it.

    Args:
        batch: The batch.
        scan: The scan, with the plan.
        tests: The predicates and look-ups of the plan, in order.
        progress: A function that is called with a `Progress` after each piece.
    """
    plan, labels = scan.plan, batch.schema.labels
    read = {label for test in tests for label in test.columns}
    extra = [at for at, label in enumerate(labels) if at in plan.by or label in read]
    positions = [*plan.columns, *(at for at in extra if at not in plan.columns)]
    keys = [positions.index(at) for at in plan.by]
    for arrays, count in _report_rows(batch, batch.read(positions, limit_rows(len(positions))), progress):
        named = {labels[at]: array for at, array in zip(positions, arrays, strict=True)}
        columns = [*arrays[: len(plan.columns)], *(test.of(named, count) for test in tests)]
        scan.add([arrays[at] for at in keys], columns)
        yield


def limit_rows(columns: int) -> int:
    """The most rows of a batch with so many columns.

    >>> limit_rows(8), limit_rows(500)
    (65536, 16777)
    """
    return max(1, min(ROWS, CELLS // max(1, columns)))


def _report_rows(
    batch: LocalBatch, read: Iterator[tuple[Arrays, int]], progress: Callable[[Progress], None] | None
) -> Iterator[tuple[Arrays, int]]:
    """The pieces of `read`, with a report to the caller after each was folded. Errors of the callback are ignored."""
    if progress is None:
        yield from read
        return
    done, total = 0, batch.count_rows()
    for arrays, count in read:
        yield arrays, count
        done += count
        with contextlib.suppress(Exception):
            progress(Progress(done, total, rows=done))


class RowTest:
    """A row predicate or a look-up over the batches of one scan. `error` is its first error; empty if there is none."""

    def __init__(
        self, question: RowQuestion, evaluate: Callable[[Any, int], pa.Array], columns: frozenset[str]
    ) -> None:
        self.question = question
        self.columns = columns
        self.error = ""
        self._evaluate = evaluate

    def of(self, rows: dict[str, Any], count: int) -> pa.Array:
        if not self.error:
            try:
                return self._evaluate(rows, count)
            except (pa.ArrowException, TypeError, RecursionError) as error:
                self.error = str(error)
        return pa.nulls(count, pa.bool_())


def row_test(question: RowQuestion, schema: Schema, tables: Mapping[str, Any]) -> RowTest:
    """The test of a predicate or a look-up on rows of this schema; raises `MisuseError` if it cannot be evaluated."""
    if isinstance(question, Membership):
        other = open_local(tables.get(question.table))
        kinds = kinds_of(question, schema, other.schema if other else None, list(tables))
        assert other is not None
        positions = other.schema.positions()
        chunks = [arrays for arrays, _ in other.read([positions[name] for name in question.of], ROWS)]
        return RowTest(question, LocalMembership(question, kinds, chunks).of, frozenset(question.columns))
    if question == EVERY_ROW:
        return RowTest(question, lambda rows, count: pa.repeat(True, count), frozenset())
    from headgate.engine.predicates import RowPredicate  # loads the SQL parser, which most scans do not need

    places = frozenset(column.label for column in schema.columns if column.parent)
    predicate = RowPredicate(question, schema.labels, places)
    for label in list_named(question, schema.repeated_labels):
        return RowTest(question, _test_elements(predicate, label), predicate.columns)
    return RowTest(question, predicate, predicate.columns)


def _test_elements(predicate: RowPredicate, label: str) -> Callable[[Any, int], pa.Array]:
    """The test of all values of a column with any number of them in a row: a list of results for each row."""

    def evaluate(rows: Mapping[str, Any], count: int) -> pa.Array:
        del count
        elements = split_elements(label, rows, predicate.columns)
        return pa.LargeListArray.from_arrays(pa.array(elements.offsets), predicate(elements.columns, elements.total))

    return evaluate


def _build_tests(plan: Plan, tables: Mapping[str, Any]) -> tuple[Plan, list[RowTest]]:
    """The plan without the metrics whose predicates cannot be evaluated, and the tests of the others."""
    tests = {}
    for question in plan.questions:
        try:
            tests[question] = row_test(question, plan.schema, tables)
        except MisuseError as error:
            plan = plan.without(question, str(error))
    return plan, [tests[question] for question in plan.questions]


def _of_columns(names: Sequence[str], columns: Arrays, count: int, trees: Sequence[TypeTree] = ()) -> LocalBatch:
    def read(positions: Sequence[int], size: int) -> Iterator[tuple[Arrays, int]]:
        for start in range(0, count, size):
            yield [columns[at].slice(start, size) for at in positions], min(size, count - start)

    types = trees or [read_arrow_type(column.type) for column in columns]
    return add_places(zip(names, types, strict=True), read, lambda: count)


def add_places(
    columns: Iterable[tuple[str, TypeTree]],
    read: Callable[[Sequence[int], int], Iterator[tuple[Arrays, int]]],
    count_rows: Callable[[], int] = lambda: 0,
) -> LocalBatch:
    """A batch whose columns are those that `read` gives, and the places inside them."""
    schema, paths = build_schema(columns)
    if len(schema.top_labels) == len(schema.columns):
        return LocalBatch(schema, read, count_rows)

    def read_places(positions: Sequence[int], size: int) -> Iterator[tuple[Arrays, int]]:
        wanted = [paths[at] for at in positions]
        sources = list(dict.fromkeys(path.source for path in wanted))
        for arrays, count in read(sources, size):
            given = dict(zip(sources, arrays, strict=True))
            yield [read_place(given[path.source], path.steps) for path in wanted], count

    return LocalBatch(schema, read_places, count_rows)


def _of_dataset(data: ds.Dataset) -> LocalBatch:
    from pyarrow.dataset import field as read_field

    fields = list(data.schema)
    if len({field.name for field in fields}) < len(fields):
        raise EngineError(
            "this dataset has two columns of one name.", hint="Read it into a table first: dataset.to_table()."
        )

    def read(positions: Sequence[int], size: int) -> Iterator[tuple[Arrays, int]]:
        # by expression, because Arrow reads a plain name that begins with a dot as a path
        wanted = {str(at): read_field(fields[at].name) for at in positions}
        batches = data.to_batches(columns=wanted, batch_size=size)
        for batch in _read_all(batches):
            if batch.num_rows:
                yield batch.columns, batch.num_rows

    columns = ((field.name, read_arrow_type(field.type)) for field in fields)
    return add_places(columns, read, lambda: _count_rows(data))


def _read_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    while True:
        with raise_outages(_NOT_READ):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _count_rows(data: ds.Dataset) -> int:
    """The number of rows of a dataset if its files store it, else 0."""
    from pyarrow.dataset import ParquetFileFormat

    if not isinstance(getattr(data, "format", None), ParquetFileFormat):
        return 0
    try:
        return int(data.count_rows())
    except (pa.ArrowException, OSError):  # the scan will report it
        return 0


def _of_reader(data: pa.RecordBatchReader) -> LocalBatch:
    def read(positions: Sequence[int], size: int) -> Iterator[tuple[Arrays, int]]:
        for batch in _read_all(iter(data)):
            for start in range(0, batch.num_rows, size):
                part = batch.slice(start, size)
                yield [part.column(at) for at in positions], part.num_rows

    return add_places(((field.name, read_arrow_type(field.type)) for field in data.schema), read)


def _of_pandas(data: Any) -> LocalBatch:
    """The columns of a frame, converted one by one, so that one that Arrow cannot convert does not affect the others.

    NaN is null, as in pandas.
    """
    columns, trees = [], []
    for position in range(data.shape[1]):
        series = data.iloc[:, position]
        try:
            column = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            column = pa.array([True if there else None for there in series.notna()], pa.bool_())
            tree = TypeTree(Kind.OTHER, str(series.dtype))
        else:
            text = str(column.type if pa.types.is_null(column.type) else series.dtype)
            is_inferred = series.dtype == object  # from these values: other rows may have other fields
            tree = TypeTree(kind_of(column.type), text) if is_inferred else read_arrow_type(column.type, text)
        columns.append(column)
        trees.append(tree)
    return _of_columns([str(name) for name in data.columns], columns, len(data), trees)
