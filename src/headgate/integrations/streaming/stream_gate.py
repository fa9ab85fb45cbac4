"""The gate of a stream: `df.writeStream.foreachBatch(hg.StreamGate(...))`."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from headgate.gate.batch_judge import list_metrics
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.gate.notification import Notification, NotificationCause
from headgate.gate.publish.folders import Folders
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.integrations.streaming.micro_batch import (
    MeasuredMicroBatch,
    MicroBatch,
    MicroBatchPlan,
    read_micro_schema,
)
from headgate.integrations.streaming.sinks import StreamSink, open_sink
from headgate.integrations.streaming.state_folder import StateFolder
from headgate.integrations.streaming.stream_progress import StreamProgress
from headgate.integrations.streaming.window_judge import WindowJudge
from headgate.integrations.streaming.window_states import MicroBatchStates, WindowStates
from headgate.integrations.streaming.windows import WindowSize, parse_seconds
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, StreamStopped
from headgate.values.expectation import Status
from headgate.values.run import Decision

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OnFailure: TypeAlias = Literal["quarantine_rows", "quarantine_batch", "stop", "flag"]


class StreamGate:
    """Checks every micro-batch before it is written, and judges windows of event time as batches.

    Pass it to `foreachBatch`. Rows that break a check by themselves are found in each micro-batch; everything else that
    checks and the history expect is judged of each window, once no more of its rows are awaited. A window is a
    partition of the dataset, so that its verdict, its report and what people decide about it are those of a batch.

    Each micro-batch is written once, also if the query is killed and started again from its checkpoint.

    Args:
        gate: The gate that judges windows, or a function that makes it: with Spark Connect `foreachBatch` runs on the
            server, so the gate has to be made there.
        time: The column of the event time: a timestamp or a date.
        window: The length of the windows: `"5 minutes"`.
        state: A folder for what was measured of open windows. It belongs to the checkpoint of the query; a good place
            is `headgate` under it. It has values of the data, as the rows have.
        sink: Where rows are written: `hg.Delta(...)`, `hg.Iceberg(...)` or `hg.Folders(...)`.
        delay: How much event time a window waits for rows that come late, after it ends.
        late: For how much event time after its end rows are still added to a window that was judged, which is then
            judged again, as a new revision.
        on_failure: What is done with rows that break a check: `quarantine_rows` keeps them and writes the others;
            `quarantine_batch` keeps the whole micro-batch; `stop` ends the query before it is written, and after a
            window that failed; `flag` writes them and says so.
        ahead: How far after the clock's time an event time may be. A row with a later one breaks a rule, since it
            would close all windows before it.
        tables: Other tables that checks name, by name.
    """

    def __init__(
        self,
        gate: Gate | Callable[[], Gate],
        *,
        time: str,
        window: str | timedelta,
        state: str,
        sink: Folders | Delta | Iceberg | StreamSink,
        delay: str | timedelta = "10 minutes",
        late: str | timedelta = "1 day",
        on_failure: OnFailure = "quarantine_rows",
        ahead: str | timedelta = "1 hour",
        tables: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if on_failure not in get_args(OnFailure):
            raise MisuseError(f"on_failure={on_failure!r} is no choice.", hint=f"Use {', '.join(get_args(OnFailure))}.")
        self._given = gate
        self.time, self.on_failure, self.tables = time, on_failure, dict(tables)
        self._size, self._folder = WindowSize.parse(window), StateFolder(state)
        self._delay, self._late = parse_seconds(delay, "delay"), parse_seconds(late, "late")
        self._ahead = parse_seconds(ahead, "ahead")
        self._target = sink
        self._progress: dict[str, Any] = {"micro_batches": 0, "rows": 0, "quarantined": 0, "too_late": 0, "windows": 0}
        self._is_started = self._was_failing = False
        self._stopped: StreamStopped | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What Spark Connect sends to its server: settings, and neither connections nor threads."""
        if isinstance(self._given, Gate):
            raise MisuseError(
                "with Spark Connect the gate is made on the server.",
                hint="Pass a function that makes it: hg.StreamGate(lambda: hg.Gate(...), ...).",
            )
        made = {"gate", "states", "judge", "sink"}
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @cached_property
    def gate(self) -> Gate:
        """The gate that judges windows. It observes, since rows of a window are written before it is complete."""
        given = self._given if isinstance(self._given, Gate) else self._given()
        if given.publisher is not None:
            raise MisuseError(
                "the gate of a stream has a publisher.", hint="Rows of a stream are written to sink=; leave it out."
            )
        return given.observe()

    @cached_property
    def states(self) -> WindowStates:
        """What was measured of the micro-batches."""
        return WindowStates(self._folder, self._size, self._late)

    @cached_property
    def judge(self) -> WindowJudge:
        """Judges windows beside the micro-batches."""
        return WindowJudge(self.gate, self.states, self._delay, self._hear_verdict)

    @cached_property
    def sink(self) -> StreamSink:
        return open_sink(self._target)

    # --- micro-batches

    def __call__(self, df: DataFrame, number: int) -> None:
        """Check and write one micro-batch. `foreachBatch` calls this."""
        began = clock.perf_counter()
        self._require_going_on()
        if not self._has_written(number):
            self._write(df, number, began)
        self.judge.wake()

    def _require_going_on(self) -> None:
        """Raise if the query has to stop: a window failed and nobody has decided, or windows cannot be judged."""
        if not self._is_started and self.on_failure == "stop":
            for start in self.states.failed_windows:
                self._stop_if_undecided(self._size.name(start))
        if self._stopped is not None:
            raise self._stopped
        self.judge.raise_trouble()

    def _has_written(self, number: int) -> bool:
        """Whether a query that was killed has written this micro-batch. It can be the first one after a start only."""
        if self._is_started:
            return False
        last = self.states.last_number
        if number < last:
            raise MisuseError(
                f"micro-batch {number} comes after micro-batch {last} in {self._folder.place}.",
                hint="The query has another checkpoint. Give it a folder of its own: state=...",
            )
        self._is_started = True
        return number == last and self.sink.find_appended(self.states.id) >= number

    def _write(self, df: DataFrame, number: int, began: float) -> None:
        schema = read_micro_schema(df)
        learned = self.judge.learned
        metrics = list_metrics(self.gate.settings, learned, schema)
        limit = clock.time() + self._ahead
        plan = MicroBatchPlan.of(schema, self.time, self._size, self.gate.checks, learned, metrics, limit)
        hides_values = self.gate.store.secret is not None
        batch = MicroBatch(df, plan, self.tables, counts_all=self.on_failure == "flag", hides_values=hides_values)
        with batch.kept():
            planned = clock.perf_counter()
            measured = batch.measure()
            scanned = clock.perf_counter()
            reasons = (*plan.broken, *measured.failures)
            self._stop_if_broken(number, reasons, measured)
            is_kept_whole = self._is_kept_whole(plan, measured)
            states = self._make_states(number, measured, is_kept_whole)
            self.states.write_batch(states)
            fault_point("stream.measured")
            write_began = clock.perf_counter()
            self._write_rows(batch, measured, number, is_kept_whole)
            written = clock.perf_counter()
            fault_point("stream.written")
        self.states.add_batch(states)
        self._tell_failure(number, measured, reasons, is_kept_whole)
        total = clock.perf_counter() - began
        self._count(states, measured, scanned - planned, written - write_began, total)

    def _is_kept_whole(self, plan: MicroBatchPlan, measured: MeasuredMicroBatch) -> bool:
        """Whether the whole micro-batch goes to quarantine."""
        if self.on_failure not in ("quarantine_rows", "quarantine_batch"):
            return False
        return bool(plan.broken) or (self.on_failure == "quarantine_batch" and measured.bad_rows > 0)

    def _make_states(self, number: int, measured: MeasuredMicroBatch, is_kept_whole: bool) -> MicroBatchStates:
        """What the micro-batch adds to its windows: nothing if none of its rows is written."""
        windows = {
            start: each.to_bytes()
            for start, each in measured.windows.items()
            if not is_kept_whole and not self.states.is_too_late(start)
        }
        quarantined = measured.rows if is_kept_whole else 0 if self.on_failure == "flag" else measured.bad_rows
        return MicroBatchStates(number, windows, measured.latest, measured.rows, quarantined)

    def _write_rows(self, batch: MicroBatch, measured: MeasuredMicroBatch, number: int, is_kept_whole: bool) -> None:
        """Write rows to the sink; those for the quarantine first, so that after a kill none is in neither place."""
        stream = self.states.id
        if is_kept_whole:
            self.sink.quarantine_rows(batch.all_with_reasons, stream, number)
            return
        if self.on_failure == "flag" or not measured.bad_rows:
            self.sink.append(batch.all_rows, stream, number)
            return
        self.sink.quarantine_rows(batch.bad, stream, number)
        fault_point("stream.quarantined")
        self.sink.append(batch.good, stream, number)

    # --- failures

    def _stop_if_broken(self, number: int, reasons: tuple[str, ...], measured: MeasuredMicroBatch) -> None:
        if self.on_failure == "stop" and reasons:
            self._notify(number, f"none of its {measured.rows:,} rows was written, and the query was stopped", reasons)
            raise StreamStopped(
                f"{self.gate.dataset} micro-batch {number} was not written: {'; '.join(reasons)}.",
                hint="Mend the producer or the checks, or start the query with on_failure='quarantine_rows'.",
            )

    def _stop_if_undecided(self, window: str) -> None:
        """Keep the query stopped after a window that failed, until a person has decided about it."""
        decisions = [each.decision for each in self.gate.store.revisions(self.gate.dataset, window)]
        if decisions and decisions[-1] is Decision.OBSERVED:
            self._stopped = StreamStopped(
                f"{self.gate.dataset} {window} failed, so the query was stopped after it.",
                hint=f'Look: gate.explain("{window}"). Then gate.accept("{window}") or gate.reject("{window}"), and '
                "start the query again.",
            )

    def _hear_verdict(self, verdict: BatchVerdict) -> None:
        self._progress["windows"] += 1
        if self.on_failure == "stop" and not verdict.passed:
            self._stop_if_undecided(verdict.partition)

    def _tell_failure(
        self, number: int, measured: MeasuredMicroBatch, reasons: tuple[str, ...], is_kept_whole: bool
    ) -> None:
        """Notify of the first of several micro-batches that fail one after another."""
        is_new, self._was_failing = bool(reasons) and not self._was_failing, bool(reasons)
        if not is_new:
            return
        kept = measured.rows if is_kept_whole else measured.bad_rows
        in_quarantine = f"{kept:,} of {measured.rows:,} rows are in quarantine"
        self._notify(number, "all rows were written" if self.on_failure == "flag" else in_quarantine, reasons)

    def _notify(self, number: int, outcome: str, reasons: tuple[str, ...]) -> None:
        """Tell people of a micro-batch that failed, if the gate tells them anything."""
        if self.gate.notify is None:
            return
        is_held = self.on_failure != "flag"
        notification = Notification(
            dataset=self.gate.dataset,
            partition=f"micro-batch {number}",
            revision=1,
            kind="held" if is_held else "failing",
            status=Status.FAIL,
            action=Decision.HELD if is_held else Decision.PUBLISHED,
            headline=f"{self.gate.dataset} micro-batch {number} failed: {outcome}.",
            at=clock.time(),
            causes=tuple(NotificationCause(each) for each in reasons),
            owner=self.gate.settings.owner,
        )
        try:
            self.gate.notify(notification)
        except Exception as error:  # the rows go where they belong, whether or not somebody hears of it
            self._progress["alert_error"] = f"{type(error).__name__}: {error}"

    # --- progress

    def _count(
        self, states: MicroBatchStates, measured: MeasuredMicroBatch, measuring: float, writing: float, total: float
    ) -> None:
        late = [start for start in measured.windows if start not in states.windows]
        self._progress["micro_batches"] += 1
        self._progress["rows"] += measured.rows
        self._progress["quarantined"] += states.quarantined
        if states.quarantined < measured.rows:
            self._progress["too_late"] += sum(measured.count_rows(start) for start in late)
        self._progress |= {
            "measure_seconds": measuring,
            "write_seconds": writing,
            "other_seconds": total - measuring - writing,
        }

    @property
    def progress(self) -> StreamProgress:
        """What was done since the start, and what waits."""
        return StreamProgress(
            dataset=self.gate.dataset,
            last_micro_batch=self.states.last_number,
            failed_windows=tuple(map(self._size.name, self.states.failed_windows)),
            open_windows=tuple(map(self._size.name, self.states.open_windows)),
            watermark=self.judge.watermark,
            error=self.judge.trouble,
            **self._progress,
        )

    def find_overdue(self, now: float | None = None) -> tuple[str, ...]:
        """The windows that have rows and should be complete by the clock, but are not: no later rows came.

        Args:
            now: The time in seconds since 1970; the clock's time if it is left out.
        """
        moment = clock.time() if now is None else now
        starts = self.states.open_windows
        return tuple(self._size.name(each) for each in starts if self._size.find_end(each) + self._delay <= moment)

    def finish(self) -> StreamProgress:
        """Wait until all windows that are complete were judged, as after a query with an available-now trigger."""
        self.judge.wait()
        return self.progress
