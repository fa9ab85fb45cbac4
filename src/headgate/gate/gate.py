"""The gate: every batch of a dataset is measured, judged, recorded, and published or held, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import date, datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from headgate.checks.check import Check
from headgate.engine.batch import rereadable
from headgate.engine.progress import Progress
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, as_checks, can_read_again, open_input, read_input
from headgate.evaluate.row_rules import RowFinder
from headgate.gate.accept_preview import preview_range_changes
from headgate.gate.backfill import Backfill
from headgate.gate.backtest.backtest import BUDGETS, INJECTED_BATCHES, Backtest, backtest
from headgate.gate.batch_finisher import BatchFinisher
from headgate.gate.batch_judge import BatchJudge
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.history import DatasetHistory
from headgate.gate.mutes import ColumnMutes
from headgate.gate.notification import Notification
from headgate.gate.publish.batch_mover import BatchMover
from headgate.gate.publish.publisher import Publisher
from headgate.gate.repair_trial import RepairTrial, judge_repaired
from headgate.gate.rulings import PersonRulings
from headgate.gate.settings import FALSE_ALARMS, RUNS, Settings
from headgate.learn.drift import HOLD_FACTOR
from headgate.learn.evidence import NO_EVIDENCE, Evidence
from headgate.learn.learned import Learned, Learner
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.pins import Pins, read_pins
from headgate.learn.scope import LearningScope
from headgate.learn.segment_history import list_segment_metrics
from headgate.store.port import HistoryStore
from headgate.values.account import Mode
from headgate.values.day_lists import DayLists
from headgate.values.errors import EngineUnavailable, MisuseError, NoSuchBatch, StoreError
from headgate.values.mute import Mute
from headgate.values.period import Period, to_period
from headgate.values.range_change import RangeChange
from headgate.values.run import Decision, Revision, Ruling, Run
from headgate.values.verdict import Verdict


class Gate:
    """`hg.Gate("orders", store=store, false_alarms=0.01).judge(df, partition="2026-11-14")`.

    Nothing is published without a committed pass of exactly this input, or a person's decision.

    Args:
        dataset: The name of the table that recurs.
        store: Where its history is kept: `hg.open_store(...)`.
        false_alarms: The share of good batches of the table that may be held. All learned expectations together cost
            no more.
        checks: What a person expects. They cost nothing of the budget.
        learn: Who else may propose expectations: "history", "patterns", "novelty".
        mode: "guard" holds what fails; "observe" judges and records, and holds nothing.
        index: Where patterns are looked up; the public index if none is given.
        publisher: Moves batches after they are judged, such as `hg.Folders(...)`.
        notify: Called with a notification of every verdict.
        owner: Who is responsible for the dataset; verdicts and notifications name them.
        runs: How many accepted runs are learned from.
        ignore: Columns of which nothing is learned or expected, such as `["etl_id", "debug_*"]`. They are measured and
            recorded all the same. Checks and pins of them apply.
        columns: The columns that are learned from, such as `["price", "qty_*"]`; all if none are given.
        metrics: The metrics that are learned from, such as `["size", "completeness"]`; all if none are given.
        pin: Ranges for metrics instead of learned ones, by column and metric, and by metric for the table:
            `{"price": {"mean": (20, 30), "completeness": (0.99, None)}, "size": (900, 1100)}`. They cost nothing of the
            budget.
        calendar: Lists of days whose batches are compared with each other, by name: `{"holidays": ["2026-12-25"]}`.
        drift: How many times less or more than long ago rows or values may be, before a batch is held for having moved
            slowly; 0 holds none for that.
        evidence: How rare good batches of your own tables were, which `hg.calibrate(store).evidence` tells; it is used
            beside that of the package, or in its place.
        segments: Columns by which states are kept with every run, such as `["carrier"]`: how many values are missing
            and how numbers are distributed in the rows of each carrier. So the rows of a fault are found more surely.
    """

    def __init__(
        self,
        dataset: str,
        *,
        store: HistoryStore,
        false_alarms: float = FALSE_ALARMS,
        checks: Check | Iterable[Check] = (),
        learn: Iterable[str] = tuple(Learner),
        mode: Literal["guard", "observe"] = "guard",
        index: PatternIndex | None = None,
        publisher: Publisher | None = None,
        notify: Callable[[Notification], Any] | None = None,
        owner: str = "",
        runs: int = RUNS,
        ignore: Iterable[str] = (),
        columns: Iterable[str] | None = None,
        metrics: Iterable[str] | None = None,
        pin: Pins = MappingProxyType({}),
        calendar: Mapping[str, Iterable[date | str]] = MappingProxyType({}),
        drift: float = HOLD_FACTOR,
        evidence: Evidence = NO_EVIDENCE,
        segments: Iterable[str] = (),
    ) -> None:
        self.dataset = dataset
        self.store = store
        self.checks = as_checks(checks)
        scope, pins, days = LearningScope.of(columns, metrics, ignore), read_pins(pin), DayLists.of(calendar)
        self.settings = Settings.of(
            *(false_alarms, learn, mode, runs, owner),
            scope=scope,
            pins=pins,
            days=days,
            drift=drift,
            evidence=evidence,
            segments=segments,
        )
        self.mover = BatchMover(dataset, publisher)
        self.history = DatasetHistory(store, dataset, self.settings)
        self.finisher = BatchFinisher(self.history, self.mover, notify)
        self.rulings = PersonRulings(self.history, self.mover, self.checks)
        self.mutes = ColumnMutes(self.history)
        self._index_given = index

    @property
    def publisher(self) -> Publisher | None:
        """What moves batches after they are judged."""
        return self.mover.publisher

    @property
    def notify(self) -> Callable[[Notification], Any] | None:
        """What is called with a notification of every verdict."""
        return self.finisher.notify

    # --- judging

    def judge(
        self,
        data: Any,
        partition: str,
        *,
        fingerprint: str | None = None,
        source: str = "",
        tables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        time: date | datetime | str | None = None,
        repaired: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> BatchVerdict:
        """Measure a batch in one scan, judge it, record it, and publish or hold it.

        What an interrupted gate has judged and not published or held is finished first. If the store, Spark or the
        object store of the batches cannot be used, this raises `StoreError` or `EngineUnavailable`, and records
        nothing.

        Args:
            data: What `hg.analyze` takes; or an analysis, which is not scanned again; or a function that reads one of
                these. If the function fails, the batch is recorded as one that could not be read, and held.
            partition: The batch's key in the dataset. It is judged by the accepted runs before it.
            fingerprint: Names the content of this input: a snapshot's id, a checksum. The same again gives the recorded
                verdict, without a scan. Without one, it is a checksum of the rows, made in the scan.
            source: Names the files that it is read from, with their times. The same again gives the recorded verdict,
                without a scan; the same content from another source is a new revision. A publisher names what is
                staged itself.
            tables: Other tables that checks name, by name.
            now: The time that freshness is measured against, and until when columns are muted; the clock's time if it
                is left out.
            time: The day, hour or other period that the batch is about, if the name of the partition does not tell it.
            repaired: What was undone in the batch before, in words, such as `trial.repairs`. It is recorded.
            progress: Called while the scan runs.
        """
        finished = self.finisher.finish_earlier(partition)
        source, published = self.mover.find_staged(partition, source)
        mutes = self.mutes.find_active(now)
        known = self.history.find_same_input(partition, fingerprint, source, self._suite_with(mutes))
        if known is not None and known.number >= published:
            return finished.get(known.sequence) or self.finisher.finish(known, copy=source)
        period = None if time is None else to_period(time)
        judge = self._make_judge(partition, source, published, period, mutes, repaired)
        lookup_tables = rereadable(tables)
        try:
            given = read_input(data)
            batch = open_input(given, lookup_tables)
            context = BatchContext(batch.schema, lookup_tables, self.store, self.dataset, partition, now)
            evaluation = Evaluation.of(self.checks, context)
            measurements = evaluation.measure(
                batch,
                also=judge.metrics(batch.schema),
                by_segment=list_segment_metrics(batch.schema, self.settings.segments),
                progress=progress,
            )
        except (MisuseError, StoreError, NoSuchBatch, EngineUnavailable):
            raise  # a mistake of the caller, or no store, batch or Spark: there is nothing to record
        except Exception as error:
            self.mover.require_unchanged(partition, source)
            revision = self._record(judge.unreadable_run(error))
            return self.finisher.finish(revision, read_error=error, is_new=True)
        run, judged = judge.to_run(evaluation, measurements, fingerprint)
        row_finder = RowFinder(judged, measurements, lookup_tables, self.store.secret)
        rows = given if can_read_again(given) else None
        revision = self._record(run, lambda new: judge.name_faults(new, rows))
        return self.finisher.finish(revision, row_finder, copy=source, is_new=revision.attempt == run.attempt)

    def backfill(
        self,
        data: Any,
        by: str,
        *,
        tables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        read_time: Callable[[str], date | datetime | str | None] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> list[BatchVerdict]:
        """Judge the batches that a table has already, in one scan, so that there is a history on the first day.

        The batches are judged in the order of their partitions, each by those before it. Nothing is held, moved or
        notified: a batch that does not pass is recorded as observed, and nothing is learned from it until somebody
        accepts it. A batch that the history has is left out, so that the call may be made again. If a metric cannot be
        measured, this raises `NotMeasured` and records nothing. Gives the verdicts.

        Args:
            data: What `hg.analyze` takes.
            by: The column whose values are the partitions. Rows without a value in it are left out.
            tables: Other tables that checks name, by name.
            now: The time that freshness is measured against; the end of a batch's period if it is left out.
            read_time: Gives the day, hour or other period of a partition whose name does not tell it.
            progress: Called while the scan runs, and after each batch.
        """
        return self._open_backfill(tables, now).judge_parts(data, by, read_time, progress)

    def backfill_batch(
        self,
        data: Any,
        partition: str,
        *,
        tables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        time: date | datetime | str | None = None,
    ) -> BatchVerdict | None:
        """As `backfill`, of one batch; None if the history has it. What cannot be read raises, and is not recorded.

        Args:
            data: What `hg.analyze` takes.
            partition: The batch's key in the dataset.
            tables: Other tables that checks name, by name.
            now: The time that freshness is measured against; the end of the batch's period if it is left out.
            time: The day, hour or other period that the batch is about, if the name of the partition does not tell it.
        """
        return self._open_backfill(tables, now).judge_batch(data, partition, time)

    def try_repair(
        self,
        data: Any,
        partition: str,
        *,
        number: int | None = None,
        tables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        time: date | datetime | str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> RepairTrial:
        """Undo the faults that explain why a batch failed, and judge the result in one scan.

        Nothing is recorded, moved or notified. The verdict says whether the batch would pass; its `data` is the
        repaired batch. To publish that, stage it, and judge it.

        Args:
            data: The batch that was judged, or a function that reads it.
            partition: Its key in the dataset.
            number: Which revision of the partition; the newest if it is left out.
            tables: Other tables that checks name, by name.
            now: The time that freshness is measured against; the clock's time if it is left out.
            time: The day, hour or other period that the batch is about, if the name of the partition does not tell it.
            progress: Called while the scan runs.
        """
        verdict, mutes = self.explain(partition, number), self.mutes.find_active(now)
        judge = self._make_judge(partition, "", 0, None if time is None else to_period(time), mutes)
        return judge_repaired(verdict, data, judge, self.checks, self.store, tables=tables, now=now, progress=progress)

    def observe(self) -> Gate:
        """A gate with the same checks and settings that holds and moves nothing."""
        observer = copy(self)
        observer.settings = msgspec.structs.replace(self.settings, mode=Mode.OBSERVE)
        observer.mover = BatchMover(self.dataset, None)
        observer.history = DatasetHistory(self.store, self.dataset, observer.settings)
        observer.finisher = BatchFinisher(observer.history, observer.mover, self.notify)
        observer.rulings = PersonRulings(observer.history, observer.mover, self.checks)
        observer.mutes = ColumnMutes(observer.history)
        return observer

    def _open_backfill(self, tables: Mapping[str, Any] | None, now: datetime | None) -> Backfill:
        """Judges as this gate does, and holds, moves and notifies nothing."""
        observer = self.observe()
        observer.finisher = BatchFinisher(observer.history, observer.mover, None)
        return Backfill(
            history=observer.history,
            checks=self.checks,
            tables=rereadable(tables),
            now=now,
            learned=observer.learned,
            make_judge=lambda partition, period: observer._make_judge(
                partition, "", 0, period, self.mutes.find_active(now)
            ),
            record=lambda run: observer.finisher.finish(observer._record(run), is_new=True),
        )

    def prepare(self, before: str | None = None) -> Learned:
        """Learn now what the next batch will be judged by, so that judging it is quick. It may be left out."""
        return self.learned(before=before)

    def learned(self, *, before: str | None = None, as_of: int | None = None) -> Learned:
        """What is learned from the accepted runs before a partition, as the history was after a commit."""
        return self.history.learn(before, as_of, mutes=self.mutes.find_active(as_of=as_of))

    def _make_judge(
        self,
        partition: str,
        source: str,
        published: int,
        period: Period | None,
        mutes: tuple[Mute, ...],
        repaired: Sequence[str] = (),
    ) -> BatchJudge:
        """The judge of a batch, who has learned from the runs before it, as the history is now."""
        basis = self.store.head(self.dataset)  # the last commit: what comes later plays no part in this verdict
        reference = self.history.find_reference_runs(partition, basis, period)
        return BatchJudge(
            dataset=self.dataset,
            partition=partition,
            settings=self.settings,
            suite=self._suite_with(mutes),
            source=source,
            after=published,
            basis=basis,
            learned=self.history.learn_from(reference.revisions, partition, period, mutes=mutes, as_of=basis),
            period=period,
            mutes=mutes,
            repaired=tuple(repaired),
            order_note=reference.note,
            secret=self.store.secret,
            index=lambda: self._index,
            read_held=lambda: self.history.read_held_before(partition, basis),
        )

    def _record(self, run: Run, complete: Callable[[Run], Run] = lambda run: run) -> Revision:
        """The revision of a run: a new one, or that of the same rows, judged before in the same way.

        `complete` gives what only a new run needs to have.
        """
        for revision in self.find_undecided():
            if revision.partition == run.partition:  # its input is gone
                self.finish(revision)
        known = self.history.find_same_content(run, self._is_same_batch)
        if known is None:
            self.mover.require_staged(run)
            known = self.history.commit(complete(run), self._is_same_batch)
        return known

    def _is_same_batch(self, revision: Revision, run: Run) -> bool:
        """Whether a run with the same rows is of the batch of this revision.

        Rows that are staged again are the same batch while the publisher has it. Without a publisher, the same rows in
        other files are another batch.
        """
        return run.source in ("", revision.source) or self.mover.has_input(revision)

    def _suite_with(self, mutes: Sequence[Mute]) -> str:
        """A hash of the checks, settings and mutes: it tells runs that were judged in this way from others."""
        return self.settings.ignore_columns(each.column for each in mutes).suite(self.checks)

    @cached_property
    def _index(self) -> PatternIndex:
        return PatternIndex.public() if self._index_given is None else self._index_given

    # --- publishing what was recorded

    def recover(self) -> list[BatchVerdict]:
        """Finish what interrupted calls have left: batches that were judged and not published or held, decisions of
        people that were not carried out, and moves that stopped halfway. Gives the verdicts of those batches.

        `judge` does the first by itself. It may be called at any time, also while other gates work.
        """
        verdicts = [self.finish(revision) for revision in self.find_undecided()]
        self.finish_rulings()
        return verdicts

    def find_undecided(self) -> tuple[Revision, ...]:
        """The batches that an interrupted gate has judged and not published or held, in the order of their commits."""
        return self.store.find_undecided(self.dataset)

    def finish(self, revision: Revision) -> BatchVerdict:
        """Publish or hold a batch that was judged before, and record that."""
        return self.finisher.finish(revision)

    def finish_rulings(self) -> None:
        """Carry out decisions of people that were not carried out, and finish moves that stopped halfway."""
        try:
            self.rulings.finish()
        finally:
            self.mover.recover()

    # --- a person's decision

    def accept(
        self, partition: str, *, to: str | None = None, note: str = "", who: str = "", number: int | None = None
    ) -> tuple[Ruling, ...]:
        """That was expected: the run joins what the next is learned from. If it is held, it is published.

        With `to`, all held batches from one partition to another are accepted, in the order of the partitions: a new
        normal. A batch with several revisions is refused: accept it alone, by its number. If one cannot be published,
        this raises `RangeStopped`; those before it stay accepted. Gives one ruling for each batch.

        Args:
            partition: Which batch; or the first partition of a range.
            to: The last partition of the range, which belongs to it; it is left out for one batch.
            note: Why; it is kept in the history.
            who: Who says so; the name that you are logged in with if it is left out.
            number: Which revision of the partition; it may be left out if there is one.
        """
        return self.rulings.rule(Decision.ACCEPTED, partition, to, note, who, number)

    def preview_accept(
        self, partition: str, *, to: str | None = None, number: int | None = None
    ) -> tuple[RangeChange, ...]:
        """What `accept` would do to the ranges of the next batch, for each metric that left its learned range.

        Nothing is recorded. It is empty if no learned range was left, as by a batch that failed a check. It raises what
        `accept` would raise.

        Args:
            partition: Which batch; or the first partition of a range.
            to: The last partition of the range, which belongs to it; it is left out for one batch.
            number: Which revision of the partition; it may be left out if there is one.
        """
        revisions = self.rulings.find_batches(Decision.ACCEPTED, partition, to, number)
        return preview_range_changes(self.history, revisions, self.mutes.find_active())

    def reject(
        self, partition: str, *, to: str | None = None, note: str = "", who: str = "", number: int | None = None
    ) -> tuple[Ruling, ...]:
        """That was wrong: nothing is learned from the run. Repair the batch and judge the partition again.

        It undoes what `accept` taught. Rows that readers see stay where they are.

        The arguments are those of `accept`.
        """
        return self.rulings.rule(Decision.REJECTED, partition, to, note, who, number)

    def release(
        self, partition: str, *, to: str | None = None, note: str = "", who: str = "", number: int | None = None
    ) -> tuple[Ruling, ...]:
        """Publish a held batch as it is, and learn nothing from it.

        The arguments are those of `accept`.
        """
        return self.rulings.rule(Decision.RELEASED, partition, to, note, who, number)

    def discard(
        self, partition: str, *, to: str | None = None, note: str = "", who: str = "", number: int | None = None
    ) -> tuple[Ruling, ...]:
        """Drop a held batch for good; the run stays in the history, and nothing is learned from it.

        The arguments are those of `accept`.
        """
        return self.rulings.rule(Decision.DISCARDED, partition, to, note, who, number)

    def split(
        self,
        partition: str,
        good: Any,
        *,
        note: str = "rows split",
        who: str = "",
        number: int | None = None,
    ) -> Ruling:
        """Publish the good rows of a held batch and keep the bad ones, staged as its two parts; learn nothing from it.

        `verdict.split(df)` gives both; `publisher.staging_path(partition, part="good")` is where the job writes them.
        The good rows are measured and held against the checks before they are published.

        Args:
            partition: Which batch.
            good: The good rows as they were staged, or a function that reads them.
            note: Why; it is kept in the history.
            who: Who says so; the name that you are logged in with if it is left out.
            number: Which revision of the partition; it may be left out if there is one.
        """
        return self.rulings.split(partition, good, note, who, number)

    # --- muted columns

    def mute(self, column: str, *, until: date | datetime | str, note: str = "", who: str = "") -> Mute:
        """Let learned expectations of a column hold no batch until a time. Checks and pins of it apply.

        Args:
            column: The label of the column, in which `*` stands for any characters.
            until: When the mute ends: a day, which stands for its start, or a time; in UTC if it has no time zone.
            note: Why; it is kept in the history.
            who: Who says so; the name that you are logged in with if it is left out.
        """
        return self.mutes.mute(column, until, note, who)

    def unmute(self, column: str, *, note: str = "", who: str = "") -> Mute:
        """End a mute before its time."""
        return self.mutes.unmute(column, note, who)

    # --- looking back

    def explain(self, partition: str, number: int | None = None) -> BatchVerdict:
        """The verdict on a recorded run, from the history alone."""
        revision = self.history.find(partition, number)
        return self.finisher.make_verdict(self.store.run(revision), revision, revision.decision)

    def read_verdict(self, revision: Revision) -> BatchVerdict:
        """The verdict on a recorded run without its states: what a list of many runs needs."""
        run = self.store.run(revision, states=False)
        owner, secret = self.settings.owner, self.store.secret
        return BatchVerdict(run, revision, decision=revision.decision, owner=owner, secret=secret)

    def backtest(
        self,
        *,
        budgets: Iterable[float] = BUDGETS,
        spots: int = INJECTED_BATCHES,
        progress: Callable[[Progress], None] | None = None,
    ) -> Backtest:
        """What would have been held in the past, and what would have been missed, from the recorded states alone.

        Args:
            budgets: The budgets to try.
            spots: Into about so many good batches issues are injected; 0 for none.
            progress: A function that is called with a `Progress` after each batch.
        """
        return backtest(self.store, self.dataset, self.settings, budgets=budgets, spots=spots, progress=progress)

    def replay(self, partition: str, number: int | None = None) -> Verdict:
        """The learned part of a recorded verdict reached once more, from the history as it was known then."""
        run = self.store.run(self.history.find(partition, number))
        mutes = () if run.account is None else run.account.mutes
        return self.rejudge(run, self.history.learn(partition, run.basis, mutes=mutes))

    def rejudge(self, run: Run, learned: Learned) -> Verdict:
        """The learned part of the verdict on a recorded run: from its states alone, no data is read."""
        return learned.judge(learned.extend_outcomes(run.schema, run.outcomes, run.states), run.schema)
