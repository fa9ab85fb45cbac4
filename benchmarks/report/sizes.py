"""`python -m benchmarks.report.sizes`: bytes and seconds of the pages of wide tables; writes results/sizes.json."""

from __future__ import annotations

import gzip
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from benchmarks.timing import versions
from benchmarks.values_mode import VALUES
from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.report.html import Report
from headgate.store.memory import MemoryStore
from headgate.values.run import Decision, Run

RESULTS = Path(__file__).parent / "results" / "sizes.json"
WIDTHS = (20, 200, 1_000)
RUNS = 31
DISTINCT = 10  # runs that are scanned; they come again under other names
ROWS = 60
ROUNDS = 3
LIMITS = {200: 1_000_000, 1_000: 5_000_000}
SECONDS = 3.0
SECRET = b"wide" * 8
COUNTRIES = ("DE", "FR", "US", "GB", "ES")


def table(columns: int, run: int, broken: int = 0) -> pa.Table:
    """Numbers, texts and codes in turn; the first `broken` columns are half empty and a hundred times as large."""
    random = np.random.default_rng([columns, run])
    return pa.table({f"column_{at:04}": _column(random, at, at < broken) for at in range(columns)})


def _column(random: np.random.Generator, at: int, broken: bool) -> pa.Array:
    if at % 3 == 1:
        values = random.choice(COUNTRIES if not broken else ["xx", "yy", "zz"], ROWS)
    elif at % 3 == 2:
        values = np.array([f"{each:04}-{at % 10}" for each in random.integers(0, 9_999, ROWS)])
    else:
        values = np.round(random.lognormal(3, 0.5, ROWS), 2) * (100 if broken else 1)
    return pa.array(values, mask=np.arange(ROWS) % 2 == 0 if broken else None)


def history(
    columns: int, runs: int = RUNS, learn: tuple[str, ...] = ("history",), distinct: int = DISTINCT
) -> tuple[Gate, BatchVerdict]:
    """A gate after so many runs of a table, so many of them distinct, the last of which broke three columns."""
    gate = Gate(
        "wide",
        store=MemoryStore(hide=VALUES == "hidden", secret=SECRET),
        false_alarms=0.05,
        learn=learn,
        checks=_check(columns),
    )
    scanned = [_run(columns, at) for at in range(min(distinct, runs - 1))]
    for at in range(runs - 1):
        again = {"partition": _named(at), "fingerprint": str(at), "attempt": str(at)}
        gate.store.commit(msgspec.structs.replace(scanned[at % len(scanned)], **again))
        gate.store.decide("wide", _named(at), Decision.PUBLISHED, who="gate")
    return gate, gate.judge(table(columns, runs - 1, broken=3), _named(runs - 1))


def _check(columns: int) -> Check:
    made = Check("wide")
    for at in range(0, columns, 10):
        made = made.is_complete(f"column_{at:04}")
    return made


def _named(at: int) -> str:
    return f"2026-{at // 28 + 1:02}-{at % 28 + 1:02}"


def _run(columns: int, at: int) -> Run:
    """A run as a gate records it that has nothing to learn from: what runs teach is learned once, by the last."""
    alone = Gate(
        "wide", store=MemoryStore(hide=VALUES == "hidden", secret=SECRET), learn=("history",), checks=_check(columns)
    )
    return alone.judge(table(columns, at), _named(at)).run


def measured(write: Callable[[], Report], file: Path, rounds: int = ROUNDS) -> dict[str, Any]:
    """Bytes of a page, also as a server would send it, and seconds to make and write it."""
    taken, worked = [], []
    for _ in range(rounds):
        began, busy = time.perf_counter(), time.process_time()
        write().save(file)
        taken.append(time.perf_counter() - began)
        worked.append(time.process_time() - busy)
    page = file.read_bytes()
    return {
        "bytes": len(page),
        "gzip": len(gzip.compress(page)),
        "seconds": round(statistics.median(taken), 3),
        "processor seconds": round(statistics.median(worked), 3),
    }


def main() -> None:
    found: dict[str, Any] = {"versions": versions("pyarrow", "numpy", "jinja2"), "values": VALUES}
    found |= {"runs": RUNS, "pages": []}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        for columns in WIDTHS:
            gate, verdict = history(columns)
            pages: dict[str, Callable[[], Report]] = {
                "batch": partial(Report.of, gate, verdict),
                "dataset": partial(Report.of, gate),
                "fleet of 100": partial(Report.fleet, [gate] * 100),
            }
            for kind, write in pages.items():
                found["pages"].append({"columns": columns, "page": kind, **measured(write, file)})
                print(found["pages"][-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
