"""Whole batches in which one thing has gone wrong, kept as what differs from the clean batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import headgate as hg
from benchmarks.history.cases import neighbour, random, size_of
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import batch_at, is_incident
from benchmarks.history.series import CACHE, Batch, analysed
from headgate.inject.issue import Issue, issues
from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.values.schema import Schema

SPOTS = 12  # runs of a feed that are broken
EARLIEST = 30
DRAWS = 25  # issues of each of them, before equal ones are left out
ALL = ""  # the column of an issue of whole rows


class TableCase(NamedTuple):
    """A batch that has gone wrong: `at` is its place among all batches of its feed, incidents included."""

    feed: str
    at: int
    partition: str
    column: str  # "" where whole rows are at fault
    issue: str
    analysis: hg.Analysis


class Choice(NamedTuple):
    """An issue, and the column that it happens to."""

    issue: Issue
    column: str


def table_cases(feed: Feed, batches: Sequence[Batch] | None = None) -> Iterator[TableCase]:
    """Every case of a feed, by run; `batches` are those of `analysed(feed)`, where they are at hand."""
    file = _file(feed)
    if not file.exists():
        _write(feed, file)
    clean = analysed(feed) if batches is None else batches
    with pa.memory_map(str(file)) as source:
        reader = pa.ipc.open_file(source)
        for number in range(reader.num_record_batches):
            (row,) = reader.get_batch(number).to_pylist()
            base, part = clean[row["at"]], hg.Analysis.from_bytes(row["analysis"])
            whole = part if row["column"] == ALL else overlaid(base.analysis, part, row["column"])
            yield TableCase(feed.title, row["at"], base.partition, row["column"], row["issue"], whole)


def build(workers: int = 2) -> None:
    """Compute the cases of every feed that lacks them, those with the largest batches first."""
    missing = sorted((feed for feed in feeds() if not _file(feed).exists()), key=size_of, reverse=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for _ in pool.map(_build, missing):
            pass


def overlaid(base: hg.Analysis, part: hg.Analysis, column: str) -> hg.Analysis:
    """An analysis with all that concerns one column taken from another; the states of the others are shared."""
    new = {each.label: each for each in part.schema.columns}
    schema = Schema(tuple(new.get(each.label, each) for each in base.schema.columns))
    kept = tuple(each for each in base.metrics if column not in each.key.columns)
    own = tuple(each for each in part.metrics if column in each.key.columns)
    states = {key: state for key, state in base.states.items() if column not in key.columns}
    states |= {key: state for key, state in part.states.items() if column in key.columns}
    failed = {key: why for key, why in base.failed.items() if column not in key.columns}
    failed |= {key: why for key, why in part.failed.items() if column in key.columns}
    return hg.Analysis(schema, kept + own, states, failed)


def spots(batches: Sequence[Batch], title: str) -> list[int]:
    """The runs that are broken: spread over all that have a history and are no incidents."""
    fit = [at for at in range(EARLIEST, len(batches)) if not is_incident(title, batches[at].partition)]
    return [fit[at] for at in np.unique(np.linspace(0, len(fit) - 1, SPOTS).astype(int))]


def choices(table: pa.Table, rng: np.random.Generator, draws: int = DRAWS) -> list[Choice]:
    """Issues for one batch: a type, then a level, then a column that it suits, each as likely as the others."""
    kinds = list(issues().values())
    found: dict[Choice, None] = {}
    for _ in range(draws):
        kind = kinds[rng.integers(len(kinds))]
        variants = kind.variants()
        issue = variants[rng.integers(len(variants))]
        suited = [ALL] if issue.of_rows else [name for name in table.column_names if _suits(table, name, issue)]
        if suited:
            found[Choice(issue, suited[rng.integers(len(suited))])] = None
    return list(found)


def _suits(table: pa.Table, column: str, issue: Issue) -> bool:
    values = table[column]
    if kind_of(values.type) not in issue.accepts or values.null_count == len(values):
        return False
    return not issue.needs_neighbour or neighbour(table, column) is not None


def broken(table: pa.Table, choice: Choice, rng: np.random.Generator) -> pa.Table:
    """What differs from the clean batch: one column, or all of them where rows are at fault."""
    issue, column = choice
    if issue.of_rows:
        return table.take(issue.apply_to(pa.array(np.arange(table.num_rows)), rng))
    other = neighbour(table, column) if issue.needs_neighbour else None
    return pa.table([issue.apply_to(to_plain(table[column]), rng, other)], names=[column])


# --- files

_SCHEMA = pa.schema({"at": pa.int64(), "column": pa.string(), "issue": pa.string(), "analysis": pa.large_binary()})


def _file(feed: Feed) -> Path:
    return CACHE / f"{feed.folder}.{feed.name}.tables.arrow"


def _build(feed: Feed) -> None:
    _write(feed, _file(feed))


def _write(feed: Feed, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    batches = analysed(feed)
    with pa.ipc.new_file(part, _SCHEMA) as sink:
        for at in spots(batches, feed.title):
            partition = batches[at].partition
            table = batch_at(feed, partition)
            for choice in choices(table, random(feed.title, partition)):
                about = (feed.title, partition, choice.column, str(choice.issue))
                analysis = hg.analyze(broken(table, choice, random(*about)))
                row = {"at": at, "column": choice.column, "issue": about[-1], "analysis": analysis.to_bytes()}
                sink.write(pa.RecordBatch.from_pylist([row], _SCHEMA))
    part.rename(file)


if __name__ == "__main__":
    build()
