"""Verdicts, metrics and causes of recorded runs as rows of three flat tables, for people who look at many runs in SQL.

Tested by `tests/gate/test_results.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.metrics.size import Size
from headgate.values.run import Revision, Ruling

Row: TypeAlias = tuple[Any, ...]

_RUN = {"dataset": "STRING", "partition": "STRING", "revision": "INT"}
VERDICTS = {
    **_RUN,
    "sequence": "BIGINT",
    "judged_at": "TIMESTAMP",
    "status": "STRING",
    "action": "STRING",
    "decision": "STRING",
    "decided_at": "TIMESTAMP",
    "decided_by": "STRING",
    "note": "STRING",
    "headline": "STRING",
    "rows": "BIGINT",
    "causes": "INT",
    "budget": "DOUBLE",
}
"""The columns of a verdict, with their types in SQL. `sequence` is the newest commit of the history about the run."""
METRICS = {**_RUN, "metric": "STRING", "name": "STRING", "columns": "STRING", "value": "DOUBLE"}
CAUSES = {
    **_RUN,
    "position": "INT",
    "kind": "STRING",
    "title": "STRING",
    "columns": "STRING",
    "rarity": "STRING",
    "false_alarm": "DOUBLE",
    "found": "STRING",
}
_AT_ONCE = 200  # runs that are read together


class Results(NamedTuple):
    """Rows of the three tables, of some runs of one dataset."""

    verdicts: list[Row]
    metrics: list[Row]
    causes: list[Row]


def list_results(gate: Gate, known: Mapping[tuple[str, int], int] = MappingProxyType({})) -> Iterator[Results]:
    """What the history says of the runs of a dataset, some runs at a time, in the order of their newest commits.

    Args:
        gate: The gate of the dataset.
        known: The runs that are known, by partition and number of the revision, with the newest commit about each. They
            are left out. If another commit came since, their verdicts are listed, without metrics and causes.
    """
    store, dataset = gate.store, gate.dataset
    head = store.head(dataset)
    rulings = {(each.partition, each.number): each for each in store.rulings(dataset, as_of=head)}
    changed: list[tuple[int, Revision, Ruling | None]] = []
    for revision in store.revisions(dataset, as_of=head):
        run = revision.partition, revision.number
        ruling = rulings.get(run)
        sequence = max(revision.sequence, 0 if ruling is None else ruling.sequence)
        if known.get(run) != sequence:
            changed.append((sequence, revision, ruling))
    changed.sort(key=lambda each: each[0])
    for start in range(0, len(changed), _AT_ONCE):
        chosen = changed[start : start + _AT_ONCE]
        verdicts = [gate.read_verdict(revision) for _, revision, _ in chosen]
        metrics = list(_list_metrics(gate, [revision for _, revision, _ in chosen]))
        sizes = {each[:3]: each[-1] for each in metrics if each[3] == str(Size().key)}
        yield Results(
            [
                _write_verdict(verdict, sequence, ruling, sizes)
                for verdict, (sequence, _, ruling) in zip(verdicts, chosen, strict=True)
            ],
            [row for row in metrics if row[1:3] not in known],
            [row for verdict in verdicts for row in _list_causes(verdict) if row[1:3] not in known],
        )


def _write_verdict(
    verdict: BatchVerdict, sequence: int, ruling: Ruling | None, sizes: dict[tuple[Any, ...], float]
) -> Row:
    run = _identify(verdict.revision)
    rows = sizes.get(run)
    return (
        *run,
        sequence,
        _to_time(verdict.run.at),
        verdict.status.value,
        verdict.action.value,
        None if verdict.decision is None else verdict.decision.value,
        None if ruling is None else _to_time(ruling.at),
        None if ruling is None else ruling.who,
        None if ruling is None else ruling.note,
        verdict.headline,
        None if rows is None else int(rows),
        len(verdict.causes),
        verdict.account.budget,
    )


def _list_metrics(gate: Gate, revisions: Sequence[Revision]) -> Iterator[Row]:
    series = gate.store.series(revisions)
    for revision, values in zip(revisions, series.values.tolist(), strict=True):
        for key, value in zip(series.metrics, values, strict=True):
            if not math.isnan(value):
                yield (*_identify(revision), str(key), key.name, ", ".join(key.columns), value)


def _list_causes(verdict: BatchVerdict) -> Iterator[Row]:
    for position, cause in enumerate(verdict.causes, 1):
        yield (
            *_identify(verdict.revision),
            position,
            cause.kind.name.lower(),
            cause.title,
            ", ".join(cause.columns),
            cause.rarity,
            cause.false_alarm,
            "; ".join(cause.found),
        )


def _identify(revision: Revision) -> tuple[str, str, int]:
    return revision.dataset, revision.partition, revision.number


def _to_time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
