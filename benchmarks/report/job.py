"""One job for every tool: a day of flights in kilometres for miles, the 30 days before it, and ten expectations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import headgate as hg
from headgate.cli.init.demo import FLIGHTS

DAY = "2013-02-03"
BEFORE = 30
BROKEN = "distance"
# What a person who knows these flights would write; all hold on each of the days before, one fails on the day.
EXPECTATIONS: tuple[dict[str, Any], ...] = (
    {"kind": "rows", "between": [100, 250]},
    {"kind": "complete", "column": "flight"},
    {"kind": "complete", "column": "carrier"},
    {"kind": "one_of", "column": "origin", "values": ["EWR", "JFK", "LGA"]},
    {"kind": "matches", "column": "dest", "pattern": "^[A-Z]{3}$"},
    {"kind": "matches", "column": "carrier", "pattern": "^[0-9A-Z]{2}$"},
    {"kind": "values", "column": "distance", "between": [50, 10000]},
    {"kind": "mean", "column": "distance", "between": [850, 1150]},
    {"kind": "values", "column": "air_time", "between": [15, 720]},
    {"kind": "values", "column": "dep_delay", "between": [-60, 1800]},
)


def flights() -> pa.Table:
    return pq.read_table(FLIGHTS)


def days(table: pa.Table) -> dict[str, pa.Table]:
    names = sorted(pc.unique(table["day"]).to_pylist())
    return {name: table.filter(pc.equal(table["day"], name)).drop_columns(["day"]) for name in names}


def broken(day: pa.Table) -> pa.Table:
    return hg.inject_issue(day, "unit_change", BROKEN, factor=1.609344)


def before(found: dict[str, pa.Table]) -> list[str]:
    """The days that a tool may know."""
    return [name for name in found if name < DAY][-BEFORE:]


def means() -> tuple[float, list[float]]:
    """The mean of the broken column on the day, and on each of the days before."""
    found = days(flights())
    now, *earlier = [
        float(pc.mean(each[BROKEN]).as_py()) for each in (broken(found[DAY]), *(found[name] for name in before(found)))
    ]
    return now, earlier


def write(folder: Path) -> None:
    """`day.parquet`, `before.parquet` and `expectations.json`, for tools that read no Headgate."""
    folder.mkdir(parents=True, exist_ok=True)
    found = days(flights())
    day, earlier = broken(found[DAY]), [found[name] for name in before(found)]
    assert [str(each.expectation.metric) for each in hg.verify(day, check()).failures] == [f"mean({BROKEN})"]
    assert all(hg.verify(each, check()).passed for each in earlier)
    pq.write_table(day, folder / "day.parquet")
    pq.write_table(pa.concat_tables(earlier), folder / "before.parquet")
    (folder / "expectations.json").write_text(json.dumps(EXPECTATIONS), encoding="utf-8")


def check() -> hg.Check:
    """The ten expectations as a check."""
    made = hg.Check("flights")
    for each in EXPECTATIONS:
        made = _added(made, each)
    return made


def _added(made: hg.Check, each: dict[str, Any]) -> hg.Check:
    column = each.get("column", "")
    match each["kind"]:
        case "rows":
            return made.has_size(between=tuple(each["between"]))
        case "complete":
            return made.is_complete(column)
        case "one_of":
            return made.is_contained_in(column, each["values"])
        case "matches":
            return made.has_pattern(column, each["pattern"])
        case "mean":
            return made.has_mean(column, between=tuple(each["between"]))
    low, high = each["between"]
    return made.has_min(column, at_least=low).has_max(column, at_most=high)
