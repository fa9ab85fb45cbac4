"""The results as one JSON, cell by cell and pair by pair; a new run of a pair takes the place of the old one."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.rounds import Plan
from benchmarks.peers.workloads import Cell

Results = dict[str, Any]


def read_results(file: Path) -> Results:
    if not file.exists():
        return {"cells": {}}
    found: Results = json.loads(file.read_text(encoding="utf-8"))
    return found


def keep_cell(file: Path, cell: Cell, peer: str, pair: Results, plan: Plan, machine: Results) -> None:
    found = read_results(file)
    about = {
        "workload": cell.workload.key,
        "sentence": cell.workload.sentence,
        "table": {
            "name": cell.table.name,
            "rows": cell.table.rows,
            "columns": cell.table.columns,
            "parquet_mb": round(cell.table.megabytes, 1),
        },
    }
    known = found["cells"].setdefault(cell.key, {})
    known |= about
    known.setdefault("pairs", {})[peer] = pair | {"plan": asdict(plan), "machine": machine}
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, file)
