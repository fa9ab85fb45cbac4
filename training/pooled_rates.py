"""Gathers how often real series surprise, and how rare good batches are: writes what comes with the package."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import numpy.typing as npt

import benchmarks.rarity.curves as curves
import benchmarks.rarity.judge as judge
import benchmarks.rarity.rarity as forms
import headgate.learn.history.coarse as limiting
import headgate.learn.history.rarity as rarity
import headgate.learn.metric_traits as measuring
import headgate.learn.novelty.features as features
import headgate.learn.novelty.model as model
import headgate.learn.novelty.neighbours as neighbours
import headgate.learn.novelty.propose as comparing
import headgate.learn.past as distancing
import headgate.learn.pooled_rates as home
import headgate.learn.rarity_limit as limit
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import CACHE, analysed
from benchmarks.rarity.curves import GRID, count_surprises, make_curve, pool_counts, read_feed
from benchmarks.rarity.judge import measure_others
from headgate.learn.evidence import RUNS_OF_LENGTH
from headgate.learn.history.coarse import CoarseLimits
from headgate.learn.novelty.model import NOVELTY
from headgate.learn.novelty.propose import novelty_surprises
from headgate.learn.past import Past
from headgate.learn.pooled_rates import (
    COARSE,
    HISTORY_LENGTHS,
    SHORT_LENGTHS,
    VARYING,
    PooledRates,
    TableRarities,
    format_pooled_rates,
    make_batch_key,
    make_curve_key,
)
from headgate.learn.rarity_limit import count_rarities, find_common_level
from headgate.values.rarity_memory import Part

WEIGHT = 3_000.0  # a feed counts as no more values of a metric than this, lest the longest speak for all
RUNS_LOOKED_AT = 200  # of a feed, about, for the novelty of the whole: of longer feeds every second, third, ...
WIDEST = 100  # columns of a feed beyond which its novelty is not gathered: that would take longer than all the others
SINGLE = (limiting, measuring, distancing)
WHOLE = (comparing, features, model, neighbours)
Floats = npt.NDArray[np.float64]
Counted = dict[str, tuple[float, Floats]]


def gather_rates(without: Collection[str] = ()) -> PooledRates:
    """The pooled curves of all feeds but those of some datasets, and how rare their batches are."""
    chosen = [feed for feed in feeds() if feed.folder not in without]
    seen: dict[str, float] = defaultdict(float)
    beyond: dict[str, Floats] = defaultdict(lambda: np.zeros(len(GRID)))
    for feed in chosen:
        for key, (count, more) in counted(feed).items():
            weight = min(1.0, WEIGHT / count)
            seen[key] += weight * count
            beyond[key] += weight * more
    curves = pool_counts(chosen) | {key: make_curve(seen[key], beyond[key]) for key in seen}
    tables: dict[str, TableRarities] = {feed.title: {} for feed in chosen}
    levels: dict[str, float] = {}
    for length in HISTORY_LENGTHS:
        for part in Part:
            key, found = make_batch_key(part, length), measure_others(frozenset(without), length)
            rarities = {name: [batch[part] for batch in batches] for name, batches in found.items()}
            if part is Part.COLUMNS:
                levels[key] = find_common_level(rarities.values())
            for name, each in rarities.items():
                tables[name][key] = count_rarities(each, levels.get(key, 0.0))
    return PooledRates(GRID, curves, tables, levels)


def read_rates(without: str) -> PooledRates:
    """The evidence without a dataset; computed once."""
    counts = [(sorted(counted(each).items()), sorted(count_surprises(each).items())) for each in feeds()]
    sources = [Path(str(module.__file__)).read_bytes() for module in (home, limit, rarity, curves, forms, judge)]
    name = hashlib.sha256(b"".join([pickle.dumps(counts), *sources])).hexdigest()[:12]
    file = CACHE / f"without_{without}.{name}.evidence.json"
    if not file.exists():
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(format_pooled_rates(gather_rates((without,))), encoding="utf-8")
        part.rename(file)
    return msgspec.json.decode(file.read_bytes(), type=PooledRates)


def prepare(feed: Feed) -> None:
    """Count what a feed tells, which takes long and is kept."""
    read_feed(feed)
    counted(feed)


@cache
def counted(feed: Feed) -> Counted:
    """How many next runs of a feed there were, and how many went beyond each reach, as a whole; computed once."""
    factors = _kept(feed, "factors", SINGLE, lambda: _counted(_factors(feed)))
    if len(analysed(feed)[-1].analysis.schema.columns) > WIDEST:
        return factors
    return factors | _kept(feed, "novelty", (distancing, *WHOLE), lambda: _counted(_novelties(feed)))


def _kept(feed: Feed, what: str, made_by: Sequence[ModuleType], count: Callable[[], Counted]) -> Counted:
    """Counts that are made again when the code that made them has changed."""
    source = b"".join(Path(str(module.__file__)).read_bytes() for module in made_by)
    file = CACHE / f"{feed.folder}.{feed.name}.{hashlib.sha256(source).hexdigest()[:12]}.{what}.json"
    if not file.exists():
        counts = {key: (seen, beyond.tolist()) for key, (seen, beyond) in count().items()}
        file.write_text(json.dumps(counts), encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    return {key: (seen, np.array(beyond)) for key, (seen, beyond) in found.items()}


def _counted(surprises: Iterator[tuple[str, Floats]]) -> Counted:
    found: dict[str, list[Floats]] = defaultdict(list)
    for key, seen in surprises:
        found[key].append(seen)
    counts: Counted = {}
    for key, parts in found.items():
        values = np.sort(np.concatenate(parts))
        counts[key] = float(len(values)), (len(values) - np.searchsorted(values, GRID, side="right")).astype(float)
    return counts


def _spans(feed: Feed, lengths: Sequence[int] = HISTORY_LENGTHS) -> Iterator[tuple[int, int, npt.NDArray[np.intp]]]:
    """Each length of a history that evidence is kept for, each good run, and the good runs before it."""
    past = whole(feed)
    good = np.array([not is_incident(feed.title, partition) for partition in past.partitions])
    for length in lengths:
        runs = RUNS_OF_LENGTH.get(length, length)
        for at in np.flatnonzero(good)[runs:]:
            yield length, int(at), np.flatnonzero(good[:at])[-runs:]


def _factors(feed: Feed) -> Iterator[tuple[str, Floats]]:
    """How many times less or more than ever a run has, at most, of what coarse limits guard."""
    past = whole(feed)
    for length, at, rows in _spans(feed, (*SHORT_LENGTHS, *HISTORY_LENGTHS)):
        factors = CoarseLimits.of(past.values[rows], past.metrics).factors(past.values[at])
        if not np.isnan(factors).all():
            yield make_curve_key(COARSE, VARYING, length), np.nanmax(factors, keepdims=True)


def _novelties(feed: Feed) -> Iterator[tuple[str, Floats]]:
    """How novel the next run is as a whole, which is a metric like the others."""
    past = whole(feed)
    every = len(past) // RUNS_LOOKED_AT + 1
    for length, at, rows in _spans(feed):
        if at % every:
            continue
        before = replace(past, partitions=tuple(past.partitions[row] for row in rows), values=past.values[rows])
        found = novelty_surprises(before, past.values[at][None])
        yield make_curve_key(NOVELTY.name, VARYING, length), found[np.isfinite(found)]


@cache
def whole(feed: Feed) -> Past:
    """A feed's whole history as one table; distances are from runs before that are no incidents."""
    batches = analysed(feed)
    good = [not is_incident(feed.title, each.partition) for each in batches]
    return Past.of([each.analysis for each in batches], [each.partition for each in batches], trusted=good)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    largest_first = sorted(feeds(), key=lambda feed: -feed.path.stat().st_size)
    with ProcessPoolExecutor(arguments.workers, get_context("spawn")) as pool:
        for feed, _ in zip(largest_first, pool.map(prepare, largest_first), strict=True):
            print(feed.title, flush=True)
    target = Path(home.__file__).with_name("pooled_rates.json")
    target.write_text(format_pooled_rates(gather_rates(arguments.without)), encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
