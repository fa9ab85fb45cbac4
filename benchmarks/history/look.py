"""Shows what changed in a batch of a feed since the one before: for judging whether a hold was true or false.

python -m benchmarks.history.look jhu_covid19/us_daily_reports 2020-08-28 [column ...]
"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import batch_at, is_incident
from benchmarks.history.series import analysed

BEFORE = 3
VALUES = 8


def main() -> None:
    title, partition, *columns = sys.argv[1:]
    feed = next(each for each in feeds(8) if each.title == title)
    shown = [*_before(feed, partition), partition]
    tables = {each: batch_at(feed, each) for each in shown}
    now, last = tables[shown[-1]], tables[shown[-2]]
    print(f"{title}: rows", ", ".join(f"{each} {table.num_rows:,}" for each, table in tables.items()))
    print("columns gone:", sorted(set(last.column_names) - set(now.column_names)) or "none")
    print("columns new:", sorted(set(now.column_names) - set(last.column_names)) or "none")
    for name in [each for each in now.column_names if each in last.column_names]:
        if now[name].type != last[name].type:
            print(f"type of {name}: {last[name].type} -> {now[name].type}")
    for name in columns:
        for each, table in tables.items():
            if name in table.column_names:
                print(f"  {name} {each}: {_described(table[name])}")


def _before(feed: Feed, partition: str) -> list[str]:
    earlier = [each.partition for each in analysed(feed) if each.partition < partition]
    return [each for each in earlier if not is_incident(feed.title, each)][-BEFORE:]


def _described(column: pa.ChunkedArray) -> str:
    counts = sorted(pc.value_counts(column).to_pylist(), key=lambda each: -each["counts"])
    top = ", ".join(f"{str(each['values'])[:24]} x{each['counts']}" for each in counts[:VALUES])
    text = f"{column.null_count} null of {len(column)}, {len(counts)} different"
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        ends = pc.min_max(column).as_py()
        text += f", {ends['min']}..{ends['max']}, mean {pc.mean(column).as_py()}, sum {pc.sum(column).as_py()}"
    return f"{text}; {top}"


if __name__ == "__main__":
    main()
