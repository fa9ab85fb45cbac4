"""`python -m benchmarks.distances [--quick]`: distances of states against those of the raw values, on real tables.

The states are hidden as `benchmarks.values_mode` says.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.distances import exact, speed
from benchmarks.distances.data import Pair, feeds
from benchmarks.distances.page import write_page
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES, hide_analysis
from headgate.engine.analyze import analyze
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.numbers import pair_bins
from headgate.metrics.distances.registry import distances, distances_for
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.schema import Column

RESULT = Path(__file__).parent / "results" / "distances.json"
PAIRS = 32
READERS = ("median", "mean", "value_distribution", "pattern_distribution")  # metrics that fold the states


class Point(NamedTuple):
    """One distance of one column of one pair: what the states say and with which bound, what the values say."""

    found: float
    true: float
    bound: float


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="4 pairs of each table; nothing is written")
    given = options.parse_args()
    found = measure(4 if given.quick else PAIRS)
    print(json.dumps(found, indent=2))
    if not given.quick:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        write_page(found)


def measure(most: int) -> dict[str, Any]:
    begin = time.perf_counter()
    points: dict[str, list[Point]] = defaultdict(list)
    undefined: dict[str, int] = defaultdict(int)
    tables = {}
    for feed in feeds(most):
        rows = []
        for pair in feed.pairs:
            rows.append(len(pair.now))
            _compare(pair, points, undefined)
        tables[feed.name] = {"batches": feed.batches, "pairs": len(rows), "rows of a batch": int(np.median(rows))}
    return {
        "values": VALUES,
        "tables": tables,
        "distances": {name: _summary(points[name], undefined[name]) for name in _order(points)},
        "microseconds": {name: round(each, 1) for name, each in speed.microseconds().items()},
        "seconds": round(time.perf_counter() - begin),
        "versions": versions("numpy", "scipy", "datasketches"),
    }


def _compare(pair: Pair, points: dict[str, list[Point]], undefined: dict[str, int]) -> None:
    """Every distance of every column of a pair."""
    analyses = [hide_analysis(analyze(each, _readers(each))) for each in pair]
    for column in analyses[0].schema.columns:
        states = {
            folded: [analysis.states.get(MetricKey(folded, (column.label,))) for analysis in analyses]
            for folded in {kind.folded for kind in distances_for(column.kind)}
        }
        true = _exact(pair, column, states)
        for kind in distances_for(column.kind):
            if kind.name not in true:  # that a column is unchanged, or what of it is new, is no distance of the paper
                continue
            now, before = states[kind.folded]
            outcome = kind(column.label).between(now, before)
            if not isinstance(outcome, Measured) or not math.isfinite(true[kind.name]):
                undefined[kind.name] += 1
                continue
            bound = kind(column.label).error(now, before)
            points[kind.name].append(Point(outcome.value, true[kind.name], bound))
            if (same := f"{kind.name} in the same bins") in true:
                points[same].append(Point(outcome.value, true[same], bound))


def _readers(table: Any) -> list[Any]:
    kinds = analyze(table.slice(0, 1)).schema.columns
    return [metrics()[name](each.label) for each in kinds for name in READERS if each.kind in metrics()[name].accepts]


def _exact(pair: Pair, column: Column, states: dict[str, list[Any]]) -> dict[str, float]:
    both = [each[column.label].combine_chunks() for each in pair]
    counted = exact.of_labels(*map(exact.values_of, both))
    true = {f"value_{name}": each for name, each in counted.items()}
    if "quantiles" in states:
        numbers = [each.drop_null().to_numpy(zero_copy_only=False) for each in both]
        true |= exact.of_numbers(*numbers, pair_bins(*states["quantiles"]).before.bin_ends)
    else:
        counted = exact.of_labels(*map(exact.patterns_of, both))
        true |= {f"pattern_{name}": each for name, each in counted.items()}
    return true


def _order(points: dict[str, list[Point]]) -> list[str]:
    """Numbers first, then values, then patterns."""
    names = list(distances())
    groups = ("quantiles", "moments", "frequent_values", "frequent_patterns")
    ranked = sorted(names, key=lambda name: groups.index(distances()[name].folded))
    return [each for name in ranked for each in (name, f"{name} in the same bins") if each in points]


def _summary(points: list[Point], undefined: int) -> dict[str, Any]:
    """Errors over the pairs whose states are approximate; the rest are held to be exact."""
    exact_ones = np.array([each.found - each.true for each in points if each.bound == 0.0])
    rest = np.array([each for each in points if each.bound > 0.0]).reshape(-1, 3)
    errors = np.abs(rest[:, 0] - rest[:, 1])
    finite = np.isfinite(rest[:, 2])
    far = rest[:, 1] > 0
    return {
        "pairs": len(points),
        "undefined": undefined,
        "approximate": len(rest),
        "largest error of the exact": float(np.abs(exact_ones).max(initial=0.0)),
        "median distance": _median(rest[:, 1]),
        "median error": _median(errors),
        "95th percentile": float(np.quantile(errors, 0.95)) if len(errors) else None,
        "largest error": float(errors.max()) if len(errors) else None,
        "median relative error": _median(errors[far] / rest[far, 1]),
        "median bound": _median(rest[finite, 2]),
        "beyond the bound": int((errors[finite] > rest[finite, 2] + 1e-9).sum()) if finite.any() else None,
    }


def _median(values: Any) -> float | None:
    return float(np.median(values)) if len(values) else None


if __name__ == "__main__":
    main()
