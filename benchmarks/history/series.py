"""The analyses of every batch of a feed, computed once and kept as bytes outside the project."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import headgate as hg
from benchmarks.history.feeds import Feed
from benchmarks.values_mode import hide_analysis

CACHE = Path(os.environ.get("HEADGATE_CACHE", Path.home() / ".cache" / "headgate" / "history"))


def fingerprint(folder: Path) -> str:
    """What is kept is made again when the code in this folder, which made it, has changed."""
    source = b"".join(each.read_bytes() for each in sorted(folder.glob("*.py")))
    return hashlib.sha256(source).hexdigest()[:12]


class Batch(NamedTuple):
    """One batch as measured."""

    partition: str
    analysis: hg.Analysis


@cache
def analysed(feed: Feed) -> list[Batch]:
    """Every batch of a feed as states, in order."""
    file = CACHE / f"{feed.folder}.{feed.name}.arrow"
    if not file.exists():
        _write(feed, file)
    with pa.memory_map(str(file)) as source:
        rows = pa.ipc.open_file(source).read_all()
        return [
            Batch(partition.as_py(), hg.Analysis.from_bytes(state.as_py()))
            for partition, state in zip(rows["partition"], rows["analysis"], strict=True)
        ]


@cache
def read_recorded(feed: Feed) -> list[Batch]:
    """The same as a store keeps them, which is what learners read: with hidden values by default."""
    return [Batch(each.partition, hide_analysis(each.analysis)) for each in analysed(feed)]


def _write(feed: Feed, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema({"partition": pa.string(), "analysis": pa.large_binary()})
    part = file.with_suffix(f".{os.getpid()}.part")  # two benchmarks may measure the same feed at the same time
    with pa.ipc.new_file(part, schema) as sink:
        for partition, analysis in _measured(feed):
            sink.write(pa.record_batch({"partition": [partition], "analysis": [analysis.to_bytes()]}, schema=schema))
    part.rename(file)


def _measured(feed: Feed) -> Iterator[Batch]:
    for partition, table in feed.batches():
        yield Batch(partition, hg.analyze(table))
