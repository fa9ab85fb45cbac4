"""Columns of a dataset that people mute: until a time, what was learned of them holds no batch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, datetime

from headgate.gate.history import DatasetHistory
from headgate.learn.scope import LearningScope
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.login import find_login_name
from headgate.values.mute import Mute, find_active, refuse_mute, to_seconds


class ColumnMutes:
    """Records which columns of one dataset are muted, and finds those that are muted now."""

    def __init__(self, history: DatasetHistory) -> None:
        self._history = history

    def find_active(self, now: datetime | None = None, as_of: int | None = None) -> tuple[Mute, ...]:
        """The mutes that hold at a time, by the clock if none is given, as the history was after a commit."""
        moment = time.time() if now is None else to_seconds(now)
        return find_active(self._history.store.mutes(self._history.dataset, as_of=as_of), moment)

    def mute(self, column: str, until: date | datetime | str, note: str, who: str) -> Mute:
        """Record that a column is muted."""
        end = to_seconds(until)
        if end <= time.time():
            raise MisuseError(f"{until} is past.", hint="Name a time to come: a mute ends by itself.")
        self._require_column(column)
        return self._record(column, end, note, who)

    def unmute(self, column: str, note: str, who: str) -> Mute:
        """Record that a column is no longer muted."""
        active = [each.column for each in self.find_active()]
        if column not in active:
            raise MisuseError(f"{column} is not muted;", hint=did_you_mean(column, active))
        return self._record(column, None, note, who)

    def _record(self, column: str, until: float | None, note: str, who: str) -> Mute:
        history = self._history
        return history.store.mute(history.dataset, column, until, who=who or find_login_name(), note=note)

    def _require_column(self, column: str) -> None:
        """Raise unless a recent run has the column: a misspelled mute would do nothing."""
        known: dict[str, None] = {}
        for labels in self._recent_labels():
            if any(map(LearningScope(columns=(column,)).learns_column, labels)):
                return
            known |= dict.fromkeys(labels)
        if not known:
            raise refuse_mute(self._history.dataset)
        hint = did_you_mean(column, known)
        raise MisuseError(f"no recent run of {self._history.dataset} has a column {column!r};", hint=hint)

    def _recent_labels(self) -> Iterator[tuple[str, ...]]:
        """The labels of recent runs, the newest first: the newest may lack the column that is to be muted."""
        history = self._history
        for revision in reversed(history.store.last(history.dataset, history.settings.runs)):
            yield history.store.run(revision, states=False).schema.labels
