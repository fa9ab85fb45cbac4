"""A small lake for tests: columns of a few domains, drawn with a seed, and an index of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.learn.patterns import index_file
from headgate.learn.patterns.entries import ENTRY, Entries, Rows
from headgate.learn.patterns.enumerate import TAU, Columns, count_patterns
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.sample import SampledColumn

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WORDS = ("north", "south", "red", "green", "harbour", "mill", "old", "bridge", "lake", "stone", "hill", "market")

Draw = Callable[[np.random.Generator], str]


def day(rng: np.random.Generator) -> str:
    return f"{MONTHS[rng.integers(12)]} {rng.integers(1, 29):02d} {rng.integers(1990, 2025)}"


def iso(rng: np.random.Generator) -> str:
    return f"{rng.integers(1990, 2025)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"


def clock(rng: np.random.Generator) -> str:
    return f"{rng.integers(24):02d}:{rng.integers(60):02d}:{rng.integers(60):02d}"


def code(rng: np.random.Generator) -> str:
    return f"{'ABCD'[rng.integers(4)]}{rng.integers(10_000)}"


def number(rng: np.random.Generator) -> str:
    return str(rng.integers(1_000)) if rng.random() < 0.5 else f"{rng.random() * 100:.2f}"


def status(rng: np.random.Generator) -> str:
    return ("OnBooking", "Delivered", "Held", "Open")[rng.integers(4)]


def phrase(rng: np.random.Generator) -> str:
    return " ".join(WORDS[rng.integers(12)] for _ in range(rng.integers(1, 6)))


def url(rng: np.random.Generator) -> str:
    path = "".join(f"/{WORDS[rng.integers(12)]}" for _ in range(rng.integers(4)))
    return f"http{'s' * int(rng.integers(2))}://{WORDS[rng.integers(12)]}.org{path}"


DOMAINS: tuple[Draw, ...] = (day, iso, clock, code, number, status, phrase, url)


def column(draw: Draw, size: int = 100, seed: int = 0) -> list[str]:
    rng = np.random.default_rng([seed, DOMAINS.index(draw) if draw in DOMAINS else 99])
    return [draw(rng) for _ in range(size)]


def columns(each: int = 20, domains: Sequence[Draw] = DOMAINS) -> list[list[str]]:
    return [column(draw, seed=1_000 + at) for draw in domains for at in range(each)]


def entries(of: Iterable[Sequence[str]], tau: int = TAU) -> Entries:
    return count_patterns(Columns.of([SampledColumn.of(values) for values in of]), tau)


class Lake(NamedTuple):
    """Entries that answer as an open index does."""

    entries: Entries
    total: int

    def find_entries(self, keys: Keys) -> Rows:
        known = self.entries.rows
        rows = np.zeros(len(keys), ENTRY)
        at = np.minimum(np.searchsorted(known["key"], keys), max(len(known) - 1, 0))
        there = known["key"][at] == keys if len(known) else np.zeros(len(keys), bool)
        rows[there] = known[at[there]]
        return rows


def lake(each: int = 20, domains: Sequence[Draw] = DOMAINS) -> Lake:
    made = columns(each, domains)
    return Lake(entries(made), len(made))


def index(path: Path, each: int = 20) -> PatternIndex:
    made = columns(each)
    index_file.write_index(path, entries(made), {"name": "test", "columns": len(made), "tau": TAU, "language": 1})
    return PatternIndex.open(path)


def codes(seed: int, count: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.choice('ABC')}-{chance.randrange(10_000):04}" for _ in range(count)]


def write_lake(columns: Iterable[Sequence[str]], folder: Path) -> Path:
    """A lake of Parquet files with a column each."""
    folder.mkdir()
    for at, values in enumerate(columns):
        pq.write_table(pa.table({"x": pa.array(values, pa.string())}), folder / f"t{at:04}.parquet")
    return folder
