"""A stream of clicks for tests: files of rows whose event times go forward, which a file source reads one by one."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = datetime.datetime(2026, 11, 18, 8, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
SCHEMA = "id BIGINT, at TIMESTAMP, page STRING, price DOUBLE, country STRING"

Change = Callable[[dict[str, Any], random.Random], dict[str, Any]]


def make_clicks(number: int, rows: int = 200, change: Change | None = None) -> pa.Table:
    """The clicks of a minute: the times of micro-batch `number` lie in minute `number` after the start."""
    chance = random.Random(number)
    made = []
    for row in range(rows):
        click = {
            "id": number * 100_000 + row,
            "at": START + number * MINUTE + datetime.timedelta(seconds=60 * row / rows),
            "page": chance.choice(["home", "cart", "search", "product"]),
            "price": round(chance.lognormvariate(3, 0.5), 2),
            "country": chance.choices(["DE", "FR", "PL"], [5, 3, 1])[0],
        }
        made.append(click if change is None else change(click, chance))
    return pa.Table.from_pylist(
        made,
        pa.schema(
            [
                ("id", pa.int64()),
                ("at", pa.timestamp("us", "UTC")),
                ("page", pa.string()),
                ("price", pa.float64()),
                ("country", pa.string()),
            ]
        ),
    )


def put_clicks(folder: Path, number: int, rows: int = 200, change: Change | None = None) -> None:
    """Write the clicks of a minute where the source finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    hidden = folder / f".{number:06}.parquet"
    pq.write_table(make_clicks(number, rows, change), hidden)
    hidden.rename(folder / f"{number:06}.parquet")


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    """The stream of a folder: a file is a micro-batch."""
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
