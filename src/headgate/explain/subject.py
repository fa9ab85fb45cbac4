"""What this room needs to know of a judged batch; the gate's verdict is one.

Tested by `tests/gate/test_batch_verdict.py`.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from headgate.explain.cause import Cause
from headgate.values.account import Account, Action
from headgate.values.expectation import Judgement, Status
from headgate.values.run import Decision, Revision


class RecentRuns(msgspec.Struct, frozen=True):
    """How the dataset fared before this batch: of the last runs how many were held, and how the newest was judged."""

    runs: int = 0
    held: int = 0
    previous: Status | None = None


class Subject(Protocol):
    """A judged batch: what it is, how it was judged, what is done with it, and why."""

    @property
    def dataset(self) -> str: ...
    @property
    def partition(self) -> str: ...
    @property
    def revision(self) -> Revision: ...
    @property
    def status(self) -> Status: ...
    @property
    def passed(self) -> bool: ...
    @property
    def action(self) -> Action: ...
    @property
    def decision(self) -> Decision | None: ...
    @property
    def judgements(self) -> tuple[Judgement, ...]: ...
    @property
    def failures(self) -> tuple[Judgement, ...]: ...
    @property
    def causes(self) -> tuple[Cause, ...]: ...
    @property
    def warnings(self) -> tuple[Cause, ...]: ...
    @property
    def changes(self) -> tuple[str, ...]: ...
    @property
    def account(self) -> Account: ...
    @property
    def recent(self) -> RecentRuns: ...
    @property
    def owner(self) -> str: ...
    @property
    def hides_values(self) -> bool: ...
    @property
    def repairs(self) -> tuple[str, ...]: ...
    def count_failing_rows(self, judgement: Judgement) -> str: ...
