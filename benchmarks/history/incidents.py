"""The dated real incidents: which runs of which feed they are, what was published, and what it should have been."""

from __future__ import annotations

import csv
import gzip
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from benchmarks.history.feeds import Feed, Published, feeds, read_batch, read_csv
from benchmarks.timing import DATA

SHORTEST = 8  # batches of the shortest feed that an incident is in
_FIRST, _SETTLED = "_first_published", "_settled_72h"

# What the list says in words: "again ...", "until ...", "in on 26th out on 27th"
_SEVERAL = {
    ("reported_hospital_utilization", "2021-05-21"): (
        *("2021-05-21", "2021-07-01", "2021-09-15"),
        *("2021-09-24", "2022-04-29", "2022-08-12"),
    ),
    ("community_profile_counties", "2021-08-13"): ("2021-08-13", "2021-08-14", "2021-08-15", "2021-08-16"),
    ("province_first_published", "2020-06-25"): ("2020-06-25", "2020-06-26", "2020-06-27"),
    ("current_full_2016_2019", "2018-04-26"): ("2018-04-26", "2018-04-27", "2018-04-28"),
}
_RAW = {  # files that no reader of the feed could read, as published
    ("reported_hospital_utilization", "2020-08-02T23:35"): "reported_hospital_utilization_20200802_2335.csv.gz",
    ("reported_hospital_utilization", "2022-11-19"): "reported_hospital_utilization_20221119.csv.gz",
    ("reported_hospital_utilization", "2022-12-10"): "reported_hospital_utilization_20221210.csv.gz",
    ("current_full_2016_2019", "2021-04-26"): "current-full_2021-04-26.csv.gz",
    ("airport_frequencies", "2022-09-13"): "",  # 0 bytes: there is nothing to keep
}
_SERIES = {"current_full": "current_full_2016_2019"}  # a day after the end of what was taken of its feed
_EXCHANGED = {
    "estimated_inpatient_all": "estimated_inpatient_covid",
    "estimated_inpatient_covid": "estimated_inpatient_all",
}
_GZIP = b"\x1f\x8b"


class Incident(NamedTuple):
    """One incident in one feed. `row` numbers the list from 1: two feeds that were exchanged are one row."""

    row: int
    dataset: str
    feed: str
    partitions: tuple[str, ...]
    type: str
    columns: tuple[str, ...]  # empty: all of them
    description: str
    truth: str

    @property
    def title(self) -> str:
        return f"{self.dataset}/{self.feed}"

    @property
    def partition(self) -> str:
        """The first of its runs."""
        return self.partitions[0]


@cache
def incidents() -> tuple[Incident, ...]:
    """Every incident of the list, in its order."""
    with (DATA / "incidents.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            _incident(at, line, _SERIES.get(name, name))
            for at, line in enumerate(csv.DictReader(file), 1)
            for name in line["feed"].split(" + ")
        )


def is_incident(title: str, partition: str) -> bool:
    """Whether this batch of this feed is one of the incidents, and so no clean batch."""
    return (title, partition) in _marked()


def batch_of(incident: Incident, partition: str | None = None) -> pa.Table | None:
    """A batch of an incident (the first) as a reader of the feed would have got it; None, if it was not kept."""
    wanted = partition or incident.partition
    if (incident.feed, wanted) in _RAW:
        return _misread(DATA / incident.dataset / "raw_incident_files" / _RAW[incident.feed, wanted])
    return _batch(_path(incident.dataset, incident.feed), wanted)


def corrected(incident: Incident, partition: str | None = None) -> pa.Table | None:
    """What should have been published: the version of 72 hours later, where one was taken.

    A file with the wrong delimiter read with the right one, and the other of two feeds that were exchanged, are such
    batches too.
    """
    wanted = partition or incident.partition
    if incident.feed in _EXCHANGED:
        return _batch(_path(incident.dataset, _EXCHANGED[incident.feed]), wanted)
    if (incident.feed, wanted) in _RAW:
        return _batch(_path(incident.dataset, incident.feed), wanted)
    settled = incident.feed.removesuffix(_FIRST) + _SETTLED
    return _batch(_path(incident.dataset, settled), wanted) if incident.feed.endswith(_FIRST) else None


@cache
def published(path: Path) -> Published:
    """A feed's file, opened once."""
    return Published(path)


def batch_at(feed: Feed, partition: str) -> pa.Table:
    """One batch of a feed."""
    if feed.path.is_dir():
        return read_batch(feed.path / f"{partition}.csv.gz")
    return published(feed.path).batch(partition)


def _incident(row: int, line: dict[str, str], name: str) -> Incident:
    alone = not line["columns"].startswith("all")
    columns = tuple(line["columns"].split(",")) if alone else ()
    partitions = _partitions(line["dataset"], name, line["snapshot"])
    truth = line["ground_truth"]
    return Incident(row, line["dataset"], name, partitions, line["type"], columns, line["description"], truth)


def _partitions(dataset: str, name: str, given: str) -> tuple[str, ...]:
    """The runs of an incident. Of a drift over months, those at which the header changed."""
    if ".." not in given:
        return _SEVERAL.get((name, given), (given,))
    first, last = given.split("..")
    feed = published(_path(dataset, name))
    headers = [(each, feed.batch(each).column_names) for each in feed.partitions]
    changed = [now for (_, before), (now, header) in pairwise([("", []), *headers]) if header != before]
    return tuple(each for each in changed if first <= each[: len(first)] <= last)


@cache
def _marked() -> frozenset[tuple[str, str]]:
    return frozenset((each.title, partition) for each in incidents() for partition in each.partitions)


@cache
def _paths() -> dict[str, Path]:
    return {feed.title: feed.path for feed in feeds(SHORTEST)}


def _path(dataset: str, name: str) -> Path:
    return _paths().get(f"{dataset}/{name}", DATA / dataset / f"{name}.parquet")


def _batch(path: Path, partition: str) -> pa.Table | None:
    if not path.exists() or partition not in published(path).partitions:
        return None
    return published(path).batch(partition)


def _misread(file: Path) -> pa.Table:
    """What a reader of comma-separated files makes of any bytes; of none, a table without columns."""
    held = file.read_bytes() if file.is_file() else b""
    text = gzip.decompress(held) if held.startswith(_GZIP) else held
    if not text:
        return pa.table({})
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "file.csv"  # one of these files is named .gz and is not
        plain.write_bytes(text)
        try:
            return read_csv(plain)
        except pa.ArrowInvalid:  # one line is a header without rows, which Arrow refuses
            header = text.decode().splitlines()[0].split(",")
            return pa.table({name: pa.array([], pa.string()) for name in header})
