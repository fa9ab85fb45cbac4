"""A file that grows: which of its columns tells the batches apart."""

from __future__ import annotations

from dataclasses import replace

from headgate.cli.init.sources import Source, in_order, is_date

NAMES = ("day", "date", "dt", "ds", "batch_date", "load_date", "run_date", "snapshot_date", "partition_date")
"""Columns that say when a row came; the date of an order or a birth says something else."""


def cut(source: Source) -> Source:
    """The source with the days of its column as batches, if it is one file that has such a column."""
    if source.partitions or source.needs_spark:
        return source
    from headgate.cli.input_batch import open_file
    from headgate.project.files import values
    from headgate.values.errors import HeadgateError

    try:
        data = open_file(str(source.batch("")), source.format)
        for name in sorted((each for each in data.schema.names if each.lower() in NAMES), key=_rank):
            days = values(data, name, source.name)
            if len(days) > 1 and all(map(is_date, days)):
                return replace(source, key=name, partitions=in_order(list(days)))
    except (HeadgateError, OSError, ValueError):  # whoever looks for suggestions tells it
        return source
    return source


def _rank(name: str) -> int:
    return NAMES.index(name.lower())
