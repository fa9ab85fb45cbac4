"""Calls that are killed at a step, and what a new process makes of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.tables.lake import BAD, ROWS, TableLake, name_day
from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FRESH = 40  # kills after which a new table is taken


class Killed(BaseException):
    """The end of a process. Nothing catches it."""


class Scenario:
    """What happens to a day before a call, the call that is killed, and what must be there after it.

    `wanted` is the text that readers see, None for no row; `held` says that the newest revision is held.
    """

    def __init__(
        self, before: tuple[str, ...], call: Callable[[TableLake, str], Any], wanted: str | None, held: bool = False
    ) -> None:
        self.before, self.call, self.wanted, self.held = before, call, wanted, held


SCENARIOS = {
    "publish": Scenario((), lambda lake, day: lake.run_job(day, "good"), "good"),
    "hold": Scenario((), lambda lake, day: lake.run_job(day, BAD), None, held=True),
    "replace": Scenario(("good",), lambda lake, day: lake.run_job(day, "newer"), "newer"),
    "hold a replacement": Scenario(("good",), lambda lake, day: lake.run_job(day, BAD), "good", held=True),
    "repair": Scenario((BAD,), lambda lake, day: lake.run_job(day, "repaired"), "repaired"),
    "release": Scenario((BAD,), lambda lake, day: lake.open_gate().release(day, who="ann"), BAD),
    "discard": Scenario((BAD,), lambda lake, day: lake.open_gate().discard(day, who="ann"), None),
}


def kill_calls(
    spark: SparkSession, form: str, kills: int, seed: int = 1, report: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Kill calls at steps that are drawn by chance. Says how many days were lost, doubled, bad or stuck."""
    chance, steps = random.Random(f"{seed} {form}"), _Steps(spark, form)
    found: Counter[str] = Counter()
    at_steps: Counter[str] = Counter()
    lake, wanted = TableLake(spark, form), dict[str, str]()
    for number in range(kills):
        if number % _FRESH == 0 and number:
            found += _compare(lake, wanted)
            lake, wanted = TableLake(spark, form), {}
        name, day = chance.choice(sorted(SCENARIOS)), name_day(number % _FRESH)
        scenario = SCENARIOS[name]
        for text in scenario.before:
            lake.run_job(day, text)
        step, committed = _run_killed(partial(scenario.call, lake, day), lake, chance.randrange(steps.count(name)))
        at_steps[step] += 1
        lake.open_gate().recover()
        if not committed or chance.random() < 0.5:
            _run_again(scenario, name, lake, day)
        if scenario.wanted is not None:
            wanted[day] = scenario.wanted
        found += _look_at(lake, day, scenario)
        report(f"{form} {number + 1} of {kills}: {name} at {step}; {dict(found)}")
    found += _compare(lake, wanted)
    wrong = {kind: found[kind] for kind in ("lost", "doubled", "bad", "stuck")}
    return {"kills": kills, **wrong, "steps": dict(sorted(at_steps.items()))}


def add_kills(runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sums of several runs of `kill_calls`."""
    counts, steps = Counter[str](), Counter[str]()
    for run in runs:
        counts.update({name: value for name, value in run.items() if name != "steps"})
        steps.update(run["steps"])
    return {**counts, "steps": dict(sorted(steps.items()))}


class _Steps:
    """The number of steps of each call, counted on a table of its own when a call is drawn for the first time."""

    def __init__(self, spark: SparkSession, form: str) -> None:
        self._lake, self._counts = TableLake(spark, form), dict[str, int]()

    def count(self, name: str) -> int:
        if name not in self._counts:
            scenario, day = SCENARIOS[name], name_day(len(self._counts))
            for text in scenario.before:
                self._lake.run_job(day, text)
            passed: list[str] = []
            with watch(passed.append):
                scenario.call(self._lake, day)
            self._counts[name] = len(passed)
        return self._counts[name]


def _run_killed(call: Callable[[], Any], lake: TableLake, at: int) -> tuple[str, bool]:
    """Run a call until a step, and end it there. Says the step, and whether a run or a ruling was committed before."""
    passed: list[str] = []
    head = lake.store.head("orders")

    def kill(step: str) -> None:
        passed.append(step)
        if len(passed) > at:
            raise Killed

    try:
        with watch(kill):
            call()
    except Killed:
        pass
    return passed[min(at, len(passed) - 1)], lake.store.head("orders") > head


def _run_again(scenario: Scenario, name: str, lake: TableLake, day: str) -> None:
    """What a scheduler or a person does after a kill: the same again, if it did not happen."""
    if name in ("release", "discard"):
        decision = lake.store.revisions("orders", day)[-1].decision
        if decision is not None and decision.value != "held":
            return
    scenario.call(lake, day)


def _look_at(lake: TableLake, day: str, scenario: Scenario) -> Counter[str]:
    count, texts = lake.read_shown().get(day, (0, ()))
    publisher, gate = lake.open_publisher(), lake.open_gate()
    left = [each.kind for each in publisher.list_refs()]
    newest = Delivery.of(lake.store.revisions("orders", day)[-1])
    is_lost = scenario.held and publisher.state(newest) != "held"
    return Counter(
        lost=int(is_lost or (scenario.wanted is not None and texts != (scenario.wanted,))),
        doubled=int(count > ROWS or len(texts) > 1),
        bad=int(BAD in texts and scenario.wanted != BAD),
        stuck=int(bool(gate.find_undecided()) or "taken" in left or "staged" in left),
    )


def _compare(lake: TableLake, wanted: dict[str, str]) -> Counter[str]:
    """All days of a table once more: a later call must not have changed an earlier day."""
    shown = lake.read_shown()
    return Counter(
        lost=sum(shown.get(day, (0, ()))[1] != (text,) for day, text in wanted.items()),
        doubled=sum(count != ROWS for count, _ in shown.values()),
        bad=len(shown.keys() - wanted.keys()),
    )
