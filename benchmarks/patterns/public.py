"""`python -m benchmarks.patterns.public`: the index that comes with the package, and the page on what it is made of."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.patterns import corpus
from headgate.learn.patterns import index
from headgate.learn.patterns.build import build_index
from headgate.learn.patterns.index import PatternIndex

TARGET = Path(index.__file__).with_name("public.hgi")
PAGE = Path(__file__).parents[2] / "docs" / "public-index.md"
FLOOR = 20
"""Columns that must have a pattern: rarer ones take most of the room, and no rule is made of them."""


def main() -> None:
    table = pq.read_table(corpus.FOLDER / "columns.parquet", columns=["col_id", "values"])
    lists = table["values"]
    columns = ((str(at), lists[at].as_py()) for at in range(table.num_rows))
    print(build_index(columns, TARGET, floor=FLOOR, name="open data"))
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Where the columns are from, and under what licences."""
    table = pq.read_table(corpus.FOLDER / "columns.parquet", columns=["repo", "licence"]).to_pandas()
    counted = table.groupby(["repo", "licence"]).size().sort_values(ascending=False)
    rows = [f"| {repo} | {licence} | {count:,} |" for (repo, licence), count in counted.items()]
    with PatternIndex.public() as public:
        stats = public.stats()
    return "\n".join([*HEAD.format(stats=stats, floor=FLOOR, repos=len(counted)).splitlines(), *rows]) + "\n"


HEAD = """\
# The public index

`hg.PatternIndex.public()` opens an index that comes with the package: {stats.patterns:,} patterns of
{stats.columns:,} columns of open data, each in at least {floor} columns, {stats.bytes:,} bytes. It holds hashes of
patterns and counts: no value, no name and no text of the data ([format.md](format.md)). Open data of this kind are
tables of the web, of government, of elections, of statistics: English for the most part, and without columns of plain
numbers. For tables of your own, build an index of your own lake, or add yours to this one ([patterns.md](patterns.md)).

`python -m benchmarks.patterns.public` builds it again, byte for byte, from the columns of {repos} repositories:

| repository | licence | columns |
|---|---|---|
"""


if __name__ == "__main__":
    main()
