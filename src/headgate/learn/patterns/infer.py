"""Infers a rule from a column's values and an index: FMDV, -V, -H and -VH of Auto-Validate, and Headgate's method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from headgate.learn.patterns.candidates import Candidate, Candidates, LexedColumn
from headgate.learn.patterns.rule import PatternRule, as_text_array
from headgate.learn.patterns.sample import MAX_DISTINCT, limit_distinct
from headgate.learn.patterns.segments import PatternSource
from headgate.learn.patterns.settings import InferenceSettings, Method

_NARROW_MISS = 0.2  # share of the lake's columns: if a rule lets no more pass, the search stops


def infer(
    values: Iterable[Any] | pa.Array, source: PatternSource, total: int, settings: InferenceSettings
) -> PatternRule | None:
    """The rule for the column with these values, or None if no pattern in the index is within the limits.

    `total` is the number of columns of the index.
    """
    array = as_text_array(values).drop_null()
    counted = array.value_counts()
    present = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
    if not present:
        return None
    best = _find_best(LexedColumn(_sample_values(present, len(array)), source, settings), len(array), total)
    if best is None:
        return None
    test: Literal["any", "fisher"] = "fisher" if settings.cuts_horizontally else "any"
    rule = PatternRule(
        best.branches,
        len(array),
        0,
        settings.find_alarm_rate(best.cost),
        best.miss if settings.method is Method.HEADGATE else 0.0,
        test,
        settings.significance,
        best.tolerated,
    )
    # The search saw a sample of the values; the rule must also hold on all of them.
    distinct = pa.array(list(present), pa.string())
    missed = ~rule.matches(distinct)
    outside = int(np.fromiter(present.values(), dtype=np.int64, count=len(present))[missed].sum())
    if outside > (settings.tolerance * len(array) if settings.cuts_horizontally else 0):
        return None
    return msgspec.structs.replace(rule, outside=outside)


def _sample_values(present: Mapping[str, int], seen: int) -> dict[str, int]:
    """All frequent values, and a sample of the others with counts scaled to the total of all others."""
    if len(present) <= MAX_DISTINCT:
        return dict(present)
    frequent = {value: count for value, count in present.items() if count * MAX_DISTINCT >= seen}
    sampled = limit_distinct({value: count for value, count in present.items() if value not in frequent})
    scale = (seen - sum(frequent.values())) / max(sum(sampled.values()), 1)
    return frequent | {value: max(1, round(count * scale)) for value, count in sampled.items()}


def _find_best(column: LexedColumn, seen: int, total: int) -> Candidate | None:
    """The candidate of the greatest worth over all scorers; the search ends with the first that is narrow."""
    best: Candidate | None = None
    for scorer, tolerated in column.settings.scorers(seen, total):
        candidate = Candidates(column, scorer).find_best()
        if candidate is not None:
            candidate = msgspec.structs.replace(candidate, tolerated=tolerated)
            best = candidate if best is None or candidate.worth > best.worth else best
        if best is not None and best.miss <= _NARROW_MISS:
            return best
    return best
