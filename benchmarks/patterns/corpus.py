"""Real string columns: those that rules are tested on, those that parameters are chosen on, and all others."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.timing import DATA

FOLDER = DATA / "column_corpus"
USED = 100  # values of a column, the first ones
TRAINS = 10
SEED = 20210620
Set: TypeAlias = Literal["dev", "mixed", "ukgov"]
SETS: tuple[Set, ...] = get_args(Set)


class Case(NamedTuple):
    """A column: rules are learned from the first tenth of its first 100 values and tested on the other ninety."""

    col_id: int
    repo: str
    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def values(self) -> tuple[str, ...]:
        return self.train + self.test


def cases(chosen: Set) -> list[Case]:
    """The columns of a set, in the order of their identifiers."""
    table = corpus()
    rows = pc.index_in(pa.array(sorted(identifiers(chosen))), table["col_id"].combine_chunks())
    kept = table.take(rows).select(["col_id", "repo", "column", "values"])
    return [case_of(*row.values()) for row in kept.to_pylist()]


def case_of(col_id: int, repo: str, name: str, values: Iterable[str]) -> Case:
    """
    >>> found = case_of(1, "a/b", "day", [str(at) for at in range(300)])
    >>> found.train[-1], found.test[0], found.test[-1]
    ('9', '10', '99')
    """
    used = tuple(values)[:USED]
    return Case(col_id, repo, name, used[:TRAINS], used[TRAINS:])


def rest(excluding: Collection[int]) -> pa.Table:
    """All other columns: `col_id`, `repo` and `values`, a list of texts."""
    table = corpus().select(["col_id", "repo", "values"])
    return table.filter(pc.invert(pc.is_in(table["col_id"], pa.array(sorted(excluding), pa.int64()))))


def identifiers(chosen: Set) -> frozenset[int]:
    """The columns of a set. The development set shares none with the two lists."""
    return _development() if chosen == "dev" else _listed(chosen)


def held_out() -> frozenset[int]:
    """The columns of all sets. What is learned from the others may be held against any set."""
    return frozenset().union(*map(identifiers, SETS))


@cache
def corpus() -> pa.Table:
    return pq.read_table(FOLDER / "columns.parquet", columns=["col_id", "repo", "column", "values"]).combine_chunks()


@cache
def _listed(chosen: Set) -> frozenset[int]:
    with (FOLDER / f"benchmark_{chosen}.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(int(row["col_id"]) for row in csv.DictReader(file))


@cache
def _development() -> frozenset[int]:
    table = corpus()
    taken = _listed("mixed") | _listed("ukgov")
    names, repos = table["col_id"].to_pylist(), table["repo"].to_pylist()
    long = pc.greater_equal(pc.list_value_length(table["values"]), USED).to_pylist()
    wanted = Counter(repo for name, repo in zip(names, repos, strict=True) if name in _listed("mixed"))
    free = [(name, repo) for name, repo, is_long in zip(names, repos, long, strict=True) if is_long]
    return drawn([each for each in free if each[0] not in taken], wanted, SEED)


def drawn(free: Collection[tuple[int, str]], wanted: Counter[str], seed: int) -> frozenset[int]:
    """As many columns of each repository as wanted; where one has too few, any others fill the number.

    >>> sorted(drawn([(1, "a"), (2, "b"), (3, "b")], Counter(a=2), 0))[0]
    1
    """
    order = np.random.default_rng(seed).permutation(len(free))
    shuffled = [list(free)[at] for at in order]
    left = Counter(wanted)
    found: list[int] = []
    others: list[int] = []
    for name, repo in shuffled:
        (found if left[repo] > 0 else others).append(name)
        left[repo] -= 1
    return frozenset([*found, *others][: wanted.total()])
