"""Where a stream writes the rows of micro-batches, each once."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery, Part
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@runtime_checkable
class StreamSink(Protocol):
    """Writes micro-batches. Every call may be made again with the same number: it writes nothing twice."""

    def append(self, df: DataFrame, stream: str, number: int) -> None:
        """Show the rows of a micro-batch to readers, all at once."""

    def find_appended(self, stream: str) -> int:
        """The number of the last micro-batch of a stream that readers have; -1 if they have none."""

    def quarantine_rows(self, df: DataFrame, stream: str, number: int) -> str:
        """Keep rows of a micro-batch, with their reasons, where readers do not see them. Says where."""


def open_sink(target: Folders | Delta | Iceberg | StreamSink) -> StreamSink:
    """The sink of a publisher."""
    if isinstance(target, Folders):
        return FolderSink(target)
    if isinstance(target, (Delta, Iceberg)):
        return TableSink(target)
    if isinstance(target, StreamSink):
        return target
    raise MisuseError(
        f"{type(target).__name__} is no place for the rows of a stream.",
        hint='Write sink=hg.Delta(...), hg.Iceberg(...) or hg.Folders("/lake/clicks").',
    )


class TableSink:
    """A table of Delta or Iceberg: a micro-batch is a commit, which says so."""

    def __init__(self, table: Delta | Iceberg) -> None:
        self.table = table

    def append(self, df: DataFrame, stream: str, number: int) -> None:
        self.table.append(df, stream, number)

    def find_appended(self, stream: str) -> int:
        return self.table.find_appended(stream)

    def quarantine_rows(self, df: DataFrame, stream: str, number: int) -> str:
        if self.table.quarantine is None:
            raise MisuseError(
                f"{self.table.table} has no quarantine for bad rows.",
                hint=f'Name a table for them: hg.{type(self.table).__name__}(..., quarantine="shop.bad_rows").',
            )
        self.table.quarantine.write(df, stream, number)
        return self.table.quarantine.table


class FolderSink:
    """Parquet files of a local or mounted folder: a micro-batch is a folder, which is renamed when it is complete."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders

    def append(self, df: DataFrame, stream: str, number: int) -> None:
        delivery = _name_delivery(stream, number, "whole")
        if self.folders.state(delivery) != "published":
            self._write(df, delivery)
            self.folders.publish(delivery)

    def find_appended(self, stream: str) -> int:
        begin = f"batch={stream}-"
        names = (name for name in self.folders.paths() if name.startswith(begin))
        return max((int(name.removeprefix(begin)) for name in names), default=-1)

    def quarantine_rows(self, df: DataFrame, stream: str, number: int) -> str:
        delivery = _name_delivery(stream, number, "bad")
        if self.folders.state(delivery) == "held":  # of a try before, perhaps with other rules
            self.folders.discard(delivery)
        self._write(df, delivery)
        return self.folders.hold(delivery)

    def _write(self, df: DataFrame, delivery: Delivery) -> None:
        place = self.folders.staging_path(delivery.partition, delivery.part)
        if place.exists():  # a killed try before has left it
            shutil.rmtree(place)
        try:
            df.write.parquet(str(place))
        except Exception as error:  # from Py4J, gRPC or Spark
            raise PublishError(f"{place} could not be written: {str(error).partition(chr(10))[0][:300]}") from error


def _name_delivery(stream: str, number: int, part: Part) -> Delivery:
    name = f"batch={stream}-{number:09}"
    return Delivery("stream", name, 1, hashlib.sha256(name.encode()).hexdigest()[:32], part)
