"""Days of a feed broken in every way and to every degree: their vectors, computed once and kept outside the project."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import headgate as hg
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.novelty.data import FLIGHTS, RETAIL, START
from benchmarks.novelty.errors import ERRORS, MAGNITUDES, Error, Made
from benchmarks.novelty.vectors import Floats, Vectors, numbers, profile, statistics
from headgate.values.key import MetricKey

CACHE = Path(os.environ.get("HEADGATE_CACHE", Path.home() / ".cache" / "headgate" / "novelty"))
EVERY = 2  # of Online Retail and of the flights every second day is broken
RUNS, SPOTS = 100, 8  # of another feed the newest runs that are no incidents, and how many of them are broken


class Broken(NamedTuple):
    """One broken batch: its place among the good batches, what happened to it, and its vector."""

    at: int
    error: str
    magnitude: float
    values: Floats


class Grid(NamedTuple):
    """A feed: the vectors of its good batches in order, and of those that were broken."""

    feed: Feed
    clean: Vectors
    at: npt.NDArray[np.int64]
    error: npt.NDArray[np.str_]
    magnitude: Floats
    values: Floats


def random(*about: object) -> np.random.Generator:
    """The same draws for the same batch, error and column, whatever else is drawn."""
    return np.random.default_rng(zlib.crc32(" ".join(map(str, about)).encode()))


@cache
def grid(feed: Feed) -> Grid:
    """All of a feed, from what is kept if the code that makes it is the same."""
    file = CACHE / f"{feed.folder}.{feed.name}.{_code()}.novelty.npz"
    if not file.exists():
        _write(feed, file)
    held = np.load(file)
    keys = tuple(MetricKey.parse(str(key)) for key in held["keys"])
    clean = Vectors(tuple(map(str, held["partitions"])), keys, held["clean"])
    return Grid(feed, clean, held["at"], held["error"], held["magnitude"], held["values"])


def _code() -> str:
    files = [Path(__file__).with_name(name) for name in ("grid.py", "errors.py", "vectors.py")]
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:12]


def _write(feed: Feed, file: Path) -> None:
    batches = good_batches(feed)
    clean = Vectors.of({partition: profile(table) for partition, table in batches})
    rows = [row for at in spots(feed, len(batches)) for row in _broken(feed, at, *batches[at], clean)]
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    np.savez_compressed(
        part,
        partitions=np.array(clean.partitions),
        keys=np.array([str(key) for key in clean.keys]),
        clean=clean.values,
        at=np.array([row.at for row in rows]),
        error=np.array([row.error for row in rows]),
        magnitude=np.array([row.magnitude for row in rows]),
        values=np.array([row.values for row in rows]),
    )
    part.rename(file)


def good_batches(feed: Feed) -> list[tuple[str, pa.Table]]:
    """The batches that are no incidents: all of the two feeds that the page shows apart, else the newest."""
    good = [each for each in feed.batches() if not is_incident(feed.title, each[0])]
    return good if feed.title in (RETAIL, FLIGHTS) else good[-RUNS:]


def spots(feed: Feed, count: int) -> list[int]:
    """The batches that are broken, each with `START` others before it."""
    if feed.title in (RETAIL, FLIGHTS):
        return list(range(START, count, EVERY))
    return np.unique(np.linspace(START, count - 1, SPOTS).astype(int)).tolist()


def _broken(feed: Feed, at: int, partition: str, table: pa.Table, clean: Vectors) -> Iterator[Broken]:
    for error in ERRORS.values():
        for magnitude, made in damaged(feed.title, partition, table, error):
            own = hg.analyze(pa.table(made), statistics(pa.table(made)))
            values = clean.values[at].copy()
            found = numbers(own.outcomes)
            for place, key in enumerate(clean.keys):
                if key.columns[0] in made:
                    values[place] = found.get(key, np.nan)
            yield Broken(at, error.name, magnitude, values)


def damaged(title: str, partition: str, table: pa.Table, error: Error) -> Iterator[tuple[float, Made]]:
    """One error to every degree, in columns of the batch that are drawn from those that it suits."""
    rng = random(title, partition, error.name)
    suited = error.suits(table)
    if len(suited) >= error.columns:
        chosen = [suited[each] for each in rng.choice(len(suited), size=error.columns, replace=False)]
        for magnitude in MAGNITUDES:
            yield magnitude, error.apply(table, chosen, magnitude, random(title, partition, error.name, magnitude))


def daily_feeds() -> list[Feed]:
    """The feeds of the grid, those that the page shows apart first."""
    return sorted(feeds(), key=lambda feed: (feed.title not in (RETAIL, FLIGHTS), feed.title))


def main() -> None:
    for feed in daily_feeds():
        found = grid(feed)
        print(feed.title, found.clean.values.shape, len(found.at), flush=True)


if __name__ == "__main__":
    main()
