"""F5: the answer to a commit is lost, or the server goes away in the middle; the caller sees success, once."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

from headgate.store.fault_points import watch
from headgate.store.open import open_store
from tests.faults.backends import Backend, s3, unique
from tests.faults.table import Row
from tests.faults.work import Answer, Item, do, heard, started

_SHARE = 0.03


def committer(url: str, environment: dict[str, str], items: list[Item], seed: int, pipe: Connection) -> None:
    """Commits its list; now and then what comes back from the database is lost on the way."""
    os.environ.update(environment)
    chance, seen = random.Random(seed), Counter[str]()

    def watcher(name: str) -> None:
        seen[name] += 1
        if name == "sql.after_commit" and chance.random() < _SHARE:
            seen["dropped"] += 1
            raise _no_answer()

    answers: list[Answer] = []
    with watch(watcher):
        store = open_store(url)
        for item in items:
            do(store, [item], answers.append)
            time.sleep(chance.uniform(0, 0.01))
        store.close()
    pipe.send((answers, seen))


def _no_answer() -> Exception:
    import psycopg

    return psycopg.OperationalError("the connection was closed by the test")


def dropped_by_s3(folder: Path, processes: int, commits: int, seed: int) -> Row:
    """The server does the put and then closes the connection without a word."""
    with s3(folder, drop=_SHARE, seed=seed) as backend:
        row, seen = _committed(backend, processes, commits, seed)
    row.fault, dropped = "F5 answers dropped", seen["objects.unknown"]
    assert dropped, "no answer was dropped"
    row.points["objects.put answered by nobody"] += dropped
    row.notes = f"{dropped} of {seen['objects.put']} puts had no answer"
    return row


def restarted_postgresql(backend: Backend, processes: int, commits: int, seed: int, restarts: int = 3) -> Row:
    """Answers dropped after COMMIT, and the whole server restarted in between."""
    row, seen = _committed(backend, processes, commits, seed, restarts)
    row.fault = "F5 answers dropped, restarts"
    row.points["sql.after_commit answered by nobody"] += seen["dropped"]
    row.points["server restarted"] += restarts
    row.notes = f"{seen['dropped']} answers dropped, {restarts} restarts"
    return row


def _committed(
    backend: Backend, processes: int, commits: int, seed: int, restarts: int = 0
) -> tuple[Row, Counter[str]]:
    row, begun = Row("F5", backend.name, processes * commits), time.monotonic()
    url, dataset, seen = backend.url(), unique("orders"), Counter[str]()
    open_store(url).close()
    answers: list[Answer] = []
    with ExitStack() as stack:
        children = []
        for mine in range(processes):
            items = [Item(dataset, f"{mine}-{at}", at) for at in range(commits)]
            arguments = (url, backend.environment, items, seed + mine)
            children.append(stack.enter_context(started(committer, *arguments)))
        for _ in range(restarts):
            time.sleep(0.5)
            assert any(process.is_alive() for process, _ in children), "all was done before the restart"
            backend.server.restart()
        for _, pipe in children:
            for told, steps in heard(pipe):
                answers += told
                seen += steps
    row.seconds = time.monotonic() - begun
    _look(url, dataset, answers, row)
    return row, seen


def _look(url: str, dataset: str, answers: list[Answer], row: Row) -> None:
    """Every caller was told of success, and every run is there once."""
    store = open_store(url)
    kept = Counter(each.key for each in store.revisions(dataset))
    sequences = [each.sequence for each in store.revisions(dataset)]
    store.close()
    assert sequences == list(range(1, len(sequences) + 1)), "holes or repeats"
    assert all(each.own for each in answers), "a caller was told that another had won"
    row.lost = row.trials - min(len(kept), len(answers))
    row.doubled = sum(times - 1 for times in kept.values())
