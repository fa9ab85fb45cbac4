"""Splits a table at random into training rows and held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.engine.batch import is_spark
from headgate.engine.local import in_memory, open_local
from headgate.engine.rows import filter_rows
from headgate.metrics.base.metric import Metric
from headgate.values.errors import MisuseError

SMALL_TABLE = 20_000  # half of a table with fewer rows is used for training
MIN_TRAINING = 10_000  # training rows of a larger table, unless a tenth of it is more
DEFAULT_SHARE = 0.1

_MARK = "headgate_training"
_WHICH: tuple[Any, Any] = (True, False)


class Split(NamedTuple):
    """The training rows, and a function that measures metrics of the training rows and of the held-out rows."""

    training: Any
    measure: Callable[[Sequence[Metric[Any]]], tuple[Analysis, Analysis]]


def split_rows(data: Any, share: float | None, seed: int) -> Split:
    """Split a table; the same seed splits the same table in the same way."""
    if share is not None and not 0 < share < 1:
        raise MisuseError(f"a sample of {share} leaves no rows to train or none to hold out.", hint="Write sample=0.1.")
    return _spark_split(data, share or DEFAULT_SHARE, seed) if is_spark(data) else _local_split(data, share, seed)


def _spark_split(data: Any, share: float, seed: int) -> Split:
    """Split by `rand(seed)`: the same in every scan, if the frame has the same partitions and order of rows."""
    chance = f"rand({_stream_seed(seed)}) < {share!r}D"

    def measure(metrics: Sequence[Metric[Any]]) -> tuple[Analysis, Analysis]:
        mark = _MARK
        while mark.lower() in {name.lower() for name in data.columns}:
            mark += "_"
        parts = analyze(data.selectExpr("*", f"{chance} AS {mark}"), metrics, by=mark)
        trained, others = ({mark: which} for which in _WHICH)
        return parts.view(**trained), parts.view(**others)

    return Split(data.where(chance), measure)


def _local_split(data: Any, share: float | None, seed: int) -> Split:
    table, rows = _open_rows(data)
    chosen = np.random.default_rng(_stream_seed(seed)).random(rows) < (share_of(rows) if share is None else share)
    training, rest = _select_rows(table, chosen), _select_rows(table, ~chosen)

    def measure(metrics: Sequence[Metric[Any]]) -> tuple[Analysis, Analysis]:
        return analyze(training, metrics), analyze(rest, metrics)

    return Split(training, measure)


def _stream_seed(seed: int) -> int:
    """A seed for a separate random stream: data drawn with the same seed must not correlate with the split."""
    return crc32(f"{_MARK} {seed}".encode())


def share_of(rows: int) -> float:
    """The default share of training rows: half of a small table, a tenth of a large one.

    >>> share_of(5_000), share_of(50_000), share_of(1_000_000)
    (0.5, 0.2, 0.1)
    """
    return 0.5 if rows < SMALL_TABLE else max(DEFAULT_SHARE, MIN_TRAINING / rows)


def _open_rows(data: Any) -> tuple[Any, int]:
    """The data as a table from which rows can be selected, and its row count."""
    table = in_memory(data)
    if open_local(table) is None:
        raise MisuseError(
            f"{type(data).__module__}.{type(data).__name__} is not a batch.",
            hint="Pass a Spark DataFrame, a pyarrow Table, Dataset or RecordBatchReader, or a pandas or polars frame.",
        )
    return table, len(table)


def _select_rows(table: Any, chosen: npt.NDArray[np.bool_]) -> Any:
    if isinstance(table, pa.Table):
        return filter_rows(table, chosen)
    return table[chosen] if hasattr(table, "iloc") else table.filter(chosen)
