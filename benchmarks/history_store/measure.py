"""The experiments: each takes a new database and gives its figures."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmarks.history_store import data
from benchmarks.history_store.database import Database, asking, told
from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.store.record import make_record

Figures = dict[str, Any]
WINDOW = 90
ONE = "metric_3(column_1)"
VIEW = f"SELECT at, value FROM metric_history WHERE dataset = 'orders' AND metric = '{ONE}' AND is_latest"


@dataclass(frozen=True)
class Scale:
    """How much is stored, and how often each figure is taken."""

    sizes: tuple[int, ...] = (250, 500, 1_000)
    metrics: int = 6_000
    repetitions: int = 40
    writers: int = 4
    commits: int = 40
    datasets: int = 2_000
    long: int = 100_000


def grown(database: Database, numbers: data.Numbers, scale: Scale) -> Figures:
    """A dataset as it grows: its size, the gate's read and single series at every size, and the commits on the way."""
    store = open_store(database.url)
    empty = database.size()
    found: Figures = {"metrics": scale.metrics, "empty_bytes": empty["store"], "sizes": {}}
    before = 0
    for size in scale.sizes:
        commits = committed(store, data.runs("orders", size - before, scale.metrics, numbers, before))
        before = size
        bytes_now = database.size()
        found["sizes"][str(size)] = {
            "bytes": bytes_now["store"],
            "bytes_outside": bytes_now["rest"],
            "bytes_per_value": bytes_now["store"] / (size * scale.metrics),
            "commits": commits,
            **reads(store, scale),
        }
    found["cold_gate_read"] = times(lambda: _cold(database.url), max(5, scale.repetitions // 4))
    found["view_one_metric"] = times(asking(database.url, VIEW), max(5, scale.repetitions // 4))
    found["fit"] = fitted({int(size): each["bytes"] for size, each in found["sizes"].items()}, scale)
    found["recorded"] = _share_of_recording(numbers, scale)
    store.close()
    return found


def reads(store: HistoryStore, scale: Scale) -> Figures:
    """The gate's read (the last runs with all their numbers), one series of them, and one series of all runs."""
    everything = store.revisions("orders")
    window = store.last("orders", WINDOW)
    return {
        "gate_read": times(lambda: store.series(store.last("orders", WINDOW)), scale.repetitions),
        "last": times(lambda: store.last("orders", WINDOW), scale.repetitions),
        "one_series": times(lambda: store.series(window, [ONE]), scale.repetitions),
        "one_series_all_runs": times(lambda: store.series(everything, [ONE]), scale.repetitions),
    }


def several_writers(database: Database, scale: Scale) -> Figures:
    """Processes that commit at once, each to its own dataset, from the first begin to the last end."""
    open_store(database.url).close()
    command = [sys.executable, "-m", "benchmarks.history_store.writer", str(scale.metrics), str(scale.commits)]
    running = [
        subprocess.Popen([*command, str(mine)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for mine in range(scale.writers)
    ]
    for each in running:
        _say(each, database.url)
    for each in running:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in running:
        _say(each, "go")
    spans = [tuple(map(float, each.communicate()[0].split())) for each in running]
    taken = max(end for _, end in spans) - min(begin for begin, _ in spans)
    return {"writers": scale.writers, "per_second": scale.writers * scale.commits / taken}


def with_states(database: Database, scale: Scale) -> Figures:
    """Runs of 40 columns with the states and metrics that an analysis makes by default."""
    run = data.analyzed(columns=40, rows=2_000)
    store = open_store(database.url)
    many = [
        msgspec.structs.replace(run, partition=f"day {at}", fingerprint=f"input {at}", attempt=f"{at}")
        for at in range(scale.commits)
    ]
    before = database.size()["store"]
    commits = committed(store, iter(many))
    keys = list(run.states)[:10]
    revisions = store.revisions("analyzed")
    figures = {
        "states": len(run.states),
        "outcomes": len(run.outcomes),
        "commits": commits,
        "bytes_per_run": (database.size()["store"] - before) / len(many),
        "ten_states_of_all_runs": times(lambda: store.states(revisions, keys), 10),
        "recorded": times(lambda: make_record(run, store.secret), 10),
    }
    store.close()
    return figures


def among_many(database: Database, scale: Scale) -> Figures:
    """The gate's read of one dataset, before and after many others came."""
    store = open_store(database.url)
    committed(store, data.runs("orders", WINDOW, scale.metrics, data.random_doubles))
    alone = reads(store, scale)
    for at in range(scale.datasets):
        store.commit(next(data.runs(f"small {at}", 1, 30, data.random_doubles)))
    found = {"datasets": scale.datasets, "alone": alone, "among": reads(store, scale)}
    small = [store.last("small 7", WINDOW)]
    found["small_gate_read"] = times(lambda: store.series(small[0]), scale.repetitions)
    store.close()
    return found


def long_history(database: Database, scale: Scale) -> Figures:
    """One dataset with as many runs as ever, of 126 metrics; all but the first are written by SQL, not by the store."""
    store = open_store(database.url)
    metrics = 126
    store.commit(next(data.runs("orders", 1, metrics, data.random_doubles)))
    numbers = ", ".join(f"i / {3 + slot}.0" for slot in range(metrics))
    counting = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {scale.long - 1})"
    named = "'day ' || length(CAST(i AS text)) || ' ' || i"
    told(
        database.url,
        f"{counting} INSERT INTO runs SELECT 1, i + 1, {named}, 1, {named}, {named}, 'key ' || i, 'input', '', 'skip', "
        "0, 0.0, 'attempt', details FROM n, (SELECT details FROM runs LIMIT 1) first",
        f"{counting} INSERT INTO metric_values SELECT 1, i + 1, 0, {numbers} FROM n",
        f"UPDATE datasets SET head = {scale.long}",
        "ANALYZE",
    )
    found = {"runs": scale.long, "metrics": metrics, "bytes": database.size()["store"], **reads(store, scale)}
    found["bytes_per_value"] = found["bytes"] / (scale.long * metrics)
    store.close()
    return found


def committed(store: HistoryStore, runs: Any) -> Figures:
    """Commit runs; the time is that of the commits alone, not of making the runs."""
    taken = []
    for run in runs:
        begin = time.perf_counter()
        store.commit(run)
        taken.append(time.perf_counter() - begin)
    return {"per_second": len(taken) / sum(taken), **summary(taken)}


def times(work: Callable[[], Any], repetitions: int) -> Figures:
    taken, busy = [], []
    for _ in range(repetitions):
        begin, worked = time.perf_counter(), time.process_time()
        work()
        taken.append(time.perf_counter() - begin)
        busy.append(time.process_time() - worked)
    return {**summary(taken), "cpu_median_ms": statistics.median(busy) * 1e3}


def summary(taken: list[float]) -> Figures:
    ordered = sorted(each * 1e3 for each in taken)
    return {
        "n": len(ordered),
        "min_ms": ordered[0],
        "median_ms": statistics.median(ordered),
        "p95_ms": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
    }


def fitted(sizes: dict[int, int], scale: Scale) -> Figures:
    """Bytes as a line in runs, by least squares, and where it leads at the full size."""
    runs, held = list(sizes), list(sizes.values())
    slope, base = statistics.linear_regression(runs, held)
    worst = max(abs(base + slope * each - have) / have for each, have in sizes.items())
    whole = base + slope * scale.long
    return {
        "bytes_a_run": slope,
        "bytes_once": base,
        "largest_error": worst,
        "runs": scale.long,
        "bytes_per_value": whole / (scale.long * scale.metrics),
    }


def _cold(url: str) -> None:
    store = open_store(url)
    store.series(store.last("orders", WINDOW))
    store.close()


def _share_of_recording(numbers: data.Numbers, scale: Scale) -> Figures:
    """What of a commit is spent before the database is asked: the run taken apart into its record."""
    run = next(data.runs("orders", 1, scale.metrics, numbers))
    return times(lambda: make_record(run, b"secret"), 20)


def _say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
