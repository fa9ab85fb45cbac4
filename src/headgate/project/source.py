"""Where batches come from: files that this process reads, or files and tables that Spark reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from headgate.project.config import SourceConfig
from headgate.project.path_template import PARTITION, Pattern
from headgate.project.row_filter import column_of, rows_of
from headgate.values.errors import EngineError
from headgate.values.run import place

FILES = "files:"  # with this begins the fingerprint of files
_HEADED = {"header": "true", "inferSchema": "true"}  # as the local engine reads csv files


class Source(Protocol):
    """The batches of one dataset."""

    @property
    def is_listed(self) -> bool:
        """Whether it can say which batches there are."""

    def read(self, partition: str) -> Any: ...

    def partitions(self) -> tuple[str, ...]: ...

    def fingerprint(self, partition: str) -> str | None: ...


class Files:
    """Files that this process reads with Arrow."""

    def __init__(self, dataset: str, settings: SourceConfig, folder: Path) -> None:
        self._dataset = dataset
        self._settings = settings
        self._pattern = Pattern(settings.path or "", folder)
        self._column = None if settings.where is None else column_of(settings.where)

    @property
    def is_listed(self) -> bool:
        return self._pattern.has_partition or self._column is not None

    def read(self, partition: str) -> Any:
        from headgate.project.files import opened, rows

        data = opened(self._pattern, self._dataset, partition, self._settings.format, self._settings.options)
        return data if self._column is None else rows(data, self._column, partition, self._dataset)

    def partitions(self) -> tuple[str, ...]:
        if self._pattern.has_partition:
            return self._pattern.partitions()
        if self._column is None:
            return ()
        from headgate.project.files import opened, values

        data = opened(self._pattern, self._dataset, "", self._settings.format, self._settings.options)
        return _ordered(values(data, self._column, self._dataset))

    def fingerprint(self, partition: str) -> str | None:
        return _fingerprint(self._pattern, self._settings, partition)


class SparkFiles:
    """Files that Spark reads, from whatever file system it knows."""

    def __init__(self, dataset: str, settings: SourceConfig, folder: Path, session: Callable[[], Any]) -> None:
        self._dataset = dataset
        self._settings = settings
        self._session = session
        self._pattern = Pattern(settings.path or "", folder)

    @property
    def is_listed(self) -> bool:
        return self._pattern.has_partition or _column(self._settings) is not None

    def read(self, partition: str) -> Any:
        from headgate.engine.spark_sources import read_files, selected

        data = read_files(
            self._session(), self._settings.format, _spark_options(self._settings), self._places(partition)
        )
        return data if self._settings.where is None else selected(data, rows_of(self._settings.where, partition))

    def partitions(self) -> tuple[str, ...]:
        if self._pattern.has_partition:
            return self._pattern.partitions()
        column = _column(self._settings)
        if column is None:
            return ()
        from headgate.engine.spark_sources import read_files, values_of

        said = self._settings
        data = read_files(self._session(), said.format, _spark_options(said), self._places(""))
        return _ordered(values_of(data, column))

    def fingerprint(self, partition: str) -> str | None:
        return _fingerprint(self._pattern, self._settings, partition) if self._is_here else None

    @property
    def _is_here(self) -> bool:
        """Whether the files are on this machine; those of a cluster or of a Connect server need not be."""
        return self._pattern.is_local and Path(self._pattern.root).exists()

    def _places(self, partition: str) -> list[str]:
        if not self._is_here:
            from headgate.engine.spark_sources import escaped

            return [self._pattern.absolute.replace(PARTITION, escaped(partition))]
        found = self._pattern.places(partition)
        if not found:
            raise self._pattern.missing(self._dataset, partition)
        from headgate.engine.spark_sources import globbed

        return [globbed(each) for each in found]


class SparkTable:
    """A table of Spark's catalogue; a predicate tells its batches apart."""

    def __init__(self, settings: SourceConfig, session: Callable[[], Any]) -> None:
        self._settings = settings
        self._session = session

    @property
    def is_listed(self) -> bool:
        return _column(self._settings) is not None

    def read(self, partition: str) -> Any:
        from headgate.engine.spark_sources import read_table, selected

        data = read_table(self._session(), self._settings.table or "", _options(self._settings))
        return data if self._settings.where is None else selected(data, rows_of(self._settings.where, partition))

    def partitions(self) -> tuple[str, ...]:
        column = _column(self._settings)
        if column is None:
            return ()
        from headgate.engine.spark_sources import read_table, values_of

        data = read_table(self._session(), self._settings.table or "", _options(self._settings))
        return _ordered(values_of(data, column))

    def fingerprint(self, partition: str) -> str | None:
        return None


def _column(settings: SourceConfig) -> str | None:
    return None if settings.where is None else column_of(settings.where)


def _options(settings: SourceConfig) -> dict[str, str]:
    return {name: value.reveal() for name, value in settings.options.items()}


def _spark_options(settings: SourceConfig) -> dict[str, str]:
    return {**(_HEADED if settings.format == "csv" else {}), **_options(settings)}


def _fingerprint(pattern: Pattern, settings: SourceConfig, partition: str) -> str | None:
    from headgate.project.files import fingerprint

    if settings.where is not None and not pattern.has_partition:
        return None  # a file that all batches share: it changes with each new one, and the old ones do not

    read_as = [
        settings.format,
        settings.where or "",
        *(f"{name}={value!r}" for name, value in settings.options.items()),
    ]
    try:
        files = pattern.files(partition)
    except EngineError:
        return None
    found = fingerprint(files, pattern.root, *read_as, *_options(settings).values())
    return None if found is None else f"{FILES}{found}"


def _ordered(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda each: (place(each), each)))
