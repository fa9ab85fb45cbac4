"""Folders that a test runs in: a lake that is not yet judged, a lake judged once, and files of every format."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from tests.cli.lake import called, write_lake
from tests.gate.orders import orders


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADGATE_CONFIG", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_lake(tmp_path / "shop"))
    return tmp_path / "shop"


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_lake(tmp_path_factory.mktemp("judged"))
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert called("run", "--quiet").exit_code == 1
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(judged_once, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = orders(1)
    pq.write_table(table, "orders.parquet")
    csv.write_csv(table, "orders.csv")
    csv.write_csv(table, "orders.tsv", csv.WriteOptions(delimiter="\t"))
    Path("orders.csv.gz").write_bytes(gzip.compress(Path("orders.csv").read_bytes()))
    Path("orders.json").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    orc.write_table(table, "orders.orc")
    for day in ("a", "b"):
        Path(f"folder/day={day}").mkdir(parents=True)
        pq.write_table(table, f"folder/day={day}/part.parquet")
    Path("odd").write_bytes(Path("orders.csv").read_bytes())
    return tmp_path
