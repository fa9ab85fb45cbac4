"""`python -m training.public_index`: the index that comes with the package, and the page on what it is made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.patterns import corpus
from headgate.learn.patterns import index
from headgate.learn.patterns.build import build_index
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.lake import MIN_VALUES

TARGET = Path(index.__file__).with_name("public.hgi")
PAGE = Path(__file__).parents[1] / "docs" / "public-index.md"
FLOOR = 20
"""Columns that must have a pattern: rarer ones take most of the room, and no rule is made of them."""


NUMBERS = {
    "jhu_covid19/daily_reports_settled_72h": "CC BY 4.0 (Johns Hopkins University)",
    "hhs_hospital/reported_hospital_utilization": "US Government",
    "italy_pcm_dpc/regioni_settled_72h": "CC BY 4.0 (Dipartimento della Protezione Civile)",
    "italy_pcm_dpc/province_settled_72h": "CC BY 4.0 (Dipartimento della Protezione Civile)",
    "globalhealth_mpox/latest_linelist": "CC BY 4.0 (Global.health)",
}
"""Feeds whose columns of numbers are added: the corpus leaves out such columns, and so knows only broken ones."""

BATCHES = 12  # of a feed
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_NEARLY_ALL = 0.9


def main() -> None:
    print(build_index(chain(texts(), numbers()), TARGET, floor=FLOOR, name="open data"))
    PAGE.write_text(page(), encoding="utf-8")


def texts() -> Iterator[tuple[str, list[str]]]:
    lists = pq.read_table(corpus.FOLDER / "columns.parquet", columns=["values"])["values"]
    for at, values in enumerate(lists):
        yield f"text {at}", values.as_py()


def numbers() -> Iterator[tuple[str, list[str]]]:
    """Columns of numbers of some batches of each feed, spread over its time."""
    for feed in NUMBERS:
        table = pq.read_table(corpus.FOLDER.parent / f"{feed}.parquet")
        batches = table["_snapshot"].unique().to_pylist()
        for batch in batches[:: max(1, len(batches) // BATCHES)][:BATCHES]:
            rows = table.filter(pc.equal(table["_snapshot"], pa.scalar(batch, table["_snapshot"].type)))
            for name in [each for each in rows.column_names if not each.startswith("_")]:
                values = [value for value in rows[name].cast("string").to_pylist() if value]
                plain = sum(_NUMBER.fullmatch(value) is not None for value in values)
                if len(values) >= MIN_VALUES and plain >= _NEARLY_ALL * len(values):
                    yield f"{feed} {batch} {name}", values


def page() -> str:
    """Where the columns are from, and under what licences."""
    table = pq.read_table(corpus.FOLDER / "columns.parquet", columns=["repo", "licence"]).to_pandas()
    counted = table.groupby(["repo", "licence"]).size().sort_values(ascending=False)
    rows = [f"| {repo} | {licence} | {count:,} |" for (repo, licence), count in counted.items()]
    added = Counter(name.split()[0] for name, _ in numbers())
    rows += [f"| {feed}: columns of numbers | {NUMBERS[feed]} | {count:,} |" for feed, count in added.items()]
    with PatternIndex.public() as public:
        stats = public.stats()
    return "\n".join([*HEAD.format(stats=stats, floor=FLOOR, repos=len(counted)).splitlines(), *rows]) + "\n"


HEAD = """\
# The public index

`hg.PatternIndex.public()` opens an index that comes with the package: {stats.patterns:,} patterns of
{stats.columns:,} columns of open data, each in at least {floor} columns, {stats.bytes:,} bytes. It holds hashes of
patterns and counts: no value, no name and no text of the data ([format.md](format.md)). Open data of this kind are
tables of the web, of government, of elections, of statistics: English for the most part, with few columns of plain
numbers. For tables of your own, build an index of your own lake, or add yours to this one ([patterns.md](patterns.md)).

`python -m training.public_index` builds it again, byte for byte, from the columns of {repos} repositories:

| repository | licence | columns |
|---|---|---|
"""


if __name__ == "__main__":
    main()
