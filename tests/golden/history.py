"""A small history in files whose bytes are kept for ever, and what is to be read from it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from headgate.store.files import log
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.codec import decode
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured, Outcome, Undefined
from headgate.values.run import Decision, Run
from headgate.values.schema import Kind, Schema
from headgate.values.verdict import judge
from tests.golden.examples import EXPECTATIONS, plain

DATASETS = ("orders", "../Ürders")


def runs(states: Path) -> list[Run]:
    """Two partitions, one of them twice, of one dataset; one with nothing in it of another."""
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(states.glob("*-small.json"))]
    full: dict[str, Any] = {
        "schema": Schema.of([("unit price", Kind.FLOAT, "double"), ("name", Kind.STRING, "string")]),
        "states": {MetricKey.parse(each["key"]): decode(bytes.fromhex(each["bytes"])) for each in kept},
    }
    return [
        _run(DATASETS[0], "2026-11-14", 1, outcomes=_outcomes(1.5), **full),
        _run(DATASETS[0], "2026-11-15", 2, outcomes=_outcomes(1 / 3)),
        _run(DATASETS[0], "2026-11-14", 3, outcomes={MetricKey("size"): Measured(7.0)}),
        _run(DATASETS[1], "%/\0", 4, outcomes={}),
    ]


def _run(dataset: str, partition: str, number: int, outcomes: dict[MetricKey, Outcome], **given: Any) -> Run:
    return Run(
        dataset=dataset,
        partition=partition,
        fingerprint=f"input {number}",
        suite="suite",
        outcomes=outcomes,
        verdict=judge(EXPECTATIONS, outcomes),
        basis=number - 1,
        at=1.79e9 + number,
        attempt=f"{number:032x}",
        **given,
    )


def _outcomes(value: float) -> dict[MetricKey, Outcome]:
    wide: dict[MetricKey, Outcome] = {MetricKey("mean", (f"c{at}",)): Measured(value * at) for at in range(50)}
    return wide | {
        EXPECTATIONS[0].metric: Measured(value),
        MetricKey("size"): Measured(50.0),
        MetricKey("mean", ("empty",)): Undefined("no rows in scope"),
        MetricKey("mean", ("absent",)): Failed("there is no such column."),
    }


def written(states: Path) -> dict[str, Any]:
    """The objects of the history by their paths, as text, and what a reader must find in them."""
    often, log.CHECKPOINT_AFTER = log.CHECKPOINT_AFTER, 3
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(f"file://{folder}")
            for run in runs(states):
                store.commit(run)
            store.decide(DATASETS[0], "2026-11-14", Decision.HELD, number=1, who="gate", note="mean(price) = 7")
            store.decide(DATASETS[0], "2026-11-14", Decision.ACCEPTED, number=1, who="ann")
            found = {"found": read(store)}
            store.close()
            paths = sorted(path for path in Path(folder).rglob("*.hg"))
            return found | {"objects": {str(path.relative_to(folder)): path.read_bytes().hex() for path in paths}}
    finally:
        log.CHECKPOINT_AFTER = often


def unfolded(objects: dict[str, str], folder: Path) -> None:
    """The objects as files again."""
    for path, data in objects.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(bytes.fromhex(data))


def read(store: HistoryStore) -> dict[str, Any]:
    """All that a store tells, as plain data. Rulings carry the clock's time, which is nothing to compare."""
    found: dict[str, Any] = {}
    for dataset in store.datasets():
        revisions = store.revisions(dataset)
        every = [store.run(each) for each in revisions]
        found[dataset] = {
            "revisions": plain(revisions),
            "rulings": [(each.partition, each.number, each.decision, each.who) for each in store.rulings(dataset)],
            "outcomes": [{str(key): plain(each) for key, each in run.outcomes.items()} for run in every],
            "states": [{str(key): plain(each) for key, each in run.states.items()} for run in every],
            "verdicts": [plain(run.verdict) for run in every],
            "schemas": [plain(run.schema) for run in every],
        }
    jsonable: dict[str, Any] = json.loads(json.dumps(plain(found)))
    return jsonable
