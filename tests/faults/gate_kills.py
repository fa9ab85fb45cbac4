"""F1 through the gate: kill -9 at every named step of gate, store and folders, and at random moments; then rerun."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from headgate.values.run import Decision
from tests.faults.backends import Backend, unique
from tests.faults.gate_checks import World
from tests.faults.gate_clean import Clean
from tests.faults.gate_work import Batch, Lake, Task, Told, driver
from tests.faults.table import Row
from tests.faults.work import Doom, heard, started

_MOST = 12  # kills of one history
_LATEST = 4  # times that a step is passed at most before the kill
_MOMENTS = 0.15  # the share of kills at a random moment

_FATES: tuple[tuple[tuple[str, Decision | None], ...], ...] = (
    (("", None),),
    (("", Decision.REJECTED),),
    (("", None), ("", None)),
    (("", None), ("nulls", None)),
    (("nulls", None), ("", None)),
    (("nulls", Decision.ACCEPTED),),
    (("nulls", Decision.RELEASED), ("", None)),
    (("gone", None),),
    (("gone", Decision.REJECTED), ("", None)),
    (("gone", Decision.DISCARDED),),
    (("unread", None), ("", None)),
    (("unread", Decision.DISCARDED),),
    (("unread", Decision.RELEASED),),
)
"""What may befall a partition: each input is good or has a flaw, and somebody may have a word about it."""


def story(chance: random.Random, days: int = 6) -> list[Batch]:
    """The batches of some days in the order in which they come; the first is good, so that there is something to learn
    from."""
    fates, seeds = [_FATES[0], *(chance.choice(_FATES) for _ in range(days - 1))], count(1)
    return [
        Batch(f"2026/11/{day:02}", next(seeds), flaw, chance.random() < 0.5, word)
        for day, fate in enumerate(fates, 1)
        for flaw, word in fate
    ]


@dataclass
class _History:
    """One story on one backend, and what was heard of it so far."""

    world: World
    batches: list[Batch]
    clean: Clean
    told: list[Told] = field(default_factory=list)
    staged: set[Batch] = field(default_factory=set)

    @classmethod
    def begun(cls, backend: Backend, folder: Path, chance: random.Random) -> _History:
        batches, manifest = story(chance), chance.random() < 0.5
        clean, name = Clean.of(batches, manifest=manifest), unique("orders")
        lake = Lake(backend.url(), name, folder / name.replace(" ", "-"), manifest, backend.environment)
        assert clean.passed == {batch.text for batch in batches if not batch.flaw}, "a flaw was not noticed"
        return cls(World(lake, clean.prints), batches, clean)

    def left(self, chance: random.Random) -> list[Task]:
        """What was not heard of is done again; the job stages again, unless it knows that it has."""
        said = {(each.batch, each.kind): each.number for each in self.told}
        found = []
        for batch in self.batches:
            number = said.get((batch, "verdict"), 0)
            if not number or (batch.word is not None and (batch, "word") not in said):
                # A second try of what could not be read is another run, which needs a batch of its own.
                known = batch in self.staged and batch.flaw != "unread"
                found.append(Task(batch, number, known and chance.random() < 0.5))
        return found

    def look(self, row: Row, chance: random.Random) -> None:
        busy = [task.batch.partition for task in self.left(chance)[:1]]
        before = {each.batch.partition for each in self.told if each.action == "publish"}
        self.world.look(row, self.told, busy)
        if self.world.lake.manifest:
            row.lost += len(before - self.world.lake.seen().keys())  # what was published stays so, replaced or not


def killed(backend: Backend, folder: Path, kills: int, seed: int) -> Row:
    """So many kills, spread over new histories, each of which is worked on until all its work is done."""
    row, begun = Row("F1 kill -9 of the gate", backend.name), time.monotonic()
    chance = random.Random(f"gate {seed} {backend.name}")
    steps = _steps_of_store(backend, folder, chance)
    while row.kills < kills:
        _one_history(_History.begun(backend, folder, chance), row, steps, chance, min(_MOST, kills - row.kills))
        row.trials += 1
    row.seconds = time.monotonic() - begun
    row.notes = f"{row.kills / row.seconds:.1f} kills/s; {row.trials} histories converged"
    return row


def _one_history(history: _History, row: Row, steps: Counter[str], chance: random.Random, most: int) -> None:
    for at in range(most + 1):
        fate = _fate(history, row.points, steps, chance) if at < most else None
        finished = _one_driver(history, fate, chance)
        if not finished:
            row.kills += 1
            row.points[fate.step if isinstance(fate, Doom) else "at a random moment"] += 1
        history.look(row, chance)
        if finished:
            break
    assert finished, "a rerun does not converge"
    history.clean.assert_same(history.world.lake)


def _fate(history: _History, points: Counter[str], steps: Counter[str], chance: random.Random) -> Doom | float:
    """Of the steps that come next, one that was hit least so far; now and then a moment instead."""
    if chance.random() < _MOMENTS:
        return chance.uniform(0, 0.4)
    (task, *_) = history.left(chance)
    near = history.clean.steps[task.batch.text] + steps
    least = min(points[name] for name in near)
    name = chance.choice(sorted(each for each in near if points[each] == least))
    return Doom(name, chance.randint(1, min(_LATEST, near[name])))


def _one_driver(history: _History, fate: Doom | float | None, chance: random.Random) -> bool:
    doom, finished = fate if isinstance(fate, Doom) else None, False
    with started(driver, history.world.lake, history.left(chance), doom) as (process, pipe):
        for said in heard(pipe):
            if said == "begun" and isinstance(fate, float):
                time.sleep(fate)
                with suppress(ProcessLookupError):  # it may have finished
                    os.kill(process.pid, signal.SIGKILL)
            elif isinstance(said, Told):
                history.told.append(said)
            elif isinstance(said, Batch):
                history.staged.add(said)
            elif isinstance(said, Counter):
                finished = True
        process.join()
        assert finished or process.exitcode == -signal.SIGKILL, f"a driver failed with {process.exitcode}"
    return finished


def _steps_of_store(backend: Backend, folder: Path, chance: random.Random) -> Counter[str]:
    """The steps of the store that a driver takes when nobody kills it."""
    seen: Counter[str] = Counter()
    history = _History.begun(backend, folder, chance)
    with started(driver, history.world.lake, history.left(chance), None) as (_, pipe):
        for said in heard(pipe):
            seen += said if isinstance(said, Counter) else Counter()
    assert seen["gate.delivered"], "a driver that nobody kills must finish"
    return Counter({name: times for name, times in seen.items() if not name.startswith(("gate.", "folders."))})
