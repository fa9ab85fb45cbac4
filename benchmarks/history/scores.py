"""What takes long, done once: the scores of every method on columns and whole batches, kept outside the project."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import headgate.learn.history as learned
from benchmarks.history import baselines
from benchmarks.history.baselines.every import METHODS
from benchmarks.history.cases import windows
from benchmarks.history.columns import CATEGORICAL, NUMERIC
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.learners import LEARNERS, Tested, measured
from benchmarks.history.protocol import HISTORY, Judged, judged
from benchmarks.history.series import CACHE, analysed, fingerprint
from benchmarks.history.table_protocol import Spot, _Measured, _spot, _steady, spot_scores, spots
from benchmarks.values_mode import VALUES

_METHODS = {each.name: each for each in METHODS}
Row = dict[str, Any]


def column_scores(name: str, history: int = HISTORY, sparse: int = 1, workers: int = 2) -> Tested:
    """A learner or a baseline on every `sparse`-th window of every feed."""
    learner = LEARNERS.get(name)
    source = fingerprint(Path(learned.__file__ if learner else baselines.__file__).parent)
    file = CACHE / f"columns.{name.replace(', ', '-').replace(' ', '_')}.{history}.{sparse}.{source}.{VALUES}.npz"
    if not file.exists():
        found = measured(learner, history, workers, sparse) if learner else _baseline(name, history, sparse, workers)
        _keep(file, found)
    return _kept(name, file)


def _baseline(name: str, history: int, sparse: int, workers: int) -> Tested:
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        parts = list(pool.map(_columns, [(name, feed, history, sparse) for feed in feeds()]))
    return Tested(joined(parts), {})


def _columns(job: tuple[str, Feed, int, int]) -> Judged:
    name, feed, history, sparse = job
    meant = [each for each in windows(feed) if each.group in (NUMERIC, CATEGORICAL)]
    return judged(_METHODS[name], meant[::sparse], history)


def joined(parts: Sequence[Judged]) -> Judged:
    """The scores of one method on several feeds as one."""
    arrays = (np.concatenate(each) for each in zip(*(part[1:10] for part in parts), strict=True))
    return Judged(parts[0].method, *arrays, sum(part.seconds for part in parts))


def _keep(file: Path, found: Tested) -> None:
    named = dict(zip(Judged._fields[1:], found.judged[1:], strict=True))
    part = file.with_suffix(".part.npz")
    np.savez_compressed(part, **named, clauses=np.array(json.dumps(found.clauses)))
    part.rename(file)


def _kept(name: str, file: Path) -> Tested:
    with np.load(file) as held:
        arrays = [held[each] for each in Judged._fields[1:-1]]
        return Tested(Judged(name, *arrays, float(held["seconds"])), json.loads(str(held["clauses"])))


# --- whole batches


def table_scores(replayed: Sequence[Row], workers: int = 2) -> list[Row]:
    """Every baseline on the clean runs that were replayed and on the broken batches: `what`, `feed`, `at`, `scores`."""
    clean = [row for row in replayed if row["what"] == "clean"]
    places = {feed: tuple(row["at"] for row in clean if row["feed"] == feed.title) for feed in feeds()}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for found in pool.map(_tables, places.items()) for row in found]


def _tables(job: tuple[Feed, tuple[int, ...]]) -> list[Row]:
    feed, places = job
    source = f"{fingerprint(Path(baselines.__file__).parent)}{zlib.crc32(str(places).encode()):08x}"
    file = CACHE / f"{feed.folder}.{feed.name}.{source}.{VALUES}.table_scores.json"
    if not file.exists():
        rows = [*_clean(feed, places), *_cases(feed)]
        part = file.with_suffix(".part")
        part.write_text(json.dumps(rows), encoding="utf-8")
        part.rename(file)
    found: list[Row] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _clean(feed: Feed, places: Sequence[int]) -> Iterator[Row]:
    """Slow methods (those with `every`) judge every third run only."""
    for number, spot in enumerate(clean_spots(feed, places)):
        asked = [method for method in METHODS if number % method.every == 0]
        found: Mapping[str, float] = {method.name: spot_scores(method, spot)[0] for method in asked}
        yield {"what": "clean", "feed": feed.title, "at": spot.at, "scores": found}


def clean_spots(feed: Feed, places: Sequence[int]) -> Iterator[Spot]:
    """Some clean runs, each with the clean runs before it."""
    batches = analysed(feed)
    features = _Measured(batches)
    good = [at for at in range(len(batches)) if not is_incident(feed.title, batches[at].partition)]
    for at in places:
        past = [place for place in good if place < at][-HISTORY - 1 :]
        rows = [features(now, before) for before, now in pairwise(past)]
        steady = _steady([batches[place].analysis for place in (*past[1:], at)])
        yield _spot(feed.title, at, steady, rows, features(at, past[-1]), [])


def _cases(feed: Feed) -> Iterator[Row]:
    for spot in spots(feed):
        found = {method.name: spot_scores(method, spot)[1].tolist() for method in METHODS}
        for number, issue in enumerate(spot.issues):
            of_case = {name: scores[number] for name, scores in found.items()}
            yield {"what": "case", "feed": feed.title, "at": spot.at, "issue": issue, "scores": of_case}
