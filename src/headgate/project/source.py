"""The sources of batches: files read by this process, or files and tables read by Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from headgate.gate.publish.publisher import Delivery
from headgate.project.path_template import PARTITION, PathTemplate
from headgate.project.row_filter import batch_predicate, column_of
from headgate.project.source_config import SPARK_FORMATS, SourceConfig
from headgate.values.errors import EngineError, MisuseError, SourceUnavailable
from headgate.values.run import partition_sort_key

if TYPE_CHECKING:
    from headgate.integrations.spark_tables import SparkTablePublisher
    from headgate.integrations.table_log import TableLog

_CSV_DEFAULTS = {"header": "true", "inferSchema": "true"}  # as the local engine reads CSV files


class MovedBatch(NamedTuple):
    """A batch that a publisher has, and the place of it."""

    delivery: Delivery
    place: str


class BatchSource(Protocol):
    """The batches of one dataset."""

    @property
    def is_listed(self) -> bool:
        """Whether it can list its batches."""

    @property
    def exists(self) -> bool:
        """Whether the place is there in which its batches are looked for."""

    @property
    def column(self) -> str | None:
        """The column whose values are the batches; None if no column tells them apart."""

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        """The rows of a batch, from where it was moved to if it was."""

    def read_all(self, since: str = "") -> Any:
        """The rows of all batches, or of those from one on; `column` tells them apart."""

    def find_column(self, rows: Any) -> str:
        """The column whose values are the batches, as rows have it."""

    def split_rows(self, rows: Any) -> Iterator[tuple[str, Any]]:
        """The rows of each batch, with its name."""

    def partitions(self) -> tuple[str, ...]: ...

    def identify_files(self, partition: str) -> str:
        """A text that changes with the files of a batch; empty if they cannot be listed."""


class JudgedElsewhere:
    """The batches of a dataset that a job, a stream or a pipeline judges: nothing of them is read here."""

    is_listed = True
    exists = False
    column: str | None = None

    def __init__(self, dataset: str) -> None:
        self._dataset = dataset

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        raise self._make_error()

    def read_all(self, since: str = "") -> Any:
        raise self._make_error()

    def find_column(self, rows: Any) -> str:
        raise self._make_error()

    def split_rows(self, rows: Any) -> Iterator[tuple[str, Any]]:
        raise self._make_error()

    def partitions(self) -> tuple[str, ...]:
        return ()

    def identify_files(self, partition: str) -> str:
        return ""

    def _make_error(self) -> MisuseError:
        return MisuseError(
            f"the batches of {self._dataset} are judged elsewhere, and are not read here.",
            hint="Its job, stream or pipeline has the rows.",
        )


class LocalFiles:
    """Files that this process reads with Arrow."""

    def __init__(self, dataset: str, settings: SourceConfig, folder: Path) -> None:
        self._dataset = dataset
        self._settings = settings
        self._template = PathTemplate(settings.path or "", folder)
        self.column = _batch_column(settings)

    @property
    def is_listed(self) -> bool:
        return self._template.has_partition or self.column is not None

    @property
    def exists(self) -> bool:
        return self._template.exists

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        from headgate.project.files import open_batch, select_rows

        template = self._template if moved is None else PathTemplate(moved.place, Path("/"))
        data = open_batch(template, self._dataset, partition, self._settings.format, self._settings.options)
        return data if self.column is None else select_rows(data, self.column, partition, self._dataset)

    def read_all(self, since: str = "") -> Any:
        from headgate.project.files import open_batch, select_since

        data = open_batch(self._template, self._dataset, "", self._settings.format, self._settings.options)
        return select_since(data, self.column, since, self._dataset) if self.column and since else data

    def find_column(self, rows: Any) -> str:
        return self.column or ""

    def split_rows(self, rows: Any) -> Iterator[tuple[str, Any]]:
        from headgate.project.files import split_rows

        return split_rows(rows, self.column or "", self._dataset)

    def partitions(self) -> tuple[str, ...]:
        if self._template.has_partition:
            return self._template.partitions()
        if self.column is None:
            return ()
        from headgate.project.files import read_values

        return _sort_names(read_values(self.read_all(), self.column, self._dataset))

    def identify_files(self, partition: str) -> str:
        return _identify_batch(self._template, self._settings, partition)


class SparkRows:
    """Batches that are rows of one data frame of Spark."""

    column: str | None

    def find_column(self, rows: Any) -> str:
        from headgate.engine.spark_sources import find_column

        return find_column(rows, self.column or "")

    def split_rows(self, rows: Any) -> Iterator[tuple[str, Any]]:
        from headgate.engine.spark_sources import split_rows

        return split_rows(rows, self.column or "")


class SparkFiles(SparkRows):
    """Files that Spark reads, from whatever file system it knows."""

    def __init__(self, dataset: str, settings: SourceConfig, folder: Path, session: Callable[[], Any]) -> None:
        self._dataset = dataset
        self._settings = settings
        self._session = session
        self._template = PathTemplate(settings.path or "", folder)
        self._cannot_list = False
        self.column = _batch_column(settings)

    @property
    def is_listed(self) -> bool:
        return self._template.has_partition or self.column is not None

    @property
    def exists(self) -> bool:
        return self._is_here or not self._template.is_local

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        from headgate.engine.spark_sources import escape_glob, read_files, select_rows

        paths = self._find_paths(partition) if moved is None else [escape_glob(moved.place)]
        data = read_files(self._session(), self._settings.format, _spark_options(self._settings), paths)
        return (
            data
            if self._settings.where is None
            else select_rows(data, batch_predicate(self._settings.where, partition))
        )

    def read_all(self, since: str = "") -> Any:
        from headgate.engine.spark_sources import read_files, select_since

        settings = self._settings
        data = read_files(self._session(), settings.format, _spark_options(settings), self._find_paths(""))
        return select_since(data, self.column, since) if self.column and since else data

    def partitions(self) -> tuple[str, ...]:
        if self._template.has_partition:
            return self._template.partitions()
        if self.column is None:
            return ()
        from headgate.engine.spark_sources import values_of

        return _sort_names(values_of(self.read_all(), self.column))

    def identify_files(self, partition: str) -> str:
        if not self._is_here and (not self._template.is_in_s3 or self._cannot_list):
            return ""
        try:
            return _identify_batch(self._template, self._settings, partition)
        except SourceUnavailable:  # Spark may have credentials that this process has not
            self._cannot_list = True
            return ""

    @property
    def _is_here(self) -> bool:
        """Whether the files are on this machine, and not only on a cluster or a Connect server."""
        return self._template.is_local and Path(self._template.root).exists()

    def _find_paths(self, partition: str) -> list[str]:
        if not self._is_here:
            from headgate.engine.spark_sources import escape_partition

            return [self._template.absolute.replace(PARTITION, escape_partition(partition))]
        paths = self._template.paths(partition)
        if not paths:
            raise self._template.no_such_batch(self._dataset, partition)
        from headgate.engine.spark_sources import escape_glob

        return [escape_glob(path) for path in paths]


class SparkTable(SparkRows):
    """A table of Spark's catalogue, whose batches are selected by a predicate."""

    def __init__(self, settings: SourceConfig, session: Callable[[], Any]) -> None:
        self._settings = settings
        self._session = session
        self.column = _batch_column(settings)

    @property
    def is_listed(self) -> bool:
        return self.column is not None

    @property
    def exists(self) -> bool:
        return True

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        from headgate.engine.spark_sources import select_rows

        data, where = self.read_all(), self._settings.where
        return data if where is None else select_rows(data, batch_predicate(where, partition))

    def read_all(self, since: str = "") -> Any:
        from headgate.engine.spark_sources import read_table, select_since

        data = read_table(self._session(), self._settings.table or "", _reveal_options(self._settings))
        return select_since(data, self.column, since) if self.column and since else data

    def partitions(self) -> tuple[str, ...]:
        if self.column is None:
            return ()
        from headgate.engine.spark_sources import values_of

        return _sort_names(values_of(self.read_all(), self.column))

    def identify_files(self, partition: str) -> str:
        if self.column is None or self._settings.format not in SPARK_FORMATS:
            return ""
        return self.open_log().identify_batch(self.column, partition)

    def open_log(self) -> TableLog:
        """What the table knows of its own commits. Raises `MisuseError` unless `format` says of what kind it is."""
        from headgate.integrations.table_log import open_log

        if self._settings.format not in SPARK_FORMATS:
            raise MisuseError(
                f"it is not said what kind of table {self._settings.table} is.", hint="Write format: iceberg, or delta."
            )
        return open_log(self._settings.format, self._settings.table or "", self._session())


class StagedTable(SparkRows):
    """The batches that are staged in a table, and those that its publisher has moved."""

    is_listed = True
    exists = True

    def __init__(self, publisher: SparkTablePublisher) -> None:
        self._publisher = publisher
        self.column: str | None = publisher.by

    def read(self, partition: str, moved: MovedBatch | None = None) -> Any:
        if self._publisher.identify_staged(partition):
            return self._publisher.read_staged(partition)
        return (
            self._publisher.read_published(partition) if moved is None else self._publisher.read_batch(moved.delivery)
        )

    def read_all(self, since: str = "") -> Any:
        from headgate.engine.spark_sources import select_since

        data = self._publisher.read_table()
        return select_since(data, self._publisher.by, since) if since else data

    def partitions(self) -> tuple[str, ...]:
        return _sort_names(set(self._publisher.list_staged()))

    def identify_files(self, partition: str) -> str:
        return self._publisher.identify_staged(partition)


def _batch_column(settings: SourceConfig) -> str | None:
    return None if settings.where is None else column_of(settings.where)


def _reveal_options(settings: SourceConfig) -> dict[str, str]:
    return {name: value.reveal() for name, value in settings.options.items()}


def _spark_options(settings: SourceConfig) -> dict[str, str]:
    return {**(_CSV_DEFAULTS if settings.format == "csv" else {}), **_reveal_options(settings)}


def _identify_batch(template: PathTemplate, settings: SourceConfig, partition: str) -> str:
    from headgate.project.files import hash_files

    if settings.where is not None and not template.has_partition:
        return ""  # all batches share these files, which change with every new batch

    read_as = [
        settings.format,
        settings.where or "",
        *(f"{name}={value!r}" for name, value in settings.options.items()),
    ]
    try:
        files = template.files(partition)
    except SourceUnavailable:
        raise
    except EngineError:
        return ""
    return hash_files(files, template.root, *read_as, *_reveal_options(settings).values())


def _sort_names(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda each: (partition_sort_key(each), each)))
