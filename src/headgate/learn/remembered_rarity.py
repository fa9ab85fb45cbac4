"""Remember how rare the good batches of a table were, from run to run.

Tested by `tests/learn/test_rarity_limit.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from headgate.learn.rarity_limit import BatchRates, find_step
from headgate.values.rarity_memory import BatchRarity, Part, RarityMemory
from headgate.values.run import Run

FADES_AFTER = 400.0
"""Runs that are remembered; beyond, each new run makes the others count a little less."""
EDGE_FACTOR, EDGE_STEP = 1.1, 0.5
"""A batch that was held and accepted counts as this many times the limit at most, and a step: it raises the limit by
little, however far it is beyond."""
MOST_SURPRISES = 40
"""Surprises of a metric that are remembered, the newest."""


def limit_rarity(batch: BatchRarity, limits: Mapping[Part, float], *, is_held: bool = True) -> BatchRarity:
    """The rarity of a batch as it is remembered if it is accepted.

    One beyond a limit counts as one at its edge, and its surprises are not remembered: those of a batch that a person
    accepted are known (`surprises.py`), and a batch that was accepted by mistake does not blind the gate.

    Args:
        batch: How rare it is.
        limits: How rare its parts may be.
        is_held: Whether a batch beyond a limit is held. One that is like an accepted batch is not.
    """
    if not any(batch.parts.get(part, 0.0) > limit for part, limit in limits.items()):
        return batch
    edges = {part: EDGE_FACTOR * limit + EDGE_STEP for part, limit in limits.items()}
    parts = {part: min(rarity, edges.get(part, math.inf)) for part, rarity in batch.parts.items()}
    return BatchRarity(parts, is_alarm=is_held)


def remember_batch(memory: RarityMemory, batch: BatchRarity, rates: BatchRates) -> RarityMemory:
    """The memory after a good batch.

    Args:
        memory: The memory before it.
        batch: How rare it was.
        rates: What other tables tell of columns: the level that rarities are compared with.
    """
    fade = min(1.0, (FADES_AFTER - 1.0) / memory.runs) if memory.runs else 1.0
    runs, number = fade * memory.runs, memory.number + 1
    batches = {
        part: {key: round(fade * count, 6) for key, count in counts.items()} for part, counts in memory.batches.items()
    }
    for part, rarity in batch.parts.items():
        scale = rates.find_scale(memory) if part is Part.COLUMNS else 1.0
        step, counts = str(find_step(rarity / scale)), batches.setdefault(part, {})
        counts[step] = counts.get(step, 0.0) + 1.0
    recent = {
        metric: tuple(each for each in surprises if each[1] > number - FADES_AFTER)
        for metric, surprises in memory.surprises.items()
    }
    known = {metric: surprises for metric, surprises in recent.items() if surprises}
    for metric, surprise in batch.surprises.items():
        known[metric] = (*known.get(metric, ()), (surprise, number))[-MOST_SURPRISES:]
    level = (runs * memory.level + batch.parts.get(Part.COLUMNS, 0.0)) / (runs + 1.0)
    alarms = fade * memory.alarms + batch.is_alarm
    return RarityMemory(round(runs + 1.0, 6), number, round(alarms, 6), round(level, 6), batches, known)


def gather_memory(runs: Sequence[Run], rates: BatchRates) -> RarityMemory | None:
    """The memory after accepted runs, oldest first; None if none of them has one.

    It is that of the newest run that knows of no batch that was rejected or replaced since, with all later runs, and
    with those that were accepted only after it was judged.
    """
    place = next((at for at in range(len(runs) - 1, -1, -1) if _has_memory(runs, at)), None)
    account = None if place is None else runs[place].account
    if place is None or account is None:
        return None
    known, memory = account.reference_attempts, account.rarities
    for run in (*runs[_find_first(runs[:place], known) : place], *runs[place:]):
        if not _is_known(run, known) and run.account is not None and run.account.rarity is not None:
            memory = remember_batch(memory, run.account.rarity, rates)
    return memory


def _has_memory(runs: Sequence[Run], place: int) -> bool:
    """Whether a run has a memory in which no run is that is gone from those before it."""
    account = runs[place].account
    if account is None or account.rarity is None:
        return False
    known = account.reference_attempts
    here = [any(run.attempt.startswith(attempt) for run in runs[:place]) for attempt in known]
    return all(here[here.index(True) :]) if any(here) else True


def _find_first(runs: Sequence[Run], attempts: Sequence[str]) -> int:
    """The index of the first run that is among the attempts."""
    return next((index for index, run in enumerate(runs) if _is_known(run, attempts)), len(runs))


def _is_known(run: Run, attempts: Sequence[str]) -> bool:
    return bool(attempts) and run.attempt.startswith(tuple(attempts))
