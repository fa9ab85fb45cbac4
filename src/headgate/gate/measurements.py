"""The outcomes of one batch as a whole and by segment, from as few scans as can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from headgate.analyzers.base.metric import Metric
from headgate.engine.analysis import Analysis
from headgate.engine.analyze import measured
from headgate.engine.batch import Batch
from headgate.engine.part import Part
from headgate.engine.parts import Parts
from headgate.engine.progress import Progress
from headgate.engine.scan import grows

By: TypeAlias = tuple[str, ...]


class Measurements:
    """What was measured of the whole batch, under no column, and of its segments, under the columns they agree in."""

    def __init__(self, results: Mapping[By, Analysis | Parts]) -> None:
        self._results = dict(results)
        self.segments = cache(self._segments)  # an analysis measures its states once

    @property
    def whole(self) -> Analysis:
        return self.segments(())[()]

    def _segments(self, by: By) -> dict[Part, Analysis]:
        found = self._results[by]
        return {(): found} if isinstance(found, Analysis) else {part: found[part] for part in found}


def measure(
    batch: Batch, asked: Iterable[tuple[By, Metric[Any]]], progress: Callable[[Progress], None] | None = None
) -> Measurements:
    """All metrics of the whole and of every segmentation, in one scan where states can be merged.

    The finest segmentation is scanned and the others are merged from it. Exact groups that are too many for the driver
    cannot be merged, so on a cluster they are scanned for each segmentation that asks for them.
    """
    wanted: dict[By, list[Metric[Any]]] = {(): []}
    for by, metric in asked:
        wanted.setdefault(by, []).append(metric)
    finest = tuple(dict.fromkeys(name for by in wanted for name in by))
    apart = {
        by: [each for each in metrics if batch.distributed and by != finest and grows(each.state)]
        for by, metrics in wanted.items()
    }
    shared = dict.fromkeys(each for by, metrics in wanted.items() for each in metrics if each not in apart[by])
    scan = measured(batch, shared, finest, progress)
    found: dict[By, Analysis | Parts] = {}
    for by, metrics in wanted.items():
        merged = scan if by == finest else _merged(scan, by, [each for each in metrics if each not in apart[by]])
        found[by] = _together(merged, measured(batch, apart[by], by, progress)) if apart[by] else merged
    return Measurements(found)


def _merged(scan: Analysis | Parts, by: By, metrics: Sequence[Metric[Any]]) -> Analysis | Parts:
    assert isinstance(scan, Parts)
    return scan.by_fewer(by, metrics) if by else scan.view(metrics=metrics)


def _together(one: Analysis | Parts, two: Analysis | Parts) -> Analysis | Parts:
    """Two results over the same rows as one."""
    if isinstance(one, Analysis) and isinstance(two, Analysis):
        asked = tuple(dict.fromkeys((*one.metrics, *two.metrics)))
        return Analysis(one.schema, asked, one.states | two.states, one.failed | two.failed)
    assert isinstance(one, Parts)
    assert isinstance(two, Parts)
    return one.beside(two)
