"""A small lake with a broken day, its configuration, and the command line called in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from typer.testing import CliRunner, Result

from headgate.cli.app import app
from tests.gate.orders import named, orders, replaced

DAYS = 10
BROKEN = named(8)
GOOD = named(9)
NEW = named(10)

CONFIG = """\
store: file:history
reports: pages
datasets:
  orders:
    source: {format: parquet, path: "lake/orders/day={partition}"}
    owner: payments@
    learn: [history]
    checks:
      - is_complete: [id, country]
      - is_contained_in: country
        values: [DE, FR, US]
      - metric: mean(price)
        between: [1, 40]
        level: warn
"""


def write_day(folder: Path, day: int, broken: bool = False) -> None:
    """One partition of the lake; a broken one has a country that is none, in its first three rows."""
    table = orders(day)
    if broken:
        countries = table.column("country").to_pylist()
        table = replaced(table, "country", ["XX", "XX", "XX", *countries[3:]])
    place = folder / "lake" / "orders" / f"day={named(day)}"
    place.mkdir(parents=True)
    pq.write_table(table, place / "part-0.parquet")


def write_lake(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(DAYS):
        write_day(folder, day, broken=named(day) == BROKEN)
    (folder / "headgate.yml").write_text(CONFIG)
    return folder


def called(*words: str, **more: Any) -> Result:
    """The command line with these words, in this process."""
    return CliRunner().invoke(app, list(words), prog_name="headgate", **more)


def document(*words: str) -> dict[str, Any]:
    """The JSON document of a call."""
    result = called(*words, "--output-json", "-")
    found = json.loads(result.stdout, parse_constant=_refused)
    assert found["exit_code"] == result.exit_code
    return dict(found)


def _refused(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
