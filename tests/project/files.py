"""Projects in a folder, for the tests of this room."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.project.project import Project

PLAIN = """\
store: file:history
datasets:
  orders:
    source: {path: "lake/orders/day={partition}"}
"""


def written(folder: Path, text: str = PLAIN) -> Path:
    file = folder / "headgate.yml"
    file.write_text(text, encoding="utf-8")
    return file


def opened(folder: Path, text: str = PLAIN, **settings: str) -> Project:
    return Project.open(written(folder, text), settings=settings)


def orders(day: int, rows: int = 200) -> pa.Table:
    chance = random.Random(day)
    ids = range(day * 1_000, day * 1_000 + rows)
    return pa.table({"order_id": list(ids), "price": [round(chance.gauss(50, 5), 2) for _ in ids]})


def lake(folder: Path, days: Iterable[int]) -> None:
    """A folder `lake/orders/day=...` for each of these days of November."""
    for day in days:
        place = folder / "lake" / "orders" / f"day=2026-11-{day:02}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(orders(day), place / "part-0.parquet")
