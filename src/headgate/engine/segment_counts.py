"""One scan of a batch that counts its rows by segment: what tells in which rows a fault is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headgate.engine.batch import is_spark
from headgate.engine.local import open_local
from headgate.engine.segment_fold import SegmentFold, merge_tables
from headgate.engine.segment_plan import SegmentColumn, SegmentCounts, Target, plan_segments
from headgate.values.errors import MisuseError

_ROWS_AT_ONCE = 1 << 16


def count_segments(
    data: Any,
    targets: Sequence[Target],
    by: Sequence[str | SegmentColumn],
    *,
    pairs: Sequence[tuple[str | SegmentColumn, str | SegmentColumn]] = (),
    hidden: bool = False,
) -> SegmentCounts:
    """Scan a batch once and count the rows of each segment by the bins of the targets.

    >>> import pyarrow as pa
    >>> table = pa.table({"carrier": ["EV", "EV", "AA"], "distance": [900.0, None, 40.0]})
    >>> counts = count_segments(table, [Target("distance", edges=(100.0,))], ["carrier"])
    >>> counts.tables[1].values, counts.tables[1].counts[0].tolist()
    ((('AA',), ('EV',)), [[1, 0, 0, 0], [0, 1, 1, 0]])

    Args:
        data: The batch, as `analyze` takes it.
        targets: The columns that are counted, with their bins. `Target()` is always added: it counts rows.
        by: The segment columns.
        pairs: Pairs of segment columns.
        hidden: On Spark, also count by source file and by Spark partition.
    """
    columns = [SegmentColumn(each) if isinstance(each, str) else each for each in by]
    both = [tuple(SegmentColumn(each) if isinstance(each, str) else each for each in pair) for pair in pairs]
    tables = [*((column,) for column in columns), *both]
    local = open_local(data)
    if local is not None:
        plan = plan_segments(local.schema, targets, tables)
        fold = SegmentFold(plan)
        for arrays, rows in local.read(plan.positions, _ROWS_AT_ONCE):
            fold.add(arrays, rows)
        return merge_tables(plan, [fold.tables()])
    if not is_spark(data):
        raise MisuseError("this is not a batch.", hint="Pass a Spark DataFrame, an Arrow table, or a pandas frame.")
    from headgate.engine.spark_segments import count_spark_segments

    return count_spark_segments(data, targets, tables, hidden)
