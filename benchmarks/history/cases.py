"""The paper's protocol on real columns: stretches of 60 runs, and the 31st of each broken in every standard way."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import headgate as hg
from benchmarks.history.columns import Floats, distances_of, features, groups, metrics_by_column, vector
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import batch_at, is_incident
from benchmarks.history.series import CACHE, Batch, analysed
from benchmarks.values_mode import VALUES
from headgate.inject.issue import Issue, standard
from headgate.metrics.base.arrow import kind_of, to_plain

LENGTH = 60
BROKEN = 30  # the run that is broken, counted from 0; those before it are its history


class Window(NamedTuple):
    """One column over 60 runs: what was measured of each, and of the 31st after each issue."""

    feed: str
    column: str
    group: str  # numeric, categorical, or another kind, which no figure is given for
    partitions: tuple[str, ...]
    names: tuple[str, ...]
    clean: Floats  # runs x metrics
    issues: tuple[str, ...]
    injected: Floats  # issues x metrics
    changed: npt.NDArray[np.bool_]  # whether the issue changed the column at all: a code of digits has no case


class Stretch(NamedTuple):
    """A column that stays of one group over some runs, by their places."""

    column: str
    group: str
    places: tuple[int, ...]


def windows(feed: Feed) -> list[Window]:
    """Every window of a feed; computed once."""
    file = _file(feed)
    if not file.exists():
        _write(feed, file)
    with pa.memory_map(str(file)) as source:
        return [_loaded(feed, row) for row in pa.ipc.open_file(source).read_all().to_pylist()]


def build(workers: int = 2) -> None:
    """Compute the windows of every feed that lacks them, several feeds at a time, those with most to do first."""
    missing = sorted((feed for feed in feeds() if not _file(feed).exists()), key=size_of, reverse=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for _ in pool.map(_build, missing):
            pass


def stretches(kinds: Sequence[Mapping[str, str]], length: int = LENGTH) -> Iterator[Stretch]:
    """Each column's stretches of so many runs one after the other, in which it is there and of one group.

    >>> runs = [{"a": "numeric"}, {"a": "numeric", "b": "numeric"}, {"a": "categorical"}, {"a": "categorical"}]
    >>> [each.places for each in stretches(runs, 2)]
    [(0, 1), (2, 3)]
    """
    for column in dict.fromkeys(label for each in kinds for label in each):
        for group, run in groupby(range(len(kinds)), lambda at, column=column: kinds[at].get(column)):
            places = tuple(run)
            if group is not None:
                for start in range(0, len(places) - length + 1, length):
                    yield Stretch(column, group, places[start : start + length])


def clean_runs(feed: Feed) -> list[Batch]:
    """The batches of a feed that are no incidents."""
    return [batch for batch in analysed(feed) if not is_incident(feed.title, batch.partition)]


def broken_columns(table: pa.Table, column: str, seed: str) -> Iterator[tuple[Issue, pa.Array]]:
    """A column of a batch after each standard issue of its kind; without schema_change, if it has no neighbour."""
    values = to_plain(table[column])
    other = neighbour(table, column)
    for issue in standard(kind_of(values.type)):
        if not issue.needs_neighbour or other is not None:
            yield issue, issue.apply_to(values, random(seed, str(issue)), other)


def neighbour(table: pa.Table, column: str) -> pa.Array | None:
    """The nearest column of the same kind that has values."""
    at, kind = table.column_names.index(column), kind_of(table[column].type)
    for place in sorted(range(table.num_columns), key=lambda place: (abs(place - at), -place)):
        other = table[place]
        if place != at and kind_of(other.type) is kind and other.null_count < len(other):
            return to_plain(other)
    return None


def random(*about: str) -> np.random.Generator:
    """The random numbers of one case: the same in every run and on every machine."""
    return np.random.default_rng(zlib.crc32("/".join(about).encode()))


def _windows(feed: Feed) -> Iterator[Window]:
    runs = clean_runs(feed)
    found = list(stretches([groups(batch.analysis) for batch in runs]))
    measured = [metrics_by_column(batch.analysis) for batch in runs]
    found.sort(key=lambda each: each.places[BROKEN])
    for place, same in groupby(found, lambda each: each.places[BROKEN]):
        table = batch_at(feed, runs[place].partition)
        for each in same:
            if table[each.column].null_count < table.num_rows:  # without a value nothing can go wrong
                yield _window(feed, runs, measured, table, each)


def _window(
    feed: Feed, runs: list[Batch], measured: list[dict[str, dict[str, float]]], table: pa.Table, stretch: Stretch
) -> Window:
    column, places = stretch.column, stretch.places
    rows = [dict(measured[at][column]) for at in places]
    for row, (before, now) in zip(rows[1:], pairwise(places), strict=True):
        row |= distances_of(column, runs[now].analysis, runs[before].analysis)
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    before = runs[places[BROKEN - 1]].analysis
    cases = list(broken_columns(table, column, f"{feed.title}/{column}/{runs[places[0]].partition}"))
    broken = [hg.analyze(pa.table([values], names=[column])) for _, values in cases]
    injected = [vector(names, features(column, analysis, before)) for analysis in broken]
    intact = to_plain(table[column])
    return Window(
        feed.title,
        column,
        stretch.group,
        tuple(runs[at].partition for at in places),
        names,
        np.array([vector(names, row) for row in rows]),
        tuple(str(issue) for issue, _ in cases),
        np.array(injected).reshape(len(cases), len(names)),
        np.array([not values.equals(intact) for _, values in cases], np.bool_),
    )


# --- files

_SCHEMA = pa.schema(
    {
        "column": pa.string(),
        "group": pa.string(),
        "partitions": pa.list_(pa.string()),
        "names": pa.list_(pa.string()),
        "clean": pa.binary(),
        "issues": pa.list_(pa.string()),
        "injected": pa.binary(),
        "changed": pa.list_(pa.bool_()),
    }
)


def _file(feed: Feed) -> Path:
    return CACHE / f"{feed.folder}.{feed.name}.{VALUES}.windows.arrow"


def size_of(feed: Feed) -> int:
    """About how much there is to do for a feed: the size of its analyses, where they are kept."""
    kept = CACHE / f"{feed.folder}.{feed.name}.arrow"
    return kept.stat().st_size if kept.exists() else 0


def _build(feed: Feed) -> None:
    _write(feed, _file(feed))


def _write(feed: Feed, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    with pa.ipc.new_file(part, _SCHEMA) as sink:
        for window in _windows(feed):
            row = window._asdict() | {
                "clean": window.clean.tobytes(),
                "injected": window.injected.tobytes(),
                "changed": window.changed.tolist(),
            }
            del row["feed"]
            sink.write(pa.RecordBatch.from_pylist([row], _SCHEMA))
    part.rename(file)


def _loaded(feed: Feed, row: dict[str, Any]) -> Window:
    names, issues = tuple(row["names"]), tuple(row["issues"])
    return Window(
        feed.title,
        row["column"],
        row["group"],
        tuple(row["partitions"]),
        names,
        np.frombuffer(row["clean"]).reshape(-1, len(names)),
        issues,
        np.frombuffer(row["injected"]).reshape(len(issues), len(names)),
        np.array(row["changed"], np.bool_),
    )


if __name__ == "__main__":
    build()
