"""A project: an opened `headgate.yml` with its store, its session and its datasets."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from headgate.engine.progress import Progress
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.gate.notification import Notification
from headgate.gate.publish.publisher import Delivery, Publisher, folder_name
from headgate.learn.calendar import Calendar
from headgate.learn.evidence import NO_EVIDENCE, Evidence
from headgate.learn.scope import LearningScope
from headgate.project.budgets import COUNTED_RUNS, TableBudget, count_per_week, find_budget
from headgate.project.config import Config, DatasetConfig
from headgate.project.error_text import key_path
from headgate.project.path_template import PARTITION
from headgate.project.reading import ConfigReading, read_config
from headgate.project.row_filter import column_of
from headgate.project.source import BatchSource, LocalFiles, SparkFiles, SparkTable
from headgate.store.port import HistoryStore
from headgate.values.day_lists import DayLists, is_day
from headgate.values.errors import ConfigError, Mistake, MisuseError, did_you_mean
from headgate.values.period import to_period
from headgate.values.run import Decision, Revision

T = TypeVar("T")


_TIME_FORMS = (  # marks of strptime, and the form of a time that has them, the most exact first
    ("STXcs", "%Y-%m-%dT%H:%M:%S"),
    ("MR", "%Y-%m-%dT%H:%M"),
    ("HI", "%Y-%m-%dT%H"),
    ("djaAuwxDF", "%Y-%m-%d"),
    ("mbB", "%Y-%m"),
    ("YyG", "%Y"),
)


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
        return self._locate_errors(
            ("store",), lambda: open_project_store(config.store, config.secret, config.values, self.folder)
        )

    @cached_property
    def notify(self) -> Callable[[Notification], Any] | None:
        """The function that notifies all alerts of the file; None if there are none."""
        from headgate.project.alert_channels import combine_receivers, make_receiver

        receivers = [
            self._locate_errors(("alerts", index), partial(make_receiver, alert, self.folder))
            for index, alert in enumerate(self.config.alerts)
        ]
        return combine_receivers(receivers)

    @property
    def evidence_file(self) -> Path:
        """The file of `evidence:`; without it evidence.json beside the configuration."""
        return self.folder / (self.config.evidence or "evidence.json")

    @cached_property
    def evidence(self) -> Evidence:
        """What `evidence:` tells of the user's own tables; empty without it."""
        if self.config.evidence is None:
            return NO_EVIDENCE
        return self._locate_errors(("evidence",), partial(Evidence.read, self.evidence_file))

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
            self._own_session = self._locate_errors(("spark",), self._start_session)
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

    def _locate_errors(self, path: tuple[str | int, ...], make: Callable[[], T]) -> T:
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


class Dataset:
    """One dataset of a project: its gate, its batches, and the batches that wait to be judged."""

    def __init__(self, project: Project, name: str) -> None:
        self.name = name
        self.settings: DatasetConfig = project.config.datasets[name]
        self._project = project

    def __repr__(self) -> str:
        return f"Dataset({self.name!r})"

    @property
    def engine(self) -> str:
        """The engine that reads its batches: local or spark."""
        if self.settings.engine is not None:
            return self.settings.engine
        return "spark" if self._project.has_session or self.settings.needs_spark else "local"

    @cached_property
    def gate(self) -> Gate:
        """The gate that judges its batches."""
        settings, project = self.settings, self._project
        return Gate(
            self.name,
            store=project.store,
            false_alarms=self.budget.share,
            checks=(settings.checks,) if settings.checks.rules else (),
            learn=settings.learn.learners,
            mode=settings.mode,
            index=self._open_index(),
            publisher=self._publisher,
            notify=project.notify,
            owner=settings.owner or "",
            runs=settings.runs,
            ignore=settings.ignore,
            columns=settings.learn.columns,
            metrics=settings.learn.metrics,
            pin=settings.pin,
            calendar={name: self._read_days(name) for name in settings.calendar},
            drift=settings.drift,
            evidence=project.evidence,
        )

    @property
    def scope(self) -> LearningScope:
        """The columns and metrics that its gate learns from."""
        return LearningScope.of(self.settings.learn.columns, self.settings.learn.metrics, self.settings.ignore)

    @cached_property
    def budget(self) -> TableBudget:
        """The share of its good batches that may be held, and where it comes from."""
        return find_budget(self.name, self._project.config, self._project.count_per_week)

    @property
    def is_listed(self) -> bool:
        """Whether the source can list its batches; if not, the partition must be named."""
        return self._source.is_listed

    @property
    def is_quiet(self) -> bool:
        """Whether it has no batch now, though it had some: its source is there, and is empty."""
        return not self.partitions() and self._source.exists and self.gate.store.head(self.name) > 0

    def read(self, partition: str) -> Any:
        """Read a batch: a Spark DataFrame, or an Arrow dataset with the local engine.

        A batch that was published or held is read from where it is now, unless it is staged again.
        """
        path, place = ("datasets", self.name, "source", "options"), self._find_moved(partition)
        return self._project._locate_errors(path, lambda: self._source.read(partition, place))

    def _find_moved(self, partition: str) -> str:
        """Where the newest batch of a partition was moved to; empty if it is staged, or nothing moves batches."""
        publisher = self._publisher
        if publisher is None or publisher.identify_staged(partition):
            return ""
        known = self.gate.store.revisions(self.name, partition)
        return publisher.locate(Delivery.of(known[-1])) if known else ""

    def partitions(self) -> tuple[str, ...]:
        """The batches of the source in the order of partitions; empty if it cannot list them.

        With `publish:` these are the staged ones. Parts of a batch that is split are not batches.
        """
        names = self._source.partitions()
        publisher = self._publisher
        if publisher is None:
            return names
        staged = tuple(each for each in names if publisher.identify_staged(each))
        for name in names:
            if name not in staged and "~" not in name:
                raise MisuseError(
                    f"{self.name}: {name!r} is staged under a name that nothing is published from.",
                    hint=f"Let the job write to {self.settings.publish}/staging/{folder_name(name)}.",
                )
        return staged

    def identify_files(self, partition: str) -> str:
        """A hash of the names, sizes and times of the files of a batch; empty if they are not on this machine, or if
        all batches share them."""
        return self._source.identify_files(partition)

    def judge(self, partition: str, *, progress: Callable[[Progress], None] | None = None) -> BatchVerdict:
        """Read a batch and judge it.

        A batch that cannot be read is recorded as unreadable and held. A batch that does not exist and a Spark that
        cannot be used raise.
        """
        self._restage_unread(partition)
        if self.engine == "spark":
            self._project.session()  # first, so that a Spark that does not start is not taken for an unreadable batch
        return self.gate.judge(
            partial(self.read, partition),
            partition,
            source=self.identify_files(partition),
            time=self.read_time(partition),
            progress=progress,
        )

    def calendar(self, partitions: Sequence[str]) -> Calendar:
        """When the batches of these partitions are, and how often one comes."""
        times = {each: to_period(time) for each in partitions if (time := self.read_time(each)) is not None}
        return Calendar.of(partitions, times=times)

    def count_per_week(self) -> float | None:
        """How many batches come in a week, as the newest partitions tell; None if they tell no time."""
        partitions = [each.partition for each in self._project.store.last(self.name, COUNTED_RUNS)]
        try:
            return count_per_week(self.calendar(partitions)) if partitions else None
        except MisuseError:  # a name from before `time:` was written
            return None

    def read_time(self, partition: str) -> str | None:
        """The time that `time:` reads from the name of a partition, as exactly as it tells it; None without it."""
        form = self.settings.time
        if form is None:
            return None
        try:
            found = datetime.datetime.strptime(partition, form)
        except ValueError as error:
            raise MisuseError(
                f"{self.name}: time: {form!r} does not read the partition {partition!r}: {error}.",
                hint="Write time: as the names of the partitions are, or leave it out.",
            ) from None
        return found.strftime(next(plain for marks, plain in _TIME_FORMS if any(f"%{mark}" in form for mark in marks)))

    def _read_days(self, name: str) -> tuple[str, ...]:
        """The days of a list of `calendar:`, from the file that it names if it names one."""
        path = ("datasets", self.name, "calendar", name)
        days = self._project._locate_errors(path, partial(self._read_day_file, self.settings.calendar[name]))
        self._project._locate_errors(path, lambda: DayLists.of({name: days}))
        return days

    def _read_day_file(self, days: tuple[str, ...]) -> tuple[str, ...]:
        if len(days) != 1 or is_day(days[0]):
            return days
        file = self._project.folder / days[0]
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise MisuseError(f"{file} cannot be read.", hint="Name a file with one day in each line.") from None
        return tuple(day for line in lines if (day := line.partition("#")[0].strip()))

    def _restage_unread(self, partition: str) -> None:
        """Put a held batch that could not be read back into staging, so that it can be judged again."""
        publisher = self._publisher
        known = [] if publisher is None else self.gate.store.revisions(self.name, partition)
        if publisher is not None and known and known[-1].unread and known[-1].decision is Decision.HELD:
            publisher.restage(Delivery.of(known[-1]))

    def waiting(self) -> tuple[str, ...]:
        """The batches to judge: those that the history does not have, those that could not be read, and those whose
        files have changed since. Changed files of a batch that was published count only if they are staged again."""
        judged = {each.partition: each for each in self.gate.store.revisions(self.name)}
        return tuple(each for each in self.partitions() if each not in judged or self._must_judge_again(judged[each]))

    def _must_judge_again(self, revision: Revision) -> bool:
        """Whether the source has another input of a batch than the one that was judged, or was not settled."""
        if revision.awaits_decision or revision.decision is Decision.WITHDRAWN:
            return True
        if revision.unread and revision.decision in (None, Decision.HELD):
            return True
        publisher = self._publisher
        if publisher is not None:
            return publisher.identify_staged(revision.partition) not in ("", revision.source)
        if revision.decision not in (Decision.HELD, Decision.REJECTED) or not revision.source:
            return False
        return self.identify_files(revision.partition) not in ("", revision.source)

    @cached_property
    def _source(self) -> BatchSource:
        settings, project = self.settings.source, self._project
        if self.engine == "local":
            if settings.where is not None and column_of(settings.where) is None:
                path = ("datasets", self.name, "source", "where")
                hint = "Write where: \"day = '{partition}'\", or engine: spark."
                project._locate_errors(
                    path, lambda: _raise_misuse("the local engine only finds rows whose column is the batch.", hint)
                )
            return LocalFiles(self.name, settings, project.folder)
        if settings.table is not None:
            return SparkTable(settings, project.session)
        return SparkFiles(self.name, settings, project.folder, project.session)

    def _open_index(self) -> Any:
        if self.settings.index is None:
            return None
        from headgate.learn.patterns.index import PatternIndex

        file = self._project.folder / self.settings.index
        if not file.exists():
            path = ("datasets", self.name, "index")
            self._project._locate_errors(
                path, lambda: _raise_misuse(f"there is no {file}.", "Make it with headgate index build.")
            )
        return PatternIndex.open(file)

    @cached_property
    def _publisher(self) -> Publisher | None:
        if self.settings.publish is None:
            return None
        from headgate.gate.publish.folders import Folders

        folder = self._project.folder / self.settings.publish
        path = ("datasets", self.name, "publish")
        self._project._locate_errors(path, partial(self._require_staging, folder / "staging"))
        return self._project._locate_errors(path, lambda: Folders(folder))

    def _require_staging(self, staging: Path) -> None:
        """Require that batches are read from where they are staged: what is judged must be what is published."""
        source = self.settings.source
        read = source.table if source.path is None else os.path.normpath(self._project.folder / source.path)
        if read != os.path.normpath(staging / PARTITION):
            wanted = f"{self.settings.publish}/staging/{PARTITION}"
            raise MisuseError(
                f"batches are read from {source.path or source.table} and published from {wanted}, "
                "so what is judged would not be what is published.",
                hint=f'Write source: {{path: "{wanted}"}}.',
            )


def _raise_misuse(message: str, hint: str) -> None:
    raise MisuseError(message, hint)
