"""Checks held against a batch: one scan, one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headgate.checks.check import Check
from headgate.checks.constraint import expectations
from headgate.engine.batch import open_batch, settled
from headgate.engine.plan import part_keys
from headgate.engine.progress import Progress
from headgate.evaluate.context import Circumstances
from headgate.evaluate.measurements import By, Measurements, measure
from headgate.evaluate.row_rules import Judged
from headgate.evaluate.verification import Verification
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation
from headgate.values.outcome import Failed, Undefined
from headgate.values.schema import TEMPORAL, Schema
from headgate.values.verdict import judge


class Asked(NamedTuple):
    """An expectation of a check, for the whole batch or for each of its segments."""

    check: str
    rule: int
    by: By
    expectation: Expectation
    metric: Metric[Any]


def verify(
    data: Any,
    checks: Check | Iterable[Check],
    *,
    tables: Mapping[str, Any] | None = None,
    store: HistoryStore | None = None,
    dataset: str | None = None,
    partition: str | None = None,
    now: datetime | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verification:
    """Judge a batch by checks.

    `data` is what `hg.analyze` takes. `tables` are the other tables that checks name. `store` and `dataset` say where
    the past of the dataset is kept, for `has_no_anomalies`, and `partition` which runs are past: those before it. `now`
    is the time that freshness is held against.

    >>> import pyarrow as pa
    >>> orders = pa.table({"id": [1, 2, 2], "price": [9.5, 3.0, None]})
    >>> verdict = verify(orders, Check("orders").is_unique("id").has_mean("price", between=(5, 500)))
    >>> print(verdict.explain())
    FAIL: of 2 expectations 1 not met, 1 met
    ✗ error  is_unique(id): uniqueness(id) is 0.333333, expected 1 (2 of 3 rows)
    """
    others = settled(tables)
    batch = open_batch(data, others)
    asked = asked_by(listed(checks), Circumstances(batch.schema, others, store, dataset, partition, now))
    found = measure(batch, measurable(asked, batch.schema), progress)
    return Verification(answered(asked, found, batch.schema), found, others)


def listed(checks: Check | Iterable[Check]) -> list[Check]:
    """One check or many as a list of them."""
    given = [checks] if isinstance(checks, Check) else list(checks)
    for each in given:
        if not isinstance(each, Check):
            raise MisuseError(
                f"{each!r} is not a check.", hint='Pass hg.Check("orders").is_complete("id") or a list of such.'
            )
    return given


def asked_by(checks: Iterable[Check], setting: Circumstances) -> list[Asked]:
    """Every expectation of these checks, with the metric that it is about."""
    return [
        Asked(check.name, number, rule.by, expectation, from_key(expectation.metric))
        for number, (check, rule) in enumerate((check, rule) for check in checks for rule in check.rules)
        for expectation in expectations(rule, setting)
    ]


def measurable(asked: Iterable[Asked], schema: Schema) -> list[tuple[By, Metric[Any]]]:
    """What a scan must measure for them; what cannot be measured in this batch is left out."""
    return [(each.by, each.metric) for each in asked if _broken(each, schema) is None]


def answered(asked: Iterable[Asked], found: Measurements, schema: Schema) -> list[Judged]:
    """Each expectation judged by what was found, for every segment."""
    return [judged for each in asked for judged in _judged(each, found, _broken(each, schema))]


def _broken(asked: Asked, schema: Schema) -> Failed | None:
    """Why this batch cannot be held against an expectation, where that is known before it is scanned."""
    try:
        part_keys(schema, asked.by)  # a column may have gone away overnight
    except MisuseError as trouble:
        return Failed(str(trouble))
    if not asked.expectation.predicate.moments:
        return None
    kinds = {column.label: column for column in schema.columns}
    plain = [kinds[name] for name in asked.metric.inputs if name in kinds and kinds[name].kind not in TEMPORAL]
    if not plain:
        return None
    return Failed(f"{plain[0].label!r} is a {plain[0].type} column, which no date can be held against")


def _judged(asked: Asked, found: Measurements, broken: Failed | None) -> list[Judged]:
    if broken is not None:
        return [Judged(asked.check, asked.rule, asked.metric, asked.expectation.judge(broken))]
    segments = found.segments(asked.by)
    if not segments:
        return [
            Judged(asked.check, asked.rule, asked.metric, asked.expectation.judge(Undefined("there is no segment")))
        ]
    judged = []
    for part, analysis in segments.items():
        segment = tuple(zip(asked.by, part, strict=True))
        verdict = judge([asked.expectation], analysis.outcomes, segment)
        judged += [Judged(asked.check, asked.rule, asked.metric, each) for each in verdict.judgements]
    return judged
