"""Takes the days that come with the package from the daily files of nycflights13: 60 days, every 5th flight."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from headgate.cli.init.demo import FLIGHTS

FIRST, EACH = 2, 5  # below 200 rows a day sketches are exact, so that every machine says the same
COLUMNS = {
    "carrier": pa.string(),
    "flight": pa.int64(),
    "origin": pa.string(),
    "dest": pa.string(),
    "sched_dep_time": pa.int64(),
    "dep_time": pa.int64(),
    "dep_delay": pa.float64(),
    "arr_delay": pa.float64(),
    "air_time": pa.float64(),
    "distance": pa.float64(),
}


def main(folder: str) -> None:
    days = []
    for file in sorted(Path(folder).glob("*-*-*.csv.gz"))[:60]:
        options = pv.ConvertOptions(
            include_columns=list(COLUMNS), column_types=COLUMNS, null_values=["NA", ""], strings_can_be_null=True
        )
        day = pv.read_csv(file, convert_options=options)
        day = day.take(pa.array(range(FIRST, day.num_rows, EACH)))
        name = pa.array([file.name.removesuffix(".csv.gz")] * day.num_rows)
        days.append(day.append_column("day", name))
    table = pa.concat_tables(days)
    pq.write_table(table, FLIGHTS, compression="zstd", compression_level=19)
    print(f"{table.num_rows:,} flights of {pc.count_distinct(table['day']).as_py()} days")


if __name__ == "__main__":
    main(sys.argv[1])
