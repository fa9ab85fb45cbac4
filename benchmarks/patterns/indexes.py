"""Indexes of the corpus without the columns that rules are tested on: whole, of parts, and without one source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np

from benchmarks.patterns import corpus
from benchmarks.timing import CACHE, cores
from headgate.learn.patterns import enumerate as enumeration
from headgate.learn.patterns import index_file
from headgate.learn.patterns.build import index_columns
from headgate.learn.patterns.entries import ENTRY, Rows
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.index_file import PatternFile

PARTS = 16
SEED = 16
_LANGUAGE = (
    *("alphabet", "hashing", "lexer", "pattern", "generalize", "whole_values"),
    *("enumerate", "sample", "entries", "index_file"),
)
_COUNTED = [name for name in ENTRY.names or () if name not in ("key", "tokens", "open", "spare")]


class Lake(Protocol):
    """An index that answers, and the number of columns that it was made of."""

    @property
    def total(self) -> int: ...

    def find_entries(self, keys: Keys) -> Rows: ...


class Whole(msgspec.Struct, frozen=True):
    """An index file. `tau` leaves out what a smaller tau would not have enumerated."""

    index: PatternFile
    total: int
    tau: int = enumeration.TAU

    def find_entries(self, keys: Keys) -> Rows:
        rows = self.index.find_entries(keys)
        rows[rows["tokens"] > self.tau] = np.zeros(1, ENTRY)[0]
        return rows


class Without(msgspec.Struct, frozen=True):
    """The whole without the columns of one source: counters are sums, so they can be subtracted."""

    whole: Whole
    part: Whole

    @property
    def total(self) -> int:
        return self.whole.total - self.part.total

    def find_entries(self, keys: Keys) -> Rows:
        rows, gone = self.whole.find_entries(keys), self.part.find_entries(keys)
        for name in _COUNTED:
            rows[name] -= gone[name]
        return rows


@cache
def folder() -> Path:
    """Where indexes are kept, by what made them."""
    sources = [Path(enumeration.__file__).with_name(f"{name}.py").read_bytes() for name in _LANGUAGE]
    ids = ",".join(map(str, sorted(corpus.held_out())))
    made = hashlib.sha256(b"".join([*sources, ids.encode()])).hexdigest()[:16]
    found = CACHE / "patterns" / made
    found.mkdir(parents=True, exist_ok=True)
    return found


def whole(parts: int = PARTS) -> Whole:
    """The index of the first so many of 16 random parts of the columns."""
    for before, size in [(0, 1), *pairwise(sizes())]:
        if not _path(size).exists():
            _build(before, size)
    return _opened(_path(parts))


def sizes() -> list[int]:
    """Parts that an index is made of: 1, 2, 4, 8 and 16 of 16."""
    return [2**power for power in range(PARTS.bit_length())]


def without(repo: str) -> Without:
    """The whole index without the columns of a repository."""
    return Without(whole(), of_source(repo))


@cache
def of_source(repo: str) -> Whole:
    path = folder() / f"source-{hashlib.sha256(repo.encode()).hexdigest()[:12]}.hgi"
    if not path.exists():
        rest = corpus.rest(corpus.held_out())
        _write(path, np.flatnonzero(np.array(rest["repo"].to_pylist()) == repo))
    return _opened(path)


def _path(parts: int) -> Path:
    return folder() / f"parts-{parts}.hgi"


@cache
def _opened(path: Path) -> Whole:
    index = PatternFile.open(path)
    return Whole(index, int(index.about["columns"]))


def _build(before: int, size: int) -> None:
    """An index of twice as many parts, from the one before and the parts that are new."""
    rest = corpus.rest(corpus.held_out())
    part = np.random.default_rng(SEED).permutation(rest.num_rows) % PARTS
    fresh = folder() / f"fresh-{size}.hgi"
    _write(fresh, np.flatnonzero((part >= before) & (part < size)))
    made = [_path(before), fresh] if before else [fresh]
    total = sum(int(PatternFile.open(each).about["columns"]) for each in made)
    index_file.merge_indexes(made, _path(size), {"columns": total, "tau": enumeration.TAU, "language": 1})
    fresh.unlink()


def _write(path: Path, rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
    pieces = [piece for piece in np.array_split(np.asarray(rows), cores()) if len(piece)]
    made = [path.with_suffix(f".{at}") for at in range(len(pieces))]
    with ProcessPoolExecutor(cores(), mp_context=get_context("spawn")) as pool:
        list(pool.map(_write_piece, made, [piece.tolist() for piece in pieces]))
    index_file.merge_indexes(made, path, {"columns": len(rows), "tau": enumeration.TAU, "language": 1})
    for each in made:
        each.unlink()


def _write_piece(path: Path, rows: list[int]) -> None:
    index_file.write_index(path, index_columns(_columns(rows)), {"columns": len(rows)})


def _columns(rows: Sequence[int]) -> Iterator[list[str]]:
    values = corpus.rest(corpus.held_out())["values"]
    for row in rows:
        yield values[row].as_py()
