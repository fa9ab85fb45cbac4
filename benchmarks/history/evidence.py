"""Gathers how often real series surprise, pooled over the feeds: writes the evidence that comes with the package."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import headgate.learn.history.forecast as forecasting
import headgate.learn.measure as measuring
import headgate.learn.past as distancing
import headgate.learn.tails as home
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import is_incident
from benchmarks.history.series import CACHE, analysed
from headgate.learn.history.forecast import forecast
from headgate.learn.past import DISTANCES, Past, distances_between, numbers
from headgate.learn.tails import LENGTHS, Curve, Tails, curve_key, write

GRID = (1e-6, 0.1, 0.3, *np.round(np.logspace(0, 5, 31), 3).tolist())
WEIGHT = 3_000.0  # a feed counts as no more values of a metric than this, lest the longest speak for all
Counted = dict[str, tuple[float, npt.NDArray[np.float64]]]


def evidence(without: Collection[str] = (), *, only: Collection[str] | None = None) -> Tails:
    """The pooled curves of all feeds but those of some datasets."""
    seen: dict[str, float] = defaultdict(float)
    beyond: dict[str, npt.NDArray[np.float64]] = defaultdict(lambda: np.zeros(len(GRID)))
    for feed in feeds():
        if feed.folder in without or (only is not None and feed.folder not in only):
            continue
        for key, (count, more) in counted(feed).items():
            weight = min(1.0, WEIGHT / count)
            for each in (key, "* " + key.split(" ", 1)[1]):
                seen[each] += weight * count
                beyond[each] += weight * more
    curves = {key: Curve(round(seen[key], 1), tuple(np.round(beyond[key] / seen[key], 8).tolist())) for key in seen}
    return Tails(GRID, curves)


@cache
def counted(feed: Feed) -> Counted:
    """How many next values of a feed there were, and how many surprised by more than each reach; computed once."""
    source = b"".join(Path(module.__file__).read_bytes() for module in (forecasting, measuring, distancing))
    file = CACHE / f"{feed.folder}.{feed.name}.{hashlib.sha256(source).hexdigest()[:12]}.counts.json"
    if not file.exists():
        counts = {key: (seen, beyond.tolist()) for key, (seen, beyond) in _counted(feed).items()}
        file.write_text(json.dumps(counts), encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    return {key: (seen, np.array(beyond)) for key, (seen, beyond) in found.items()}


def _counted(feed: Feed) -> Counted:
    found: dict[str, list[npt.NDArray[np.float64]]] = defaultdict(list)
    for length in LENGTHS:
        runs = {7: 10, 14: 20, 28: 30}[length]
        for key, surprises in _surprises(feed, runs, length):
            found[key].append(surprises)
    counts: Counted = {}
    for key, parts in found.items():
        values = np.sort(np.concatenate(parts))
        counts[key] = float(len(values)), (len(values) - np.searchsorted(values, GRID, side="right")).astype(float)
    return counts


def _surprises(feed: Feed, runs: int, length: int) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    past = whole(feed)
    names = np.array([each.key.name for each in past.measures])
    good = np.array([not is_incident(feed.title, partition) for partition in past.partitions])
    for at in np.flatnonzero(good)[runs:]:
        rows = np.flatnonzero(good[:at])[-runs:]
        made = forecast(past.values[rows], past.measures)
        surprise = made.surprise(past.values[at])
        for constant in (False, True):
            usable = np.isfinite(surprise) & (made.constant == constant)
            for name in np.unique(names[usable]):
                yield curve_key(str(name), constant, length), surprise[usable & (names == name)]


@cache
def whole(feed: Feed) -> Past:
    """A feed's whole history as one table; distances are from the run before that is no incident."""
    batches = analysed(feed)
    analyses = [each.analysis for each in batches]
    past = Past.of(analyses, [each.partition for each in batches], DISTANCES)
    places = {each.key: at for at, each in enumerate(past.measures)}
    good = [not is_incident(feed.title, each.partition) for each in batches]
    for at in range(1, len(batches)):
        if not good[at - 1] and any(good[:at]):
            before = max(each for each in range(at) if good[each])
            for key, value in numbers(distances_between(analyses[at], analyses[before].states, DISTANCES)).items():
                past.values[at, places[key]] = value
    return past


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", nargs="*", default=[])
    arguments = parser.parse_args()
    target = Path(home.__file__).with_name("tails.json")
    target.write_text(write(evidence(arguments.without)), encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
