"""A memory that was not kept is that of a replay of the runs."""

from __future__ import annotations

import numpy as np

from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.replayed_memory import replay_memory
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part
from tests.learn.histories import orders, past_of


def test_runs_that_have_enough_before_them_are_remembered() -> None:
    memory = replay_memory(orders(), load_pooled_rates())
    assert memory.runs == len(orders()) - MIN_RUNS
    assert memory.batches.keys() == set(Part)
    assert all(sum(counts.values()) == memory.runs for counts in memory.batches.values())
    assert replay_memory(orders(MIN_RUNS), load_pooled_rates()) == NOTHING_REMEMBERED


def test_a_jump_is_remembered_with_its_surprise() -> None:
    noise = np.random.default_rng(0).normal(size=20)
    series = 100 + noise
    series[15] = 500.0
    memory = replay_memory(past_of({"size()": series.tolist()}), load_pooled_rates())
    assert max(memory.surprises["size()"])[0] > 100
    calm = replay_memory(past_of({"size()": (100 + noise).tolist()}), load_pooled_rates())
    assert max(map(int, memory.batches[Part.ROWS])) > max(map(int, calm.batches[Part.ROWS]))
