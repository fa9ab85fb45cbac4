"""Numbers from rows: precision, recall, shares held, and intervals that draw feeds again, since runs of one agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.history.protocol import Judged, Point, curve, point, recall_at, recall_by_issue
from headgate.stats.intervals import wilson

Floats = npt.NDArray[np.float64]
Row = Mapping[str, Any]

DRAWS, SEED = 200, 0
PRECISIONS = (0.95, 0.98)
SHOWN = 0.98  # the precision at which issues are told apart
CURVE = 20
_GRID = 400  # thresholds that a curve is drawn again at


# --- intervals


def interval(parts: Floats, wholes: Floats) -> tuple[float, float]:
    """The middle 95% of a share when feeds are drawn again: of each, how many of how many.

    >>> interval(np.array([5.0, 5.0]), np.array([10.0, 10.0]))
    (0.5, 0.5)
    """
    drawn = draws(len(parts))
    sums = drawn @ wholes
    return _middle((drawn @ parts)[sums > 0] / sums[sums > 0])


def draws(feeds: int) -> Floats:
    """How often each feed is in each draw."""
    return np.random.default_rng(SEED).multinomial(feeds, np.full(feeds, 1 / feeds), DRAWS).astype(float)


def _middle(values: Floats) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


# --- columns


def of_method(tests: Judged) -> dict[str, Any]:
    """One method on one group of columns: its curve, its recall at set precisions, and issue by issue."""
    best = {f"{each:g}": recall_at(tests, each) for each in PRECISIONS}
    again = recall_again(tests, PRECISIONS)
    shown = best[f"{SHOWN:g}"]
    of_changed = recall_at(tests, SHOWN, only_changed=True)
    return {
        "clean": float(tests.weights.sum()),
        "broken": len(tests.broken),
        "changed": int(tests.changed.sum()),
        "feeds": len(np.unique(tests.clean_feeds)),
        "seconds": tests.seconds,
        "curve": [_rounded(each) for each in thinned(curve(tests))],
        "at": {name: None if at is None else {**_rounded(at), "interval": again[name]} for name, at in best.items()},
        "at_changed": _rounded(of_changed) if of_changed else None,
        "issues": recall_by_issue(tests, shown.threshold) if shown else {},
    }


def of_budget(tests: Judged, budget: float) -> dict[str, Any]:
    """A learner with one budget: precision, recall and false alarms, with intervals."""
    threshold = -np.log10(budget) - 1e-9
    at = point(tests, threshold)
    caught, alarms, broken, clean = by_feed(tests, np.array([threshold]))
    held = caught[:, 0]
    return {
        "budget": budget,
        **_rounded(at),
        "precision_interval": interval(held, held + alarms[:, 0]),
        "recall_interval": interval(held, broken),
        "false_alarms_interval": interval(alarms[:, 0], clean),
    }


def recall_again(tests: Judged, precisions: Sequence[float]) -> dict[str, tuple[float, float]]:
    """The interval of the most recall at each precision: feeds are drawn, and the threshold is found again."""
    levels = np.unique(np.quantile(tests.broken, np.linspace(0, 1, _GRID), method="nearest"))[::-1]
    caught, alarms, broken, _ = by_feed(tests, levels)
    drawn = draws(len(broken))
    hits, faults, all_ = drawn @ caught, drawn @ alarms, drawn @ broken
    with np.errstate(invalid="ignore"):
        precision, recall = hits / (hits + faults), hits / np.maximum(all_, 1)[:, None]
    return {f"{each:g}": _middle(np.where(precision >= each, recall, 0.0).max(axis=1)) for each in precisions}


def by_feed(tests: Judged, levels: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each feed, how many issues and clean tests are at or above each level, and how many there are."""
    names = np.unique(np.concatenate([tests.clean_feeds, tests.broken_feeds]))
    caught, alarms = np.zeros((2, len(names), len(levels)))
    broken, clean = np.zeros((2, len(names)))
    for at, name in enumerate(names):
        ours, theirs = tests.broken[tests.broken_feeds == name], tests.clean_feeds == name
        caught[at] = (ours[:, None] >= levels).sum(axis=0)
        alarms[at] = tests.weights[theirs] @ (tests.clean[theirs][:, None] >= levels)
        broken[at], clean[at] = len(ours), tests.weights[theirs].sum()
    return caught, alarms, broken, clean


def thinned(points: Sequence[Point], most: int = CURVE) -> list[Point]:
    """Some points of a curve, evenly chosen, with both ends."""
    chosen = np.linspace(0, len(points) - 1, most).round().astype(int)
    return [points[at] for at in np.unique(chosen)] if points else []


def _rounded(at: Point) -> dict[str, float]:
    return {name: float(f"{value:.5g}") for name, value in at._asdict().items()}


# --- whole batches


def share(rows: Iterable[Row], held: Callable[[Row], bool]) -> dict[str, Any]:
    """How many rows are held: the share, Wilson's interval by runs, and that by feeds.

    >>> share([{"feed": "a", "n": 1}, {"feed": "b", "n": 0}], lambda row: row["n"] > 0)["share"]
    0.5
    """
    counts: dict[str, list[int]] = {}
    for row in rows:
        of_feed = counts.setdefault(row["feed"], [0, 0])
        of_feed[0] += held(row)
        of_feed[1] += 1
    parts, wholes = np.array(list(counts.values()), float).reshape(-1, 2).T
    found, count = int(parts.sum()), int(wholes.sum())
    return {
        "held": found,
        "of": count,
        "share": found / count if count else None,
        "wilson": wilson(found, count),
        "by_feeds": interval(parts, wholes) if count else (0.0, 1.0),
    }


def of_form(rows: Sequence[Row], key: str, unseen: frozenset[str]) -> dict[str, Any]:
    """A form with one budget: clean runs and broken batches that it holds, in all and in parts."""

    def held(row: Row) -> bool:
        return key in row["held"]

    clean, cases = [[row for row in rows if row["what"] == what] for what in ("clean", "case")]
    clauses = [(row["clauses"][key] - row["shape"]) / row["columns"] for row in clean if row["columns"]]
    costs = [row["costs"][key] for row in clean]
    return {
        "budget": float(key.rsplit(" ", 1)[1]),
        "clean": share(clean, held),
        "clean_unseen": share([row for row in clean if row["feed"] in unseen], held),
        "clean_by_feed": {name: share(some, held) for name, some in grouped(clean, _feed).items()},
        "cases": share(cases, held),
        "cases_unseen": share([row for row in cases if row["feed"] in unseen], held),
        "cases_by_feed": {name: share(some, held) for name, some in grouped(cases, _feed).items()},
        "cases_by_issue": {name: share(some, held) for name, some in grouped(cases, _issue).items()},
        "clauses_a_column": float(np.median(clauses)) if clauses else None,
        "stated_cost": float(np.mean(costs)) if costs else None,
    }


def grouped(rows: Iterable[Row], of: Callable[[Row], str]) -> dict[str, list[Row]]:
    """The rows by a name of theirs, in the order of names."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(of(row), []).append(row)
    return dict(sorted(found.items()))


def _feed(row: Row) -> str:
    return str(row["feed"])


def dataset(row: Row) -> str:
    """The dataset of a row's feed."""
    return str(row["feed"]).partition("/")[0]


def _issue(row: Row) -> str:
    return str(row["issue"]).partition("(")[0]


def score_points(clean: Floats, cases: Floats) -> tuple[Floats, Floats]:
    """At each score of a clean run the share of clean runs and of cases at or above it, strictest first.

    >>> score_points(np.array([1.0, 2.0]), np.array([0.0, 5.0, 2.0, 1.5]))
    (array([0. , 0.5, 1. ]), array([0.25, 0.5 , 0.75]))
    """
    levels = np.unique(clean)[::-1]
    rates = (clean[:, None] >= levels).mean(axis=0)
    recalls = (cases[:, None] >= levels).mean(axis=0)
    return np.append(0.0, rates), np.append((cases > levels[0]).mean(), recalls)


def at_rate(rates: Sequence[float] | Floats, recalls: Sequence[float] | Floats, rate: float) -> tuple[float, bool]:
    """The recall at a share of clean runs held, linear in the logarithm of the share; and whether it was reached.

    Below the smallest share that a method reaches, it is as if only a part of its alarms were heeded.

    >>> at_rate([0.001, 0.1], [0.4, 0.8], 0.01)
    (0.6000000000000001, True)
    >>> at_rate([0.02, 0.1], [0.4, 0.8], 0.01)
    (0.2, False)
    """
    order = np.lexsort((recalls, rates))
    x, y = np.asarray(rates, float)[order], np.maximum.accumulate(np.asarray(recalls, float)[order])
    none, some = float(y[x <= 0].max(initial=0.0)), x > 0
    if not some.any():
        return none, rate <= 0
    least = float(x[some][0])
    if rate < least:
        return none + (float(y[some][0]) - none) * rate / least, bool((x <= 0).any())
    return float(np.interp(np.log(rate), np.log(x[some]), y[some])), bool(rate <= x[-1])
