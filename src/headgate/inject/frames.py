"""One column, or some rows, of a table of any kind in this process; the table is given back in its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from headgate.inject.issue import Rows
from headgate.values.errors import MisuseError
from headgate.values.schema import unique_labels


class LocalFrame:
    """A table whose columns are read, and of which a copy with another column or other rows is made."""

    def __init__(self, names: Sequence[Any], rows: int) -> None:
        self.labels = unique_labels([str(name) for name in names])
        self.rows = rows

    def column(self, at: int) -> pa.Array | pa.ChunkedArray:
        raise NotImplementedError

    def with_column(self, at: int, values: pa.Array) -> Any:
        raise NotImplementedError

    def take_rows(self, rows: Rows) -> Any:
        raise NotImplementedError


def open_frame(data: Any) -> LocalFrame:
    """The frame of a pyarrow table or batch, a pandas or polars frame, or what speaks Arrow's stream protocol."""
    room = type(data).__module__.partition(".")[0]
    if room == "pyspark":
        raise MisuseError(
            "an issue cannot be injected into a Spark DataFrame.",
            hint="Take a sample of it first: df.limit(10_000).toArrow().",
        )
    if isinstance(data, pa.RecordBatch):
        return _ArrowFrame(pa.Table.from_batches([data]), _one_batch)
    if isinstance(data, pa.Table):
        return _ArrowFrame(data)
    if room == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        return _PandasFrame(data)
    if room == "polars" and hasattr(data, "with_columns"):
        return _PolarsFrame(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _ArrowFrame(pa.table(data))
    raise MisuseError(
        f"{type(data).__module__}.{type(data).__name__} is not a table.",
        hint="Pass a pyarrow Table, or a pandas or polars frame.",
    )


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    columns = [column.combine_chunks() for column in table.columns]
    whole = [each if isinstance(each, pa.Array) else pa.concat_arrays(each.chunks) for each in columns]
    return pa.RecordBatch.from_arrays(whole, schema=table.schema)


class _ArrowFrame(LocalFrame):
    def __init__(self, table: pa.Table, back: Callable[[pa.Table], Any] = lambda table: table) -> None:
        super().__init__(table.column_names, table.num_rows)
        self._table = table
        self._back = back

    def column(self, at: int) -> pa.ChunkedArray:
        return self._table.column(at)

    def with_column(self, at: int, values: pa.Array) -> Any:
        field = self._table.schema.field(at).with_type(values.type)
        field = field.with_nullable(True) if values.null_count else field
        return self._back(self._table.set_column(at, field, values))

    def take_rows(self, rows: Rows) -> Any:
        return self._back(self._table.take(pa.array(rows)))


class _PandasFrame(LocalFrame):
    def __init__(self, data: Any) -> None:
        super().__init__(list(data.columns), len(data))
        self._data = data

    def column(self, at: int) -> pa.Array:
        try:
            return pa.array(self._data.iloc[:, at], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as trouble:
            raise MisuseError(
                f"the column {self.labels[at]!r} has no Arrow type: {trouble}.", hint="Give its values one type."
            ) from None

    def with_column(self, at: int, values: pa.Array) -> Any:
        import pandas

        before = self._data.dtypes.iloc[at]
        made = values.to_pandas()
        nullable = pandas.api.types.is_extension_array_dtype(before) and not isinstance(before, pandas.CategoricalDtype)
        if made.dtype != before and nullable and values.type == self.column(at).type:
            # by way of plain values: pandas' own route from Arrow makes doubles of whole numbers with nulls
            made = pandas.Series(values.to_pylist(), dtype=before)
        changed = self._data.copy()
        changed.isetitem(at, made.array)
        return changed

    def take_rows(self, rows: Rows) -> Any:
        return self._data.iloc[rows]


class _PolarsFrame(LocalFrame):
    def __init__(self, data: Any) -> None:
        self._lazy = hasattr(data, "collect")
        self._data = data.collect() if self._lazy else data
        super().__init__(self._data.columns, self._data.height)

    def column(self, at: int) -> pa.Array:
        return self._data.to_series(at).to_arrow()

    def with_column(self, at: int, values: pa.Array) -> Any:
        import polars

        series = polars.Series(self._data.columns[at], values)
        return self._restore_kind(self._data.with_columns(series))

    def take_rows(self, rows: Rows) -> Any:
        return self._restore_kind(self._data[rows])

    def _restore_kind(self, frame: Any) -> Any:
        return frame.lazy() if self._lazy else frame
