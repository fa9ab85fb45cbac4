"""Rows are missing: a random part of them, those with some value, or those after some place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from headgate.diagnose.column_pair import DISTINCT, NULLS, VALUES, ColumnPair, measure_difference
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.values.key import MetricKey

_FEWER = 0.985  # of the usual rows
_SIZE = MetricKey("size")
_MIN_SHARE = 0.01
_CHANGED = 0.05
_LEAST_ROWS = 5.0  # that a value is expected to have, so that it is not missing by chance
_STEADY, _LEAST_OF_STEADY = 0.02, 2.0  # the same, where values have nearly the same share in every run


@fault
class RowsMissing(KnownFault):
    """Fewer rows than usual, which otherwise look as usual, but for one group that is not there."""

    name: ClassVar = "rows_missing"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        if not table.usual_rows:
            return
        if not table.rows:
            yield Fit(self.name, "no rows came", 0.0, (), {"share": 1.0})
            return
        kept = table.rows / table.usual_rows
        group = _find_lost_group(table, kept)
        if group is not None:
            label, count, share, left = group
            values = "one value" if count == 1 else f"{count} values"
            what = f"the rows with {values} of {label} are missing ({format_share(share)} of the rows)"
            yield Fit(self.name, what, left, (label,), {"share": round(share, 6)}, share, 0.03)
        if kept >= _FEWER or not _is_unusual(table):
            return
        lost = 1 - kept
        end = _find_cut(table, kept)
        if end is not None:
            what = f"{format_share(lost)} of the rows are missing, those at one end of {end}"
            yield Fit(self.name, what, 0.08, (end,), {"share": round(lost, 6)}, lost)
        changed = [pair for pair in table.pairs.values() if _is_changed(pair)]
        unlike = sum(not _are_part(pair, kept) for pair in changed)
        left = (0.5 * unlike + 0.1 * (len(changed) - unlike)) / max(1, len(table.pairs))
        what = f"{format_share(lost)} of the rows are missing"
        yield Fit(self.name, what, 0.15 + left, (), {"share": round(lost, 6)}, lost)


def _is_changed(pair: ColumnPair) -> bool:
    """Whether a column is distributed in another way; fewer rows alone have fewer different values."""
    return pair.total - pair.baseline.get(DISTINCT, 0.0) > _CHANGED


def _are_part(pair: ColumnPair, kept: float) -> bool:
    """Whether the rows of a column may be this part of the usual ones, with no more nulls than those have."""
    more_nulls = (1 - pair.now.complete) - (1 - pair.before.complete) / kept
    return more_nulls <= _CHANGED + 2 * pair.noise.get(NULLS, 0.0) and pair.may_be_part(kept)


def _is_unusual(table: TablePair) -> bool:
    if _SIZE in table.failed:
        return True
    series = table.past.series(_SIZE) if any(each.key == _SIZE for each in table.past.metrics) else np.empty(0)
    known = series[np.isfinite(series)]
    return bool(len(known)) and table.rows < float(known.min())


def _find_lost_group(table: TablePair, kept: float) -> tuple[str, int, float, float] | None:
    """A column, the number of its values that are gone, their share, and what is left without these rows."""
    found: list[tuple[str, int, float, float]] = []
    for label, pair in table.pairs.items():
        lost = find_lost_values(pair)
        share = sum(lost.values())
        if not lost or share < _MIN_SHARE or share > 0.97:
            continue
        # the rows must be gone, not have other values: as many fewer
        if abs(kept - (1 - share)) > 0.35 * share + 0.02:
            continue
        rest = {name: part / (1 - share) for name, part in pair.before.values.items() if name not in lost}
        changed = {VALUES: measure_difference(pair.named, rest), DISTINCT: 0.0}
        left = pair.measure_unexplained(share / (1 - share), **changed)
        found.append((label, len(lost), share, min(0.6, left) + 0.03 * (len(lost) - 1)))
    return min(found, key=lambda each: (each[3], each[1]), default=None)


def find_lost_values(pair: ColumnPair) -> dict[str, float]:
    """The values of a column that are gone, with the shares that they had."""
    if pair.now.listed < 0.9 or pair.before.listed < 0.9:
        return {}
    least = _LEAST_OF_STEADY if pair.noise.get(VALUES, 1.0) <= _STEADY else _LEAST_ROWS
    return {
        name: share
        for name, share in pair.before.values.items()
        if name not in pair.named and share * pair.now.present >= least and share >= 0.003
    }


def _find_cut(table: TablePair, kept: float) -> str | None:
    """The column whose distribution is the lower or the upper end of the usual one, cut at the share of kept rows."""
    best: tuple[float, str] | None = None
    for label in table.moved:
        pair = table.pairs[label]
        if not pair.is_ordered or not len(pair.grid) or pair.compare_shape(pair.cdf_before) < 0.25 * (1 - kept):
            continue
        head, tail = np.minimum(pair.cdf_before / kept, 1.0), np.maximum(pair.cdf_before - (1 - kept), 0.0) / kept
        left = min(pair.compare_shape(head), pair.compare_shape(tail))
        if left < 0.3 * pair.compare_shape(pair.cdf_before) and (best is None or left < best[0]):
            best = (left, label)
    return None if best is None else best[1]
