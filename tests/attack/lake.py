"""Orders that a job stages as Parquet files, and a gate that publishes them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headgate as hg
from headgate.gate.publish.folders import Folders
from headgate.store.port import HistoryStore

CHECK = hg.Check("orders").is_complete("id")


class Killed(BaseException):
    """As sudden as a kill: nothing in the package catches it."""


def kill_at(point: str) -> Callable[[str], None]:
    def watcher(name: str) -> None:
        if name == point:
            raise Killed

    return watcher


def orders(seed: int, rows: int = 100) -> pa.Table:
    chance = np.random.default_rng(seed)
    price = np.round(chance.lognormal(3, 0.5, rows), 2)
    return pa.table({"id": np.arange(rows), "price": price, "country": chance.choice(["DE", "FR", "US"], rows)})


def broken(table: pa.Table) -> pa.Table:
    """The same rows without a value of `id` in one of them."""
    return table.set_column(0, "id", pa.array([None, *table["id"].to_pylist()[1:]], pa.int64()))


class Lake:
    """A root with staging, published and held folders."""

    def __init__(self, root: Path, store: HistoryStore, **settings: Any) -> None:
        self.store = store
        self.folders = Folders(root, manifest=settings.pop("manifest", False))
        self.settings = {"checks": CHECK, "learn": (), **settings}

    @property
    def gate(self) -> hg.Gate:
        """As a new process opens it."""
        return hg.Gate("orders", store=self.store, publisher=self.folders, **self.settings)

    def stage(self, table: pa.Table, partition: str = "p", part: Any = "whole") -> Path:
        place = self.folders.staging_path(partition, part)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        pq.write_table(table, place / "part-0.parquet")
        return place

    def read(self, partition: str = "p", part: Any = "whole") -> Callable[[], pa.Table]:
        return lambda: pq.read_table(self.folders.staging_path(partition, part))

    def judge(self, table: pa.Table, partition: str = "p", **named: Any) -> Any:
        """The job: stage, then judge what was staged."""
        self.stage(table, partition)
        return self.gate.judge(self.read(partition), partition, **named)

    def shown(self, partition: str = "p") -> pa.Table | None:
        found = self.folders.paths().get(partition)
        return None if found is None else pq.read_table(found)

    def is_staged(self, partition: str = "p") -> bool:
        return self.folders.staging_path(partition).exists()
