"""One dataset of a project: its gate, its batches, and the batches that wait to be judged."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from headgate.engine.progress import Progress
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.gate.notification import Notification
from headgate.gate.publish.publisher import Delivery, Publisher, folder_name
from headgate.gate.recorded_rows import come_from_rows, find_recorded_rows
from headgate.learn.calendar import Calendar
from headgate.learn.evidence import Evidence
from headgate.learn.scope import LearningScope
from headgate.project.budgets import COUNTED_RUNS, TableBudget, count_per_week, find_budget
from headgate.project.config import Config, DatasetConfig
from headgate.project.path_template import PARTITION
from headgate.project.row_filter import column_of
from headgate.project.source import (
    BatchSource,
    JudgedElsewhere,
    LocalFiles,
    MovedBatch,
    SparkFiles,
    SparkTable,
    StagedTable,
)
from headgate.store.ledger import partition_order
from headgate.store.port import HistoryStore
from headgate.values.day_lists import DayLists, is_day
from headgate.values.errors import EngineError, EngineUnavailable, MisuseError, NotMeasured
from headgate.values.period import to_period
from headgate.values.run import Decision, Revision, Ruling

if TYPE_CHECKING:
    from headgate.integrations.spark_tables import SparkTablePublisher

T = TypeVar("T")

_TIME_FORMS = (  # marks of strptime, and the form of a time that has them, the most exact first
    ("STXcs", "%Y-%m-%dT%H:%M:%S"),
    ("MR", "%Y-%m-%dT%H:%M"),
    ("HI", "%Y-%m-%dT%H"),
    ("djaAuwxDF", "%Y-%m-%d"),
    ("mbB", "%Y-%m"),
    ("YyG", "%Y"),
)


class ProjectResources(Protocol):
    """What a dataset uses of its project."""

    config: Config

    @property
    def folder(self) -> Path: ...

    @property
    def store(self) -> HistoryStore: ...

    @property
    def notify(self) -> Callable[[Notification], Any] | None: ...

    @property
    def evidence(self) -> Evidence: ...

    @property
    def has_session(self) -> bool: ...

    def session(self) -> Any: ...

    def count_per_week(self, name: str) -> float | None: ...

    def locate_errors(self, path: tuple[str | int, ...], make: Callable[[], T]) -> T: ...


class LearnedBatches(NamedTuple):
    """The verdicts on batches that readers have, oldest first, and the batches that cannot be read, with the error."""

    verdicts: list[BatchVerdict]
    unread: dict[str, EngineError]


class SplitBatch(NamedTuple):
    """A batch whose good rows were published: the ruling, where the bad rows are, and how many there are of both."""

    ruling: Ruling
    location: str
    good: int
    bad: int


class Dataset:
    """One dataset of a project: its gate, its batches, and the batches that wait to be judged."""

    def __init__(self, project: ProjectResources, name: str) -> None:
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
            segments=settings.segments,
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
    def is_judged_elsewhere(self) -> bool:
        """Whether a job, a stream or a pipeline judges its batches, and nothing is read here."""
        return self.settings.source.elsewhere

    @property
    def is_quiet(self) -> bool:
        """Whether it has no batch now, though it had some: its source is there, and is empty."""
        return not self.partitions() and self._source.exists and self.gate.store.head(self.name) > 0

    def read(self, partition: str) -> Any:
        """Read a batch: a Spark DataFrame, or an Arrow dataset with the local engine.

        A batch that was published or held is read from where it is now, unless it is staged again.
        """
        source, moved = ("datasets", self.name, "source"), self._find_moved(partition)
        path = source if self.is_judged_elsewhere else (*source, "options")
        return self._project.locate_errors(path, lambda: self._source.read(partition, moved))

    def _find_moved(self, partition: str) -> MovedBatch | None:
        """Where the newest batch of a partition was moved to; None if it is staged, or nothing moves batches."""
        publisher = self._publisher
        if publisher is None or publisher.identify_staged(partition):
            return None
        known = self.gate.store.revisions(self.name, partition)
        if not known:
            return None
        delivery = Delivery.of(known[-1])
        place = publisher.locate(delivery)
        return MovedBatch(delivery, place) if place else None

    def partitions(self) -> tuple[str, ...]:
        """The batches of the source in the order of partitions; empty if it cannot list them.

        With `publish:` these are the staged ones. Parts of a batch that is split are not batches.
        """
        names = self._source.partitions()
        publisher, settings = self._publisher, self.settings.publish
        if publisher is None or settings is None or settings.to != "folders":
            return names
        staged = tuple(each for each in names if publisher.identify_staged(each))
        for name in names:
            if name not in staged and "~" not in name:
                raise MisuseError(
                    f"{self.name}: {name!r} is staged under a name that nothing is published from.",
                    hint=f"Let the job write to {settings.path}/staging/{folder_name(name)}.",
                )
        return staged

    def identify_files(self, partition: str) -> str:
        """A text that changes with the input of a batch: a hash of its files, or what a table says of it.

        It is empty if this process cannot list the files, or if all batches share them.
        """
        return self._source.identify_files(partition)

    def read_revision(self, revision: Revision) -> Any:
        """Read the batch of a recorded run, wherever it is now. Refused if it is not the one that was judged."""
        publisher, delivery = self._publisher, Delivery.of(revision)
        moved = None
        if publisher is not None and revision.source:
            publisher.check_input(delivery)
            if publisher.state(delivery) not in ("held", "published"):
                raise MisuseError(f"the batch of {delivery} is no longer there.", hint="Stage it and judge it again.")
            moved = MovedBatch(delivery, publisher.locate(delivery))
        elif self.identify_files(revision.partition) not in ("", revision.source) and revision.source:
            raise MisuseError(
                f"the files of {self.name} {revision.partition} have changed since revision {revision.number}.",
                hint="Judge what is there now: headgate run.",
            )
        path = ("datasets", self.name, "source")
        return self._project.locate_errors(path, lambda: self._source.read(revision.partition, moved))

    def judge(
        self,
        partition: str,
        *,
        repaired: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> BatchVerdict:
        """Read a batch and judge it.

        A batch that cannot be read is recorded as unreadable and held. A batch that does not exist, and a Spark or an
        object store that cannot be used, raise.

        Args:
            partition: The name of the batch.
            repaired: What was undone in the batch before, in words. It is recorded.
            progress: Called while the scan runs.
        """
        self._restage_unread(partition)
        if self.engine == "spark":
            self._project.session()  # first, so that a Spark that does not start is not taken for an unreadable batch
        return self.gate.judge(
            partial(self.read, partition),
            partition,
            source=self.identify_files(partition),
            time=self.read_time(partition),
            repaired=repaired,
            progress=progress,
        )

    def learn(
        self,
        *,
        since: str | None = None,
        from_snapshots: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> LearnedBatches:
        """Judge the batches that its table has already, and hold none: a history on the first day.

        Args:
            since: The first partition; all if it is left out.
            from_snapshots: Take old snapshots of an Iceberg or Delta table as batches, each scanned by itself, where a
                job replaces the whole table. Else the batches are told apart by a column, and scanned in one job.
            progress: Called while a scan runs, and after each batch.
        """
        source = self._source
        if from_snapshots:
            return self._learn_from_snapshots(source, since or "", progress)
        if source.column is None:
            raise MisuseError(
                f"no column of {self.name} tells its batches apart.",
                hint="""Write where: "day = '{partition}'" in its source. Batches in folders of their own are judged """
                "by headgate run.",
            )
        path = ("datasets", self.name, "source")
        rows = self._project.locate_errors(path, lambda: source.read_all(since or ""))
        try:
            column = source.find_column(rows)
            return LearnedBatches(self.gate.backfill(rows, column, read_time=self.read_time, progress=progress), {})
        except NotMeasured:  # one bad value fails the metric of all batches
            batches = sorted(source.split_rows(rows), key=lambda each: partition_order(each[0]))
            return self._learn_one_by_one([each for each in batches if each[0]], progress)

    def _learn_from_snapshots(
        self, source: BatchSource, since: str, progress: Callable[[Progress], None] | None
    ) -> LearnedBatches:
        if not isinstance(source, SparkTable) or source.column is not None:
            raise MisuseError(
                f"the snapshots of {self.name} are not its batches.",
                hint="Leave --from-snapshots out: a column tells its batches apart."
                if source.column is not None
                else "Write source: {table: lake.shop.prices, format: iceberg}.",
            )
        log = self._project.locate_errors(("datasets", self.name, "source"), source.open_log)
        known = {each.partition for each in self.gate.store.revisions(self.name)}
        snapshots = log.list_snapshots(self.settings.time or "%Y-%m-%d")
        waiting = [each for each in snapshots if each.partition >= since and each.partition not in known]
        return self._learn_one_by_one([(each.partition, log.read_snapshot(each)) for each in waiting], progress)

    def _learn_one_by_one(
        self, batches: Sequence[tuple[str, Any]], progress: Callable[[Progress], None] | None
    ) -> LearnedBatches:
        """Judge batches that readers have, in the order that they are given. Those that cannot be read are left out."""
        learned = LearnedBatches([], {})
        for number, (partition, rows) in enumerate(batches, 1):
            try:
                verdict = self.gate.backfill_batch(rows, partition, time=self.read_time(partition))
                learned.verdicts.extend([] if verdict is None else [verdict])
            except EngineUnavailable:
                raise
            except EngineError as error:
                learned.unread[partition] = error
            if progress is not None:
                progress(Progress(number, len(batches), stage="learning", unit="batches"))
        return learned

    def split(self, verdict: BatchVerdict, *, note: str = "", who: str = "") -> SplitBatch:
        """Publish the good rows of a held batch, and keep the bad ones with their reasons.

        Refused if something else than single rows is to blame for what failed.

        Args:
            verdict: The verdict on the batch, also one that was read from the history.
            note: Why; it is kept in the history.
            who: Who says so; the name that you are logged in with if it is left out.
        """
        if not self.publishes_table:
            raise MisuseError(
                f"the batches of {self.name} are not published into a table.",
                hint="Stage both parts yourself, then call gate.split: docs/quarantine.md has an example.",
            )
        publisher, partition, delivery = self._table_publisher, verdict.partition, verdict.delivery
        if verdict.decision is Decision.SPLIT:
            raise MisuseError(
                f"{self.name} {partition} was split already.", hint="If that was interrupted: headgate recover."
            )
        if publisher.state(delivery) != "held":
            raise MisuseError(f"{self.name} {partition} is not held.", hint="Only a held batch can be split.")
        held = publisher.read_batch(delivery)
        finder = find_recorded_rows(self.gate, partition, held, verdict)
        if not come_from_rows(verdict, finder):
            raise MisuseError(
                f"not all that failed in {self.name} {partition} comes from single rows.",
                hint="headgate explain says what failed. Repair the batch, accept or release it.",
            )
        good, bad = finder.split(held, "plain" if self.settings.show_values else "hidden")
        counts = publisher.stage_parts(verdict.revision, good, bad)
        staged = publisher.read_staged(partition, "good")
        ruling = self.gate.split(partition, staged, note=note, who=who, number=verdict.revision.number)
        return SplitBatch(ruling, publisher.locate(delivery.only_part("bad")), *counts)

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
        days = self._project.locate_errors(path, partial(self._read_day_file, self.settings.calendar[name]))
        self._project.locate_errors(path, lambda: DayLists.of({name: days}))
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
        if settings.elsewhere:
            return JudgedElsewhere(self.name)
        if self.engine == "local":
            if settings.where is not None and column_of(settings.where) is None:
                path = ("datasets", self.name, "source", "where")
                hint = "Write where: \"day = '{partition}'\", or engine: spark."
                project.locate_errors(
                    path, lambda: _raise_misuse("the local engine only finds rows whose column is the batch.", hint)
                )
            return LocalFiles(self.name, settings, project.folder)
        if self.publishes_table:
            return StagedTable(self._table_publisher)
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
            self._project.locate_errors(
                path, lambda: _raise_misuse(f"there is no {file}.", "Make it with headgate index build.")
            )
        return PatternIndex.open(file)

    @property
    def publishes_table(self) -> bool:
        """Whether its batches are published into a table, and not between folders."""
        return self.settings.publish is not None and self.settings.publish.to != "folders"

    @cached_property
    def _publisher(self) -> Publisher | None:
        settings = self.settings.publish
        if settings is None or settings.path is None:
            return None if settings is None else self._table_publisher
        from headgate.gate.publish.folders import Folders

        folder = self._project.folder / settings.path
        path = ("datasets", self.name, "publish")
        self._project.locate_errors(path, partial(self._require_staging, settings.path))
        return self._project.locate_errors(path, lambda: Folders(folder))

    @cached_property
    def _table_publisher(self) -> SparkTablePublisher:
        settings, source = self.settings.publish, self.settings.source
        assert settings is not None
        table, column = source.table or "", column_of(source.where or "") or ""
        path = ("datasets", self.name, "source", "table")
        if settings.to == "iceberg":
            from headgate.integrations.iceberg import RETAINED_DAYS, Iceberg

            days = settings.retained_days or RETAINED_DAYS
            publisher: SparkTablePublisher = self._project.locate_errors(
                path, lambda: Iceberg(table, column, retained_days=days, quarantine=settings.quarantine)
            )
        else:
            from headgate.integrations.delta import Delta

            publisher = self._project.locate_errors(
                path, lambda: Delta(table, column, staging=settings.staging, quarantine=settings.quarantine)
            )
        publisher.open_session = self._project.session  # which starts Spark, when it is first needed
        return publisher

    def _require_staging(self, folder: str) -> None:
        """Require that batches are read from where they are staged: what is judged must be what is published."""
        source, wanted = self.settings.source, f"{folder}/staging/{PARTITION}"
        read = source.table if source.path is None else os.path.normpath(self._project.folder / source.path)
        if read != os.path.normpath(self._project.folder / wanted):
            raise MisuseError(
                f"batches are read from {source.path or source.table} and published from {wanted}, "
                "so what is judged would not be what is published.",
                hint=f'Write source: {{path: "{wanted}"}}.',
            )


def _raise_misuse(message: str, hint: str) -> None:
    raise MisuseError(message, hint)
