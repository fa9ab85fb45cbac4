"""Gathers how often real series surprise, pooled over the feeds: writes the evidence that comes with the package."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

import headgate.learn.calendar as calendars
import headgate.learn.dated_columns as dated_columns
import headgate.learn.history.coarse as limiting
import headgate.learn.history.forecast as forecasting
import headgate.learn.history.guarded_metrics as guarding
import headgate.learn.history.noise as noise
import headgate.learn.metric_traits as measuring
import headgate.learn.novelty.features as features
import headgate.learn.novelty.model as model
import headgate.learn.novelty.neighbours as neighbours
import headgate.learn.novelty.propose as comparing
import headgate.learn.outside_period as outside_period
import headgate.learn.past as distancing
import headgate.learn.pooled_rates as home
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import CACHE, analysed
from headgate.learn.calendar import Calendar
from headgate.learn.history.coarse import CoarseLimits
from headgate.learn.history.forecast import forecast_next
from headgate.learn.history.guarded_metrics import Guard, find_guarded
from headgate.learn.novelty.model import NOVELTY
from headgate.learn.novelty.propose import novelty_surprises
from headgate.learn.past import Past
from headgate.learn.pooled_rates import (
    HISTORY_LENGTHS,
    SHORT_LENGTHS,
    PooledRates,
    RateCurve,
    format_pooled_rates,
    is_of_table,
    make_curve_key,
)

GRID = (1e-6, 0.1, 0.3, *np.round(np.logspace(0, 5, 31), 3).tolist())
WEIGHT = 3_000.0  # a feed counts as no more values of a metric than this, lest the longest speak for all
RUNS_LOOKED_AT = 200  # of a feed, about, for the novelty of the whole: of longer feeds every second, third, ...
RUNS_OF_LENGTH = {7: 10, 14: 20, 28: 30}  # runs that stand for the histories from one length up to the next
WIDEST = 100  # columns of a feed beyond which its novelty is not gathered: that would take longer than all the others
SINGLE = (forecasting, noise, guarding, limiting, calendars, dated_columns, outside_period, measuring, distancing)
WHOLE = (comparing, features, model, neighbours)
Floats = npt.NDArray[np.float64]
Counted = dict[str, tuple[float, Floats]]


def evidence(without: Collection[str] = (), *, only: Collection[str] | None = None) -> PooledRates:
    """The pooled curves of all feeds but those of some datasets."""
    seen: dict[str, float] = defaultdict(float)
    beyond: dict[str, Floats] = defaultdict(lambda: np.zeros(len(GRID)))
    for feed in feeds():
        if feed.folder in without or (only is not None and feed.folder not in only):
            continue
        for key, (count, more) in counted(feed).items():
            weight = min(1.0, WEIGHT / count)
            names = (key,) if is_of_table(key) else (key, "* " + key.split(" ", 1)[1])
            for each in names:
                seen[each] += weight * count
                beyond[each] += weight * more
    curves = {key: RateCurve(round(seen[key], 1), tuple(np.round(beyond[key] / seen[key], 8).tolist())) for key in seen}
    return PooledRates(GRID, curves)


@cache
def counted(feed: Feed) -> Counted:
    """How many next values of a feed there were, and how many surprised by more than each reach; computed once."""
    single = _kept(feed, "counts", SINGLE, lambda: _counted(chain(_surprises(feed), _factors(feed))))
    if len(analysed(feed)[-1].analysis.schema.columns) > WIDEST:
        return single
    return single | _kept(feed, "novelty", (distancing, *WHOLE), lambda: _counted(_novelties(feed)))


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


def _surprises(feed: Feed) -> Iterator[tuple[str, Floats]]:
    past = whole(feed)
    names = np.array([each.key.name for each in past.metrics])
    for length, at, rows in _spans(feed):
        calendar = Calendar.of([past.partitions[row] for row in rows], past.partitions[at])
        made = forecast_next(past.values[rows], past.metrics, calendar)
        surprise = made.surprise(past.values[at])
        for guard, indices in find_guarded(made, past.metrics):
            guarded = guard.measure_surprise(made, past.values[at], indices)
            if np.isfinite(guarded).any():
                yield make_curve_key(guard.curve, False, length), np.nanmax(guarded, keepdims=True)
        for constant in (False, True):
            usable = np.isfinite(surprise) & (made.constant == constant)
            for name in np.unique(names[usable]):
                yield make_curve_key(str(name), constant, length), surprise[usable & (names == name)]


def _factors(feed: Feed) -> Iterator[tuple[str, Floats]]:
    """How many times less or more than ever a run has, at most, of what coarse limits guard."""
    past = whole(feed)
    for length, at, rows in _spans(feed, (*SHORT_LENGTHS, *HISTORY_LENGTHS)):
        factors = CoarseLimits.of(past.values[rows], past.metrics).factors(past.values[at])
        if not np.isnan(factors).all():
            yield make_curve_key(Guard.COARSE.curve, False, length), np.nanmax(factors, keepdims=True)


def _novelties(feed: Feed) -> Iterator[tuple[str, Floats]]:
    """How novel the next run is as a whole, which is a metric like the others."""
    past = whole(feed)
    every = len(past) // RUNS_LOOKED_AT + 1
    for length, at, rows in _spans(feed):
        if at % every:
            continue
        before = replace(past, partitions=tuple(past.partitions[row] for row in rows), values=past.values[rows])
        found = novelty_surprises(before, past.values[at][None])
        yield make_curve_key(NOVELTY.name, False, length), found[np.isfinite(found)]


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
        for feed, _ in zip(largest_first, pool.map(counted, largest_first), strict=True):
            print(feed.title, flush=True)
    target = Path(home.__file__).with_name("pooled_rates.json")
    target.write_text(format_pooled_rates(evidence(arguments.without)), encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
