"""Five recurring tables, of which some days are broken. A day is always the same."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import numpy as np
import pyarrow as pa

DAYS = 40
_START = datetime.date(2026, 9, 1)


def partition_of(day: int) -> str:
    return str(_START + datetime.timedelta(days=day))


def _orders(chance: np.random.Generator, day: int) -> pa.Table:
    rows = int(chance.normal(2_000, 60))
    first = (_START - datetime.date(1970, 1, 1)).days + day
    return pa.table(
        {
            "id": np.arange(rows) + day * 5_000,
            "price": np.round(chance.lognormal(3, 0.6, rows), 2),
            "country": chance.choice(["DE", "FR", "US", "JP"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "code": [f"{chr(65 + each % 7)}-{each:05}" for each in chance.integers(0, 99_999, rows)],
            "paid": chance.random(rows) < 0.9,
            "coupon": pa.array(chance.random(rows), mask=chance.random(rows) < 0.3),
            "ordered": pa.array(np.int64(first * 86_400_000_000) + chance.integers(0, 86_400_000_000, rows)).cast(
                pa.timestamp("us")
            ),
        }
    )


def _sensors(chance: np.random.Generator, day: int) -> pa.Table:
    rows, season = 3_000, 5 * np.sin(2 * np.pi * day / 7)
    columns = {f"s{at}": chance.normal(20 + season * (at % 2), 1 + at, rows) for at in range(6)}
    return pa.table({**columns, "errors": chance.poisson(0.05, rows)})


def _visits(chance: np.random.Generator, day: int) -> pa.Table:
    """More different texts than a summary keeps."""
    rows = 6_000
    users = np.minimum(chance.zipf(1.3, rows), 4_000)
    return pa.table(
        {
            "user": [f"user{each * 7919 % 100_003}" for each in users],
            "path": [f"/shop/{each % 900}/item{each % 13}" for each in users],
            "agent": chance.choice([f"Browser/{each}.0" for each in range(30)], rows),
            "seconds": chance.exponential(30, rows),
        }
    )


def _snapshot(chance: np.random.Generator, day: int) -> pa.Table:
    rows = 20
    return pa.table(
        {
            "region": [f"R{at:02}" for at in range(rows)],
            "cases": chance.poisson(30, rows) + day,
            "rate": np.round(chance.random(rows), 3),
        }
    )


def _accounts(chance: np.random.Generator, day: int) -> pa.Table:
    rows = 1_500 + 10 * day
    return pa.table(
        {
            "account": [f"{each:08}" for each in range(rows)],
            "balance": np.round(chance.normal(1_000, 400, rows), 2),
            "status": chance.choice(["open", "closed"], rows, p=[0.97, 0.03]),
            "score": pa.array(chance.integers(300, 850, rows), mask=chance.random(rows) < 0.01),
        }
    )


TABLES: dict[str, Callable[[np.random.Generator, int], pa.Table]] = {
    "orders": _orders,
    "sensors": _sensors,
    "visits": _visits,
    "snapshot": _snapshot,
    "accounts": _accounts,
}


def make_day(table: str, day: int) -> pa.Table:
    """The batch of one day; every seventh is broken in one of three ways."""
    chance = np.random.default_rng([sorted(TABLES).index(table), day])
    made = TABLES[table](chance, day)
    if day % 7 != 6:
        return made
    name = made.column_names[int(chance.integers(len(made.column_names)))]
    at = made.column_names.index(name)
    match int(chance.integers(3)):
        case 0:
            return made.slice(0, made.num_rows // 3)
        case 1:
            mask = chance.random(made.num_rows) < 0.2
            nulls = pa.nulls(made.num_rows, made.schema.field(at).type)
            kept = [nulls[row] if out else made[name][row] for row, out in enumerate(mask.tolist())]
            return made.set_column(at, name, pa.array([each.as_py() for each in kept], made.schema.field(at).type))
        case _:
            numbers = [each.name for each in made.schema if pa.types.is_floating(each.type)] or ["cases"]
            at = made.column_names.index(numbers[0])
            scaled = made[numbers[0]].to_numpy(zero_copy_only=False) * 100
            return made.set_column(at, numbers[0], pa.array(scaled))
