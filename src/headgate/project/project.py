"""A project: an opened `headgate.yml` with its store, its session and its datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from headgate.gate.notification import Notification
from headgate.learn.evidence import NO_EVIDENCE, Evidence
from headgate.project.config import Config
from headgate.project.dataset import Dataset
from headgate.project.error_text import key_path
from headgate.project.reading import ConfigReading, read_config
from headgate.store.port import HistoryStore
from headgate.values.errors import ConfigError, Mistake, MisuseError, did_you_mean

if TYPE_CHECKING:
    from headgate.integrations.results import ResultTables

T = TypeVar("T")


class Project:
    """`hg.Project.open("headgate.yml").dataset("orders").gate`.

    The file is read and checked when the project is opened. The store, Spark and the sources are opened when they are
    first used. `close` closes what the project has opened itself.
    """

    def __init__(self, path: Path, reading: ConfigReading, config: Config, spark: Any = None) -> None:
        self.path = path
        self.config = config
        self._reading = reading
        self._given_session = spark
        self._own_session: Any = None
        self._datasets: dict[str, Dataset] = {}
        self._per_week: dict[str, float | None] = {}

    @classmethod
    def open(
        cls,
        path: str | Path = "headgate.yml",
        *,
        settings: Mapping[str, str] = {},
        spark: Any = None,
    ) -> Project:
        """Read a configuration. Raises `ConfigError`, which lists every mistake with its line and a hint.

        Args:
            path: The file. Relative paths in it are relative to its folder.
            settings: Values by dotted key, such as `datasets.orders.runs`, that replace those of the file.
            spark: A Spark session to use instead of the one that the file describes.
        """
        file = Path(path)
        reading = read_config(file, settings)
        del settings  # a setting may be secret, and tracebacks show what frames hold
        if reading.config is None:
            raise ConfigError.of(reading.mistakes)
        return cls(file.absolute(), reading, reading.config, spark)

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of `headgate.yml`, with which editors complete and check it."""
        from headgate.project.schema import make_schema

        return make_schema()

    def __repr__(self) -> str:
        return f"Project({str(self.path)!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The datasets, in the order of the file."""
        return tuple(self.config.datasets)

    @property
    def folder(self) -> Path:
        """The folder of the file; relative paths in the file are relative to it."""
        return self.path.parent

    @property
    def reports(self) -> Path | None:
        """The folder of reports; None if the file names none."""
        return None if self.config.reports is None else self.folder / self.config.reports

    @cached_property
    def store(self) -> HistoryStore:
        """The store of the history, opened at the first use."""
        from headgate.project.store import open_project_store

        config = self.config
        return self.locate_errors(
            ("store",),
            lambda: open_project_store(config.store, config.secret, config.values, self.folder, self.session),
        )

    @cached_property
    def notify(self) -> Callable[[Notification], Any] | None:
        """The function that notifies all alerts of the file; None if there are none."""
        from headgate.project.alert_channels import combine_receivers, make_receiver

        receivers = [
            self.locate_errors(("alerts", index), partial(make_receiver, alert, self.folder))
            for index, alert in enumerate(self.config.alerts)
        ]
        return combine_receivers(receivers)

    @cached_property
    def results(self) -> ResultTables | None:
        """The tables of `results:`; None if the file names none. Spark starts when they are first written."""
        settings = self.config.results
        if settings is None:
            return None
        from headgate.integrations.results import ResultTables

        tables = self.locate_errors(("results",), lambda: ResultTables(settings.tables, settings.to))
        tables.open_session = self.session
        return tables

    @property
    def evidence_file(self) -> Path:
        """The file of `evidence:`; without it evidence.json beside the configuration."""
        return self.folder / (self.config.evidence or "evidence.json")

    @cached_property
    def evidence(self) -> Evidence:
        """What `evidence:` tells of the user's own tables; empty without it."""
        if self.config.evidence is None:
            return NO_EVIDENCE
        return self.locate_errors(("evidence",), partial(Evidence.read, self.evidence_file))

    def count_per_week(self, name: str) -> float | None:
        """How many batches of a dataset come in a week, as its last partitions tell; None if they tell no time."""
        if name not in self._per_week:
            self._per_week[name] = self.dataset(name).count_per_week()
        return self._per_week[name]

    def dataset(self, name: str) -> Dataset:
        """The dataset of this name. Raises `ConfigError` if the file has none."""
        if name not in self.config.datasets:
            raise ConfigError(f"{self.path.name} has no dataset {name!r};", hint=did_you_mean(name, self.names))
        if name not in self._datasets:
            self._datasets[name] = Dataset(self, name)
        return self._datasets[name]

    @property
    def has_session(self) -> bool:
        """Whether a Spark session was given or the file describes one."""
        return self._given_session is not None or self.config.spark is not None

    def session(self) -> Any:
        """The Spark session: the given one, else the active one, else a new one that the file describes."""
        if self._given_session is not None:
            return self._given_session
        from headgate.engine.spark_sources import active_session

        if self._own_session is None and (active := active_session()) is not None:
            return active
        if self._own_session is None:
            self._own_session = self.locate_errors(("spark",), self._start_session)
        return self._own_session

    def _start_session(self) -> Any:
        from headgate.engine.spark_sources import start_session
        from headgate.project.config import SparkConfig

        settings = self.config.spark or SparkConfig()
        return start_session(
            master=settings.master,
            remote=None if settings.remote is None else settings.remote.reveal(),
            config={name: value.reveal() for name, value in settings.config.items()},
            packages=settings.packages,
        )

    def locate_errors(self, path: tuple[str | int, ...], make: Callable[[], T]) -> T:
        """Call `make`; a `MisuseError` of it becomes a `ConfigError` with the place of this path in the file."""
        try:
            return make()
        except MisuseError as error:
            if isinstance(error, ConfigError) and error.mistakes:
                raise
            message = str(error).removesuffix(error.hint).strip()
            mistake = Mistake(self._reading.find_place(*path), key_path(path), message, error.hint)
        raise ConfigError.of([mistake])  # outside of the except block: the first error may hold a secret

    def close(self) -> None:
        """Close the store, and stop Spark if the project started it."""
        if "store" in self.__dict__:
            self.store.close()
            del self.__dict__["store"]
        self._datasets.clear()
        self._per_week.clear()
        if self._own_session is not None:
            self._own_session.stop()
            self._own_session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
