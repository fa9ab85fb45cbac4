"""F5 through the gate: answers of the store are lost, or its server goes away; every verdict is that of a clean run."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import ExitStack, closing
from multiprocessing.connection import Connection
from pathlib import Path

from headgate.store.fault_points import watch
from headgate.store.open import open_store
from tests.faults.backends import Backend, s3, unique
from tests.faults.gate_checks import World
from tests.faults.gate_clean import Clean
from tests.faults.gate_work import Batch, Lake, Task, Told, do
from tests.faults.table import Row
from tests.faults.work import heard, started

_RUNS = 30
_FLAWS = ("nulls", "gone", "unread")


def judge_all(lake: Lake, batches: list[Batch], share: float, seed: int, pipe: Connection) -> None:
    """Stages and judges its batches; now and then what comes back from the database is lost on the way."""
    os.environ.update(lake.environment)
    chance, seen = random.Random(seed), Counter[str]()

    def watcher(name: str) -> None:
        seen[name] += 1
        if name == "sql.after_commit" and chance.random() < share:
            seen["dropped"] += 1
            raise _no_answer()

    with watch(watcher), closing(open_store(lake.url)) as store:
        do(lake, lake.gate(store), [Task(batch) for batch in batches], pipe.send)
    pipe.send(seen)


def _no_answer() -> Exception:
    import psycopg

    return psycopg.OperationalError("the connection was closed by the test")


def dropped_by_s3(folder: Path, processes: int, days: int, seed: int, share: float = 0.03) -> Row:
    """The server does the put and then closes the connection without a word."""
    with s3(folder, drop=share, seed=seed) as backend:
        row, seen = _judged(backend, folder, processes, days, seed, share)
    row.fault, dropped = "F5 gate, answers dropped", seen["objects.unknown"]
    assert dropped, "no answer was dropped"
    row.points["objects.put answered by nobody"] += dropped
    row.notes = f"{dropped} of {seen['objects.put']} puts had no answer"
    return row


def restarted_postgresql(
    backend: Backend, folder: Path, processes: int, days: int, seed: int, share: float = 0.03, restarts: int = 3
) -> Row:
    """Answers dropped after COMMIT, and the whole server restarted in between."""
    row, seen = _judged(backend, folder, processes, days, seed, share, restarts)
    row.fault = "F5 gate, dropped, restarts"
    assert seen["dropped"], "no answer was dropped"
    row.points["sql.after_commit answered by nobody"] += seen["dropped"]
    row.points["server restarted"] += restarts
    row.notes = f"{seen['dropped']} answers dropped, {restarts} restarts"
    return row


def _judged(
    backend: Backend, folder: Path, processes: int, days: int, seed: int, share: float, restarts: int = 0
) -> tuple[Row, Counter[str]]:
    batches, url = _batches(days, seed), backend.url()
    with closing(open_store(url)) as store:
        clean = Clean.of(batches, runs=_RUNS, secret=store.secret)
    row, begun, seen = Row("F5", backend.name, processes * len(batches)), time.monotonic(), Counter[str]()
    lakes = [_lake(url, backend, folder) for _ in range(processes)]
    told: dict[str, list[Told]] = {lake.dataset: [] for lake in lakes}
    with ExitStack() as stack:
        children = []
        for mine, lake in enumerate(lakes):
            children.append(stack.enter_context(started(judge_all, lake, batches, share, seed + mine)))
        for _ in range(restarts):
            time.sleep(0.5)
            assert any(process.is_alive() for process, _ in children), "all was done before the restart"
            backend.server.restart()
        for lake, (_, pipe) in zip(lakes, children, strict=True):
            for said in heard(pipe):
                seen += said if isinstance(said, Counter) else Counter()
                told[lake.dataset] += [said] if isinstance(said, Told) else []
    row.seconds = time.monotonic() - begun
    for lake in lakes:
        _compare(lake, clean, batches, told[lake.dataset], row)
    return row, seen


def _compare(lake: Lake, clean: Clean, batches: list[Batch], told: list[Told], row: Row) -> None:
    """Every caller was told of success; every run is there once, as without faults."""
    row.lost += len(batches) - sum(each.kind == "verdict" for each in told)
    World(lake, clean.prints).look(row, told)
    clean.assert_same(lake)


def _lake(url: str, backend: Backend, folder: Path) -> Lake:
    name = unique("orders")
    place = folder / name.replace(" ", "-")
    return Lake(url, name, place, environment=backend.environment, runs=_RUNS)


def _batches(days: int, seed: int) -> list[Batch]:
    """Good days, every fourth of which comes broken first and is repaired."""
    found = []
    for day in range(1, days + 1):
        at = 1_000 * seed + 2 * day
        if day % 4 == 0:
            found.append(Batch(f"day {day}", at, _FLAWS[day // 4 % 3]))
        found.append(Batch(f"day {day}", at + 1, named=day % 2 == 0))
    return found
