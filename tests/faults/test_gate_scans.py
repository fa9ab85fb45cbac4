"""F2 through the gate: a batch that breaks off while it is read is an error, is recorded, and is held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.gate.gate import Gate
from headgate.gate.publish.publisher import Delivery
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.expectation import Status
from headgate.values.run import Decision
from tests.faults.gate_work import Batch, Lake, breaking, judged, orders

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("named", [True, False])
def test_a_batch_that_breaks_off_is_an_error_and_is_held(tmp_path: Path, named: bool) -> None:
    lake, store, batch = Lake("memory:", "orders", tmp_path), MemoryStore(), Batch("p", 1, "unread", named)
    lake.stage(batch)
    verdict = judged(lake.gate(store), batch)
    (made,) = store.revisions("orders")
    assert (verdict.status, verdict.action) == (Status.ERROR, Action.HOLD)
    assert (made.status, made.decision) == (Status.ERROR, Decision.HELD)
    assert verdict.judgements[0].reason == "the batch could not be read: OSError"
    assert lake.folders.state(Delivery.of(made)) == "held"
    assert lake.seen() == {}


def test_a_batch_that_broke_off_is_judged_when_it_can_be_read(tmp_path: Path) -> None:
    lake, store = Lake("memory:", "orders", tmp_path), MemoryStore()
    for batch in (Batch("p", 1, "unread", named=False), Batch("p", 1, named=False)):
        lake.stage(batch)
        verdict = judged(lake.gate(store), batch)
    assert (verdict.status, verdict.revision.number) == (Status.PASS, 2)
    assert lake.seen() == {"p": Batch("p", 1).text}


def test_a_batch_with_a_fingerprint_that_broke_off_is_judged_when_it_can_be_read(tmp_path: Path) -> None:
    lake, store = Lake("memory:", "orders", tmp_path), MemoryStore()
    for data in (breaking(orders(1)), orders(1)):
        lake.stage(Batch("p", 1))
        verdict = lake.gate(store).judge(data, "p", fingerprint="snapshot 1")
    assert verdict.passed


def test_two_inputs_that_only_a_segment_tells_apart_are_two_inputs() -> None:
    check = Check("orders").has_mean("price", between=(0, 100), by=["country"])
    gate = Gate("orders", store=MemoryStore(), checks=check, learn=())
    countries = pa.array(["DE", "FR", "FR", "FR"])
    assert gate.judge(pa.table({"price": [1.0, 2.0, 150.0, 3.0], "country": countries}), "p").passed
    assert not gate.judge(pa.table({"price": [150.0, 2.0, 1.0, 3.0], "country": countries}), "p").passed


@pytest.fixture(scope="module")
def with_dead_workers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """By the column that a check is about: the status, the action, the decision, whether readers see the batch."""
    folder = tmp_path_factory.mktemp("worker")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [sys.executable, "-m", "tests.faults.gate_worker", str(folder)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.spark
def test_a_worker_that_dies_in_the_scan_is_an_error_and_the_batch_is_held(
    with_dead_workers: dict[str, list[object]],
) -> None:
    assert with_dead_workers["fatal"] == ["error", "hold", "held", False]


@pytest.mark.spark
def test_a_column_that_could_not_be_read_is_an_error_though_nothing_is_expected_of_it(
    with_dead_workers: dict[str, list[object]],
) -> None:
    assert with_dead_workers["id"] == ["error", "hold", "held", False]
