"""Headgate and one other system in turn, each in its warm process: the rounds of one cell."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers.peer_process import PeerFailed, PeerProcess
from benchmarks.timing import CACHE

SCRATCH = CACHE / "peers" / "scratch"
PREPARE_FACTOR = 3  # what is prepared may be a scan of its own and more
Result = dict[str, Any]
FIGURES = ("wall", "cpu", "cpu_after")


@dataclass(frozen=True)
class Plan:
    """How often and how long. The first warm-up round is the cold figure: the first of its kind in its JVM.

    A pair whose rounds take minutes has fewer of them: after `warm_seconds` no warm-up round begins, and after
    `seconds` no other round but the first.
    """

    warm: int = 6
    rounds: int = 5
    limit: float = 600.0
    warm_seconds: float = 300.0
    seconds: float = 900.0

    def is_warm_up(self, at: int, spent: float) -> bool:
        """Whether the round with this number, which begins after so many seconds, is not measured."""
        return at == 0 or (at < self.warm and spent < self.warm_seconds)

    def is_complete(self, measured: int, spent: float) -> bool:
        return measured >= self.rounds or (measured > 0 and spent >= self.seconds)


@dataclass
class Runner:
    """One system in one cell: its process and what was measured of it so far."""

    name: str
    process: PeerProcess
    cold: Result = field(default_factory=dict)
    rounds: list[Result] = field(default_factory=list)
    answers: Result = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    kind: str = ""  # "cannot" or "error", where it has ended

    def prepare(self, request: Result, limit: float) -> None:
        self.versions = self._ask(lambda: self.process.ask({"do": "hello"}, limit)).get("versions", {})
        if not self.ended:
            self._ask(lambda: self.process.ask(request, limit * PREPARE_FACTOR))

    def run(self, at: int, limit: float, is_warm_up: bool) -> None:
        measured = self._ask(lambda: self.process.measure({"do": "run", "round": at}, limit))
        if self.ended:
            return
        counted = self._ask(lambda: self.process.ask({"do": "count"}, limit))
        figures = {key: measured.pop(key) for key in (*FIGURES, "memory")} | counted
        self.answers = {key: value for key, value in measured.items() if key != "waited"}
        if at == 0:
            self.cold = figures
        elif not is_warm_up:
            self.rounds.append(figures)

    def _ask(self, question: Callable[[], Result]) -> Result:
        try:
            answer = question()
        except PeerFailed as error:
            answer = {"error": str(error)}
        for kind in ("cannot", "error"):
            if kind in answer:
                self.kind, self.ended = kind, answer[kind]
        return answer

    def to_dict(self) -> Result:
        told: Result = {"versions": self.versions}
        if self.ended:
            told[self.kind] = self.ended
        if self.cold:
            told |= {"cold": self.cold, "rounds": self.rounds, **self.answers}
        return told


def measure_pair(
    commands: Mapping[str, Callable[[Path], PeerProcess]], request: Result, plan: Plan
) -> dict[str, Result]:
    """All systems of `commands` in turn, round after round, each round beginning with another one."""
    with ExitStack() as stack:
        runners = []
        for name, start in commands.items():
            folder = SCRATCH / name
            shutil.rmtree(folder, ignore_errors=True)
            runner = Runner(name, stack.enter_context(start(folder)))
            runner.prepare(request, plan.limit)
            runners.append(runner)
        able = [runner for runner in runners if not runner.ended]
        if len(able) < len(runners):  # the figures of one alone compare nothing
            return {runner.name: runner.to_dict() for runner in runners}
        _run_rounds(runners, plan)
        return {runner.name: runner.to_dict() for runner in runners}


def _run_rounds(runners: Sequence[Runner], plan: Plan) -> None:
    begin, at = time.monotonic(), 0
    while not plan.is_complete(len(runners[0].rounds), time.monotonic() - begin):
        is_warm_up = plan.is_warm_up(at, time.monotonic() - begin)
        for turn in range(len(runners)):
            runners[(at + turn) % len(runners)].run(at, plan.limit, is_warm_up)
            if any(runner.ended for runner in runners):
                return
        at += 1
