"""From the values of a column and an index to a rule: FMDV, -V, -H and -VH of Auto-Validate, and Headgate's form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from headgate.learn.patterns.candidates import Candidate, Candidates, LexedColumn
from headgate.learn.patterns.rule import PatternRule, as_text_array
from headgate.learn.patterns.sample import DISTINCT, limit_distinct
from headgate.learn.patterns.segments import Evidence
from headgate.learn.patterns.settings import InferenceSettings, Method

_NARROW = 0.2  # of the lake's columns: a rule that lets so few through needs no better one


def infer(
    values: Iterable[Any] | pa.Array, evidence: Evidence, total: int, settings: InferenceSettings
) -> PatternRule | None:
    """The rule for the column that these are values of, or none if nothing that the index knows is safe enough."""
    array = as_text_array(values).drop_null()
    counted = array.value_counts()
    present = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
    if not present:
        return None
    found = _find_best(LexedColumn(_sample_values(present, len(array)), evidence, settings), len(array), total)
    if found is None:
        return None
    test: Literal["any", "fisher"] = "fisher" if settings.cuts_horizontally else "any"
    rule = PatternRule(
        found.branches,
        len(array),
        0,
        found.cost,
        found.miss if settings.method is Method.HEADGATE else 0.0,
        test,
        settings.significance,
        found.tolerated,
    )
    distinct = pa.array(list(present), pa.string())
    missed = ~rule.matches(distinct)
    outside = int(np.fromiter(present.values(), dtype=np.int64, count=len(present))[missed].sum())
    if outside > (settings.tolerance * len(array) if settings.cuts_horizontally else 0):
        return None
    return msgspec.structs.replace(rule, outside=outside)


def _sample_values(present: Mapping[str, int], seen: int) -> dict[str, int]:
    """Values that are frequent all by themselves, and a sample of the others that weighs as much as all of them."""
    if len(present) <= DISTINCT:
        return dict(present)
    heavy = {value: count for value, count in present.items() if count * DISTINCT >= seen}
    kept = limit_distinct({value: count for value, count in present.items() if value not in heavy})
    scale = (seen - sum(heavy.values())) / max(sum(kept.values()), 1)
    return heavy | {value: max(1, round(count * scale)) for value, count in kept.items()}


def _find_best(column: LexedColumn, seen: int, total: int) -> Candidate | None:
    """The best candidate over all measures; one that is narrow by a strict measure is not held against the others."""
    best: Candidate | None = None
    for scorer, tolerated in column.settings.scorers(seen, total):
        found = Candidates(column, scorer).find_best()
        if found is not None:
            found = msgspec.structs.replace(found, tolerated=tolerated)
            best = found if best is None or found.worth > best.worth else best
        if best is not None and best.miss <= _NARROW:
            return best
    return best
