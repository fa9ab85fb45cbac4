"""The failing rows of a batch, each with its reasons, without a JVM. `spark_rows` does the same on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine.arrow_nested import split_elements
from headgate.engine.batch import is_spark
from headgate.engine.local import in_memory, open_local, row_test
from headgate.engine.nested import list_named
from headgate.engine.plan import RowQuestion
from headgate.engine.row_rule import FIELDS, REASONS, RowRule, Values, refuse_reasons
from headgate.metrics.base.arrow import to_plain
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.hashing import combine
from headgate.metrics.base.metric import FailingRows
from headgate.metrics.base.sql import add_backticks
from headgate.values.errors import MisuseError
from headgate.values.schema import Column, Schema

Mask: TypeAlias = npt.NDArray[np.bool_]
Reasons: TypeAlias = list[list[dict[str, Any]]]

_REASON = pa.struct([(name, pa.string()) for name in FIELDS])


def failing_rows(
    data: Any, rules: Sequence[RowRule], tables: Mapping[str, Any] | None = None, values: Values = "plain"
) -> Any:
    """The rows that break a rule, with a column `headgate_reasons`: for each broken rule its text, level and value.

    For a Spark DataFrame the result is a lazy DataFrame; for a pandas or polars frame, a frame of the same kind; for
    other data, a pyarrow Table.

    Args:
        data: The batch.
        rules: What rows may break.
        tables: The other tables that rules look into.
        values: Whether the values are given, or null.
    """
    if is_spark(data):
        from headgate.engine.spark_rows import spark_failing

        return spark_failing(data, rules, tables or {}, values)
    frame, rows = _open_rows(data, tables or {})
    return frame.select_failing(*rows.find_failing(rules, values))


def split_rows(
    data: Any, rules: Sequence[RowRule], tables: Mapping[str, Any] | None = None, values: Values = "plain"
) -> tuple[Any, Any]:
    """The rows that break no rule, unchanged, and the failing rows with their reasons. Arguments: as above."""
    if is_spark(data):
        from headgate.engine.spark_rows import spark_split

        return spark_split(data, rules, tables or {}, values)
    frame, rows = _open_rows(data, tables or {})
    bad, reasons = rows.find_failing(rules, values)
    return frame.select_passing(bad), frame.select_failing(bad, reasons)


class _RowSelector(NamedTuple):
    """How to select rows from one kind of data: the failing rows with their reasons, and the others."""

    select_failing: Callable[[Mask, Reasons], Any]
    select_passing: Callable[[Mask], Any]


class _RowTests:
    """Evaluates rules on the rows of a batch."""

    def __init__(self, schema: Schema, columns: Callable[[int], Any], count: int, tables: Mapping[str, Any]) -> None:
        self.schema = schema
        self.count = count
        self.tables = tables
        self._read = columns
        self._positions = schema.positions()
        self._columns: dict[str, pa.Array] = {}
        self._elements: dict[str, _ElementTests] = {}

    def find_failing(self, rules: Sequence[RowRule], values: Values) -> tuple[Mask, Reasons]:
        """A mask of the failing rows, and the reasons of each of them."""
        masks = [self.mask_rule(rule) for rule in rules] if self.count else []
        bad = np.logical_or.reduce(masks) if masks else np.zeros(self.count, np.bool_)
        indices = np.cumsum(bad) - 1
        reasons: Reasons = [[] for _ in range(int(bad.sum()))]
        for rule, mask in zip(rules[: len(masks)], masks, strict=True):
            rows = np.flatnonzero(mask)
            columns = [name for name in rule.failing_rows.columns if name in self._positions]
            fields = {
                "rule": rule.rule,
                "level": rule.level,
                "columns": ", ".join(columns),
                "message": rule.message,
            }
            shown = self.format_values(rule, columns if values == "plain" else (), rows)
            for row, value in zip(rows.tolist(), shown, strict=True):
                reasons[indices[row]].append({**fields, "value": value})
        return bad, reasons

    def mask_rule(self, rule: RowRule) -> Mask:
        failing = self.mask_breaking(rule)
        return failing if rule.graver is None else failing & ~self.mask_rule(rule.graver)

    def mask_breaking(self, rule: RowRule) -> Mask:
        """A mask of the rows that break a rule, or that have a value that does."""
        elements = self.open_elements(rule)
        if elements is not None:
            failing = np.zeros(self.count, np.bool_)
            failing[elements.rows[elements.tests.mask_breaking(rule)]] = True
            return failing
        inside = np.ones(self.count, np.bool_) if rule.where is None else self.mask_true(rule.where)
        return self.mask_failing(rule.failing_rows, inside, rule.by)

    def open_elements(self, rule: RowRule) -> _ElementTests | None:
        """The values of the column that a rule is about, as rows; None if every row has one."""
        texts = [rule.where or "", rule.failing_rows.test, *map(add_backticks, rule.failing_rows.columns)]
        label = next(iter(list_named("\n".join(texts), self.schema.repeated_labels)), None)
        if label is None:
            return None
        if label not in self._elements:
            elements = split_elements(label, {label: self.read_column(label)}, ())
            flat = Schema(tuple(_as_single(each) if each.label == label else each for each in self.schema.columns))
            places = pa.array(elements.rows)

            def read(position: int) -> pa.Array:
                name = flat.columns[position].label
                return elements.columns[label] if name == label else self.read_column(name).take(places)

            tests = _RowTests(flat, read, elements.total, self.tables)
            self._elements[label] = _ElementTests(label, tests, elements.rows)
        return self._elements[label]

    def mask_failing(self, failing: FailingRows, inside: Mask, by: Sequence[str]) -> Mask:
        """A mask of the failing rows among those inside, by the field of `failing` that is set."""
        if failing.repeated:
            return self.mask_repeated(failing.repeated, inside, by)
        if failing.test:
            return inside & self.mask_true(failing.test)
        if failing.form:
            return inside & self.mask_true(failing.form.format(add_backticks(failing.columns[0])))
        if failing.absent is not None:
            present = self.mask_true(failing.absent)
            return inside & self.some_value(failing.columns) & ~present
        column = self.column_batch(failing.columns[0])
        if failing.unlike:
            return inside & column.valid & ~_to_mask(pc.match_substring_regex(column.array, failing.unlike))
        numbers = column.numbers_with_gaps
        low = -np.inf if failing.low is None else failing.low
        high = np.inf if failing.high is None else failing.high
        return inside & ((numbers < low) | (numbers > high))  # neither is true of NaN

    def mask_repeated(self, columns: Sequence[str], inside: Mask, by: Sequence[str]) -> Mask:
        inside = inside & self.some_value(columns)
        first, _ = combine([self.column_batch(name).hashes for name in dict.fromkeys((*columns, *by))])
        _, groups, counts = np.unique(first[inside], return_inverse=True, return_counts=True)
        repeated = np.zeros(self.count, np.bool_)
        repeated[inside] = counts[groups] > 1
        return repeated

    def some_value(self, columns: Sequence[str]) -> Mask:
        return np.asarray(np.logical_or.reduce([self.column_batch(name).valid for name in columns]), np.bool_)

    def mask_true(self, question: RowQuestion) -> Mask:
        """A mask of the rows for which a predicate or a look-up is true."""
        test = row_test(question, self.schema, self.tables)
        met = test.of({name: self.read_column(name) for name in test.columns}, self.count)
        if test.error:
            raise MisuseError(f"{str(question)!r} could not be evaluated: {test.error}.")
        return _to_mask(met)

    def read_column(self, name: str) -> pa.Array:
        if name not in self._columns:
            self._columns[name] = to_plain(self._read(self._positions[name]))
        return self._columns[name]

    def column_batch(self, name: str) -> ColumnBatch:
        return ColumnBatch(self.read_column(name), self.schema.columns[self._positions[name]].kind)

    def format_values(self, rule: RowRule, columns: Sequence[str], rows: npt.NDArray[np.intp]) -> list[str | None]:
        """The failing value of each row as text; for several columns, each with its name."""
        if not columns:
            return [None] * len(rows)
        texts = [self.format_column(rule, name, rows) for name in columns]
        if len(columns) == 1:
            return texts[0]
        pairs = (zip(columns, row, strict=True) for row in zip(*texts, strict=True))
        return [", ".join(f"{name}={'null' if value is None else value}" for name, value in row) for row in pairs]

    def format_column(self, rule: RowRule, name: str, rows: npt.NDArray[np.intp]) -> list[str | None]:
        """The values of a column in these rows; of many values in a row, those that break the rule."""
        elements = self.open_elements(rule)
        if elements is None or elements.label != name:
            return _format_column(self.read_column(name).take(pa.array(rows)))
        failing = np.flatnonzero(elements.tests.mask_breaking(rule))
        found: dict[int, list[str]] = {}
        texts = _format_column(elements.tests.read_column(name).take(pa.array(failing)))
        for row, text in zip(elements.rows[failing].tolist(), texts, strict=True):
            found.setdefault(row, []).append("null" if text is None else text)
        return [f"[{', '.join(found[row])}]" for row in rows.tolist()]


class _ElementTests(NamedTuple):
    """The tests of the values of a column that has any number of them in a row, and the row of each."""

    label: str
    tests: _RowTests
    rows: npt.NDArray[np.int64]


def _as_single(column: Column) -> Column:
    return msgspec.structs.replace(column, repeated=False)


def _format_column(column: pa.Array) -> list[str | None]:
    """Values as Spark prints them, except for exponents and the zones of timestamps."""
    try:
        values = column.to_pylist()
    except (OverflowError, ValueError):  # a date beyond the year 9999
        values = column.cast(pa.string()).to_pylist()
    if pa.types.is_float32(column.type):  # printed as a float, not with the digits of a double
        values = [None if value is None else np.float32(value) for value in values]
    return [None if value is None else _format_cell(value) for value in values]


def _format_cell(value: Any) -> str:
    match value:
        case bytes():
            return value.hex().upper()
        case bool():
            return str(value).lower()
        case float() | np.floating():
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
    return str(value)


def _to_mask(met: Any) -> Mask:
    return np.asarray(pc.fill_null(to_plain(met), False).to_numpy(zero_copy_only=False), np.bool_)


def _open_rows(data: Any, tables: Mapping[str, Any]) -> tuple[_RowSelector, _RowTests]:
    """How to select rows from the data, and the tests of its rows, which read columns when they need them."""
    if isinstance(data, pa.RecordBatchReader):
        raise MisuseError(
            "a reader can be read once, and was read to be verified.", hint="Verify a Table: reader.read_all()."
        )
    data = in_memory(data)
    batch = open_local(data)
    if batch is None:
        name = f"{type(data).__module__}.{type(data).__name__}"
        raise MisuseError(f"{name} is not a batch.", hint="Pass the data that was verified.")
    refuse_reasons(batch.schema.labels)
    count = len(data)

    def read_column(position: int) -> Any:
        return next(arrays[0] for arrays, _ in batch.read([position], count))

    return _SELECTORS[type(data).__module__.partition(".")[0]](data), _RowTests(
        batch.schema, read_column, count, tables
    )


def filter_rows(table: pa.Table, chosen: Mask) -> pa.Table:
    """The chosen rows. Columns that Arrow cannot filter (views, run-end encodings) are decoded first."""
    try:
        return table.filter(pa.array(chosen))
    except pa.ArrowNotImplementedError:
        return pa.Table.from_arrays(list(map(to_plain, table.columns)), table.column_names).filter(pa.array(chosen))


def _of_arrow(table: pa.Table) -> _RowSelector:
    def select_failing(bad: Mask, reasons: Reasons) -> pa.Table:
        return filter_rows(table, bad).append_column(REASONS, pa.array(reasons, pa.list_(_REASON)))

    return _RowSelector(select_failing, lambda bad: filter_rows(table, ~bad))


def _of_pandas(frame: Any) -> _RowSelector:
    def select_failing(bad: Mask, reasons: Reasons) -> Any:
        import pandas

        failing = frame.loc[bad].copy()
        failing[REASONS] = pandas.Series(reasons, index=failing.index, dtype=object)
        return failing

    return _RowSelector(select_failing, lambda bad: frame.loc[~bad])


def _of_polars(frame: Any) -> _RowSelector:
    def select_failing(bad: Mask, reasons: Reasons) -> Any:
        import polars

        column: Any = polars.from_arrow(pa.array(reasons, pa.list_(_REASON)))
        return frame.filter(polars.Series(bad)).with_columns(column.alias(REASONS))

    def select_passing(bad: Mask) -> Any:
        import polars

        return frame.filter(polars.Series(~bad))

    return _RowSelector(select_failing, select_passing)


_SELECTORS: dict[str, Callable[[Any], _RowSelector]] = {
    "pyarrow": _of_arrow,
    "pandas": _of_pandas,
    "polars": _of_polars,
}
