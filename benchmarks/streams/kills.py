"""A stream that is killed by SIGKILL, and what is there after it has gone on to its end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import headgate as hg
from benchmarks.streams.job import CHECKS, open_sink, start_session
from benchmarks.values_mode import VALUES, open_memory
from headgate.values.outcome import Measured
from headgate.values.run import Run
from tests.integrations.streaming.clicks import make_clicks, put_clicks

ROOT = Path(__file__).parents[2]
ROWS = 200
_MINUTES = 5  # of a window
_ROUNDING = 1e-7  # of numbers; a difference of mean times since 1970 loses most digits


def lose_page(click: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """One row of twenty has no page."""
    return {**click, "page": None if chance.random() < 0.05 else click["page"]}


def is_bad(number: int) -> bool:
    """Whether some rows of a micro-batch break a check: every seventh."""
    return number % 7 == 3


def kill_stream(
    kind: str, batches: int, kills: int, seed: int, report: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Kill a stream at moments drawn by chance, let it end, and compare with the same rows taken as batches.

    Args:
        kind: Where the rows go: folders, delta or iceberg.
        batches: How many micro-batches there are.
        kills: How often the process is killed.
        seed: Of the moments.
        report: Called with a line for each start.
    """
    chance, root = random.Random(f"{seed} {kind}"), Path(tempfile.mkdtemp(prefix="headgate-stream-"))
    for number in range(batches):
        put_clicks(root / "in", number, ROWS, lose_page if is_bad(number) else None)
    killed, began, left = 0, time.monotonic(), kills
    while True:
        # so that about as many micro-batches are taken between two kills
        after = max(1, batches // (kills + 1) + chance.randint(-2, 2)) if left else None
        ended = _run_until(root, kind, after, chance.uniform(0, 1.5))
        report(f"{kind}: {'ended' if ended else 'killed'} after {time.monotonic() - began:.0f} s")
        if ended:
            break
        killed, left = killed + 1, left - 1
    return {"micro_batches": batches, "rows": batches * ROWS, "kills": killed, **_compare(root, kind, batches)}


def _run_until(root: Path, kind: str, after: int | None, wait: float) -> bool:
    """Run the stream, and kill it some seconds after so many micro-batches; says whether it came to its end."""
    log = root / "stream.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.streams.job", str(root), kind],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    assert process.stdout is not None
    seen = 0
    for line in process.stdout:
        seen += line.startswith("micro-batch")
        if seen == after:
            time.sleep(wait)
            os.killpg(process.pid, signal.SIGKILL)  # and its JVM
            process.wait()
            return False
    if process.wait():
        last = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()][-1:]
        raise RuntimeError(f"the stream failed with {process.returncode}: {''.join(last)[:300]} ({log})")
    return True


def _compare(root: Path, kind: str, batches: int) -> dict[str, int]:
    """What is lost, doubled, written though it is bad, and which windows differ from the same rows in one batch."""
    tables = [make_clicks(number, ROWS, lose_page if is_bad(number) else None) for number in range(batches)]
    rows = pa.concat_tables(tables)
    bad = {row["id"] for row in rows.to_pylist() if row["page"] is None}
    good = set(rows["id"].to_pylist()) - bad
    written, kept = _read_rows(root, kind)
    states, runs = _compare_windows(root, tables)
    return {
        "lost": len(good - written.keys()) + len(bad - kept.keys()),
        "doubled": sum(count - 1 for count in (*written.values(), *kept.values())),
        "published_bad": len(bad & written.keys()),
        "windows": len(runs),
        "windows_that_differ": states,
        "runs_of_a_window_more_than_one": sum(count - 1 for count in runs.values()),
    }


def _read_rows(root: Path, kind: str) -> tuple[Counter[int], Counter[int]]:
    """The ids that readers see, and those in quarantine."""
    if kind == "folders":
        folders = hg.Folders(root / "out")
        written = [pq.read_table(path, columns=["id"]) for path in folders.paths().values()]
        kept = [pq.read_table(file, columns=["id"]) for file in (root / "out" / "held").glob("batch*/*/*.parquet")]
        return _count_ids(written), _count_ids(kept)
    spark = start_session(root)
    sink = open_sink(spark, root, kind)
    assert not isinstance(sink, hg.Folders)
    assert sink.quarantine is not None
    shown = Counter(row["id"] for row in sink.read_table().select("id").collect())
    quarantined = Counter(row["id"] for row in sink.quarantine._read_all().select("id").collect())
    spark.stop()
    return shown, quarantined


def _count_ids(tables: list[pa.Table]) -> Counter[int]:
    return Counter(each for table in tables for each in table["id"].to_pylist())


def _compare_windows(root: Path, tables: list[pa.Table]) -> tuple[int, Counter[str]]:
    """How many windows have other numbers or another status than the same rows in one batch, and the runs of each."""
    found = hg.open_store(f"sqlite:///{root}/dq.db", values=VALUES)
    batches = hg.Gate("clicks", store=open_memory(), checks=CHECKS, mode="observe")
    runs = Counter(each.partition for each in found.revisions("clicks"))
    different = 0
    for at, partition in enumerate(sorted(runs)):
        rows = pa.concat_tables(tables[at * _MINUTES : (at + 1) * _MINUTES])
        good = rows.filter(rows["page"].is_valid())
        wanted = batches.judge(good, partition).run
        have = found.run(found.revisions("clicks", partition)[-1])
        different += have.verdict.status is not wanted.verdict.status or not _is_same(have, wanted)
    found.close()
    return different, runs


def _is_same(one: Run, two: Run) -> bool:
    """Whether all numbers are the same, but for the last digits of sums that were added in another order."""
    numbers = [
        {str(key): each.value for key, each in run.outcomes.items() if isinstance(each, Measured)} for run in (one, two)
    ]
    first, second = ({k: v for k, v in each.items() if isinstance(v, float)} for each in numbers)
    return first.keys() == second.keys() and all(
        abs(first[key] - second[key]) <= _ROUNDING * max(1.0, abs(first[key])) for key in first
    )
