"""Judges the windows of a stream beside the micro-batches, in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition, Thread

from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.integrations.streaming.window_states import WindowStates
from headgate.learn.learned import Learned
from headgate.values.errors import HeadgateError

_PATIENCE = 600.0  # seconds for which windows may wait for a store that does not answer


class WindowJudge:
    """Judges windows when they are complete, in the order of their time, and learns for the next.

    A window that could not be judged is tried again after the next micro-batch, since its states are kept.

    Args:
        gate: Judges a window as a batch.
        states: What was measured.
        delay: For how many seconds of event time a window waits for rows that come late.
        tell: Called with each verdict.
    """

    def __init__(
        self, gate: Gate, states: WindowStates, delay: int, tell: Callable[[BatchVerdict], None] = lambda _: None
    ) -> None:
        self.gate, self.states, self.delay = gate, states, delay
        self._tell = tell
        self.learned: Learned = gate.learned()
        self._changed = Condition()
        self._asked = self._done = 0
        self._failing_since: float | None = None
        self._error: BaseException | None = None
        self._thread: Thread | None = None

    @property
    def watermark(self) -> float | None:
        """The moment before which windows are complete."""
        latest = self.states.latest
        return None if latest is None else latest - self.delay

    def wake(self) -> None:
        """Judge what is complete, soon."""
        with self._changed:
            self._asked += 1
            if self._thread is None:
                self._thread = Thread(target=self._run, name="headgate-windows", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self) -> None:
        """Return when all that is complete now was judged; raise what kept it from being so."""
        self.wake()
        with self._changed:
            wanted = self._asked
            self._changed.wait_for(lambda: self._done >= wanted)
            if self._error is not None:
                raise self._error

    @property
    def trouble(self) -> str:
        """Why windows wait, in words; empty if they do not."""
        return "" if self._error is None else str(self._error)

    def raise_trouble(self) -> None:
        """Raise if windows wait for long because they cannot be judged."""
        with self._changed:
            since, error = self._failing_since, self._error
        if error is not None and (not isinstance(error, HeadgateError) or time.monotonic() - (since or 0) > _PATIENCE):
            raise error

    def judge_due(self) -> list[BatchVerdict]:
        """Judge all windows that are complete."""
        watermark = self.watermark
        verdicts = []
        for start in [] if watermark is None else self.states.find_due(watermark):
            window = self.states.merge(start)
            verdict = self.gate.judge(
                window.measurements.finish(), self.states.size.name(start), fingerprint=self.states.identify(window)
            )
            self.states.put_window(window, failed=not verdict.passed)
            self._tell(verdict)
            verdicts.append(verdict)
        if verdicts:
            self.learned = self.gate.learned()
        return verdicts

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked > self._done)
                asked = self._asked
            error: BaseException | None = None
            try:
                self.judge_due()
            except BaseException as raised:  # told at the next micro-batch, or when somebody waits
                error = raised
            with self._changed:
                self._error = error
                self._failing_since = None if error is None else self._failing_since or time.monotonic()
                self._done = asked
                self._changed.notify_all()
