"""A file that grows: which of its columns tells the batches apart."""

from __future__ import annotations

from dataclasses import replace

from headgate.cli.init.sources import FoundSource, is_date, sort_partitions

DATE_COLUMNS = ("day", "date", "dt", "ds", "batch_date", "load_date", "run_date", "snapshot_date", "partition_date")
"""Columns that say when a row came; the date of an order or a birth says something else."""


def split_by_column(source: FoundSource) -> FoundSource:
    """The source with the days of its column as batches, if it is one file that has such a column."""
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
    except (HeadgateError, OSError, ValueError):  # whoever looks for suggestions tells it
        return source
    return source


def _rank_name(name: str) -> int:
    return DATE_COLUMNS.index(name.lower())
