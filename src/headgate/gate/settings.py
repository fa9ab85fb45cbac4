"""How a gate is set: who may propose, of which columns, what may be spent, and what is done with a bad batch."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from headgate.checks.check import Check
from headgate.learn.drift import HOLD_FACTOR
from headgate.learn.evidence import NO_EVIDENCE, Evidence, name_table
from headgate.learn.history.program import Clause
from headgate.learn.learned import Learner
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.values.account import Action, Mode
from headgate.values.day_lists import NO_LISTS, DayLists
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.expectation import Status

E = TypeVar("E", bound=StrEnum)

FALSE_ALARMS = 0.01
RUNS = 30


class Settings(msgspec.Struct, frozen=True):
    """What a verdict depends on besides the data and the history."""

    false_alarms: float = FALSE_ALARMS
    learners: tuple[Learner, ...] = tuple(Learner)
    mode: Mode = Mode.GUARD
    runs: int = RUNS
    owner: str = ""
    scope: LearningScope = WHOLE_TABLE
    pins: tuple[Clause, ...] = ()
    days: DayLists = NO_LISTS
    drift: float = HOLD_FACTOR
    evidence: Evidence = NO_EVIDENCE
    segments: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        false_alarms: float,
        learn: Iterable[str],
        mode: str,
        runs: int,
        owner: str,
        *,
        scope: LearningScope = WHOLE_TABLE,
        pins: Sequence[Clause] = (),
        days: DayLists = NO_LISTS,
        drift: float = HOLD_FACTOR,
        evidence: Evidence = NO_EVIDENCE,
        segments: Iterable[str] = (),
    ) -> Settings:
        if not 0 <= false_alarms < 1:
            raise MisuseError(
                f"false_alarms is the share of good batches that may be held, not {false_alarms}.",
                hint="Write false_alarms=0.01 for one in a hundred.",
            )
        if runs < 1:
            raise MisuseError(f"a gate cannot learn from {runs} runs.", hint="Write runs=30.")
        if drift != 0 and not (math.isfinite(drift) and drift > 1):
            raise MisuseError(
                f"drift is how many times less or more than long ago a batch may have, not {drift}.",
                hint="Write drift=10, or drift=0 to hold no batch for it.",
            )
        names = [learn] if isinstance(learn, str) else list(learn)
        learners = tuple(_parse_word(each, Learner, "learner") for each in names)
        parsed = _parse_word(mode, Mode, "mode")
        by = (segments,) if isinstance(segments, str) else tuple(dict.fromkeys(segments))
        return cls(false_alarms, learners, parsed, runs, owner, scope, tuple(pins), days, drift, evidence, by)

    def find_rates(self, secret: bytes | None, dataset: str) -> PooledRates:
        """What other tables tell: those of the package, and of the evidence without the dataset itself."""
        return self.evidence.apply_to(load_pooled_rates(), without=name_table(secret, dataset))

    def action(self, status: Status) -> Action:
        """What is done with a batch that was judged so. Only a pass is published; error, skip and fail are not."""
        return Action.PUBLISH if status is Status.PASS or self.mode is Mode.OBSERVE else Action.HOLD

    def suite(self, checks: Sequence[Check]) -> str:
        """Tells one set of checks and settings from another. Settings that are left out do not change it."""
        parts = [str(self.false_alarms), self.mode.value, str(self.runs), *self.learners, *map(str, checks)]
        if self.scope != WHOLE_TABLE:
            parts.append(f"scope {msgspec.json.encode(self.scope).decode()}")
        parts += [f"pin {each.expectation}" for each in self.pins]
        parts += [f"calendar {self.days}"] if self.days else []
        parts += [f"drift {self.drift}"] if self.drift != HOLD_FACTOR else []
        parts += [f"evidence {self.evidence.digest}"] if self.evidence.tables else []
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def ignore_columns(self, labels: Iterable[str]) -> Settings:
        """The settings of a gate that ignores these columns too."""
        return msgspec.structs.replace(self, scope=self.scope.with_ignored(labels))

    def describe_scope(self) -> str:
        """What is ignored, learned from and pinned, in words; empty if nothing of that is set."""
        pinned = ", ".join(str(each.expectation) for each in self.pins)
        return "; ".join(filter(None, [self.scope.describe(), f"pinned: {pinned}" if pinned else ""]))


def _parse_word(given: str, words: type[E], what: str) -> E:
    try:
        return words(given)
    except ValueError:
        known = [each.value for each in words]
        raise MisuseError(f"no {what} is named {given!r};", hint=did_you_mean(str(given), known)) from None
