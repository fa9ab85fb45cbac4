"""`python -m benchmarks.report.ours JOB OUT`: the job with Headgate, by the ten expectations and by its history."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import headgate as hg
from benchmarks.report import job
from benchmarks.values_mode import VALUES
from headgate.gate.gate import Gate
from headgate.report.html import Report


def remember(folder: Path) -> None:
    """The days before the broken one, judged: the history that the gate has on that day."""
    shutil.rmtree(folder, ignore_errors=True)
    found, gate = job.days(job.flights()), _gate(folder)
    for name in job.before(found):
        if gate.judge(found[name], partition=name).action == "hold":
            gate.accept(name, note="it was so", who="ops@")


def _gate(folder: Path) -> Gate:
    store = hg.open_store(f"file://{folder.resolve()}", values=VALUES)
    return hg.Gate("flights", store=store, checks=job.check(), owner="ops@")


def main(made: Path, out: Path) -> None:
    shutil.copytree(made / "history", out / "history")
    day = job.broken(job.days(job.flights())[job.DAY])
    began = time.process_time()
    gate = _gate(out / "history")
    verdict = gate.judge(day, partition=job.DAY)
    between = time.process_time()
    Report.of(gate, verdict).save(out / "report.html")
    ended = time.process_time()
    print(json.dumps({"page": "report.html", "judge": between - began, "write": ended - between}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
