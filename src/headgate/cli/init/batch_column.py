"""Finds the column that divides a growing file into batches."""

from __future__ import annotations

from dataclasses import replace

from headgate.cli.init.sources import FoundSource, is_date, sort_partitions

DATE_COLUMNS = ("day", "date", "dt", "ds", "batch_date", "load_date", "run_date", "snapshot_date", "partition_date")
"""Names of columns that hold the date of arrival of a row, not that of an order or a birth; the best first."""


def split_by_column(source: FoundSource) -> FoundSource:
    """The source with the days of its date column as batches, if it is one file with such a column."""
    if source.partitions or source.needs_spark:
        return source
    from headgate.cli.input_batch import open_file
    from headgate.project.files import read_values
    from headgate.values.errors import HeadgateError

    try:
        data = open_file(str(source.batch_path("")), source.format)
        for name in sorted((each for each in data.schema.names if each.lower() in DATE_COLUMNS), key=_rank_name):
            days = read_values(data, name, source.name)
            if len(days) > 1 and all(map(is_date, days)):
                return replace(source, key=name, partitions=sort_partitions(list(days)))
    except (HeadgateError, OSError, ValueError):  # the same error is reported when checks are suggested
        return source
    return source


def _rank_name(name: str) -> int:
    return DATE_COLUMNS.index(name.lower())
