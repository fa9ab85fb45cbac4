"""The limit of rarity: good batches exceed it as often as the budget says, also of tables unlike the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace

from headgate.learn.rarity_limit import (
    LIMITS,
    MOST_WEIGHT,
    BatchRates,
    count_rarities,
    find_common_level,
    find_limit,
    find_working_budget,
    fit_batch_rates,
)
from headgate.learn.remembered_rarity import (
    EDGE_FACTOR,
    EDGE_STEP,
    FADES_AFTER,
    MOST_SURPRISES,
    gather_memory,
    limit_rarity,
    remember_batch,
)
from headgate.values.account import Account
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory
from headgate.values.run import Run

NO_LEVEL = BatchRates()


def fit(tables: Sequence[Sequence[float] | npt.NDArray[np.float64]], *, is_scaled: bool = False) -> BatchRates:
    rarities = [list(map(float, each)) for each in tables]
    level = find_common_level(rarities) if is_scaled else 0.0
    return fit_batch_rates([count_rarities(each, level) for each in rarities], level)


def rare(rarity: float, **surprises: float) -> BatchRarity:
    return BatchRarity({Part.COLUMNS: rarity}, surprises)


def held(rates: BatchRates, rarities: list[float], budget: float) -> Iterator[bool]:
    """Whether each batch of a table is held; all are accepted."""
    memory = NOTHING_REMEMBERED
    for rarity in rarities:
        limit = find_limit(rates, memory, Part.COLUMNS, budget)
        yield limit is not None and rarity > limit.rarity
        memory = remember_batch(memory, rare(rarity), rates)


@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize(("mean", "most"), [(1.0, 1.05), (2.0, 1.1), (4.0, 1.35)])
def test_a_table_is_held_about_as_often_as_the_budget_says(mean: float, most: float, is_scaled: bool) -> None:
    """One that is wilder than all others is pulled towards them: it is held somewhat more often."""
    rng = np.random.default_rng(0)
    tables = [rng.exponential(each, 200) for each in np.linspace(1.0, 3.0, 12)]
    rates = fit(tables, is_scaled=is_scaled)
    found = list(held(rates, rng.exponential(mean, 3_000).tolist(), 0.05))
    assert np.mean(found[200:]) < most * 0.05
    assert max(rates.weights) <= MOST_WEIGHT


def test_a_quiet_table_soon_has_a_lower_limit_than_others_and_a_wild_one_a_higher() -> None:
    rng = np.random.default_rng(0)
    rates = fit([rng.exponential(each, 200) for each in np.linspace(1.0, 3.0, 12)], is_scaled=True)
    limits = {}
    for mean in (0.5, 6.0):
        memory = NOTHING_REMEMBERED
        for rarity in rng.exponential(mean, 20).tolist():
            memory = remember_batch(memory, rare(rarity), rates)
        limits[mean] = find_limit(rates, memory, Part.COLUMNS, 0.02)
    new = find_limit(rates, NOTHING_REMEMBERED, Part.COLUMNS, 0.02)
    assert limits[0.5] is not None
    assert limits[6.0] is not None
    assert new is not None
    assert limits[0.5].rarity < new.rarity < limits[6.0].rarity


def test_there_is_no_limit_for_a_table_that_exceeds_all_or_without_evidence() -> None:
    memory = RarityMemory(200.0, batches={Part.COLUMNS: {"4000": 200.0}})
    rates = fit([np.ones(100)])
    assert find_limit(rates, memory, Part.COLUMNS, 0.01) is None
    assert find_limit(NO_LEVEL, NOTHING_REMEMBERED, Part.COLUMNS, 0.5) is None
    assert fit_batch_rates([]) == NO_LEVEL


def test_batches_are_counted_by_the_limits_that_they_exceed() -> None:
    rng = np.random.default_rng(1)
    rarities = rng.exponential(3.0, 500)
    counts = count_rarities(rarities.tolist())
    rates = fit_batch_rates([counts])
    assert sum(counts.values()) == len(rarities)
    assert rates.shares == pytest.approx(np.fmax((rarities[:, None] > LIMITS).mean(axis=0), 0.5 / 500), abs=1e-7)


def test_a_wild_table_is_compared_with_its_own_level() -> None:
    quiet, wild = [1.0] * 50, [4.0] * 50
    level = find_common_level([quiet, wild])
    assert level == 2.5
    steps = {name: max(map(int, count_rarities(each, level))) for name, each in (("quiet", quiet), ("wild", wild))}
    assert steps["wild"] < 4 * steps["quiet"]
    assert find_common_level([]) == 0.0


def test_the_stated_rate_is_within_the_budget() -> None:
    rates = fit([np.linspace(0, 9, 100), np.linspace(0, 5, 100)])
    for budget in (0.01, 0.1, 0.5):
        limit = find_limit(rates, NOTHING_REMEMBERED, Part.ROWS, budget)
        assert limit is not None
        assert limit.rate <= budget
        assert limit.rarity in LIMITS


def test_old_runs_fade_and_the_newest_surprises_are_kept() -> None:
    memory = NOTHING_REMEMBERED
    for run in range(1_000):
        memory = remember_batch(memory, rare(5.0 if run < 100 else 1.0, **{"mean(x)": float(run)}), NO_LEVEL)
    counts = memory.batches[Part.COLUMNS]
    assert memory.runs == FADES_AFTER
    assert sum(counts.values()) == pytest.approx(FADES_AFTER)
    assert counts["20"] < 30
    newest = range(1_000 - MOST_SURPRISES, 1_000)
    assert memory.surprises["mean(x)"] == tuple((float(run), run + 1) for run in newest)
    assert memory.level < 1.3


def test_a_batch_far_beyond_its_limit_counts_as_one_at_its_edge() -> None:
    far = BatchRarity({Part.COLUMNS: 90.0, Part.ROWS: 1.0}, {"mean(x)": 1e4})
    remembered = limit_rarity(far, {Part.COLUMNS: 10.0, Part.ROWS: 5.0})
    assert remembered == BatchRarity({Part.COLUMNS: EDGE_FACTOR * 10.0 + EDGE_STEP, Part.ROWS: 1.0}, is_alarm=True)
    good = BatchRarity({Part.COLUMNS: 9.0}, {"mean(x)": 20.0})
    assert limit_rarity(good, {Part.COLUMNS: 10.0}) is good
    assert limit_rarity(far, {}) is far


def test_false_alarms_are_counted_and_too_many_lower_the_working_budget() -> None:
    memory = NOTHING_REMEMBERED
    for number in range(100):
        batch = rare(20.0 if number % 20 == 0 else 1.0)
        memory = remember_batch(memory, limit_rarity(batch, {Part.COLUMNS: 10.0}), NO_LEVEL)
    assert memory.alarms == 5.0
    assert find_working_budget(0.05, memory) == 0.05
    assert find_working_budget(0.01, memory) == pytest.approx(0.01 * 2 / 5)


def run(number: int, rarity: float, before: list[Run], memory: RarityMemory = NOTHING_REMEMBERED) -> Run:
    account = Account(
        reference_attempts=tuple(each.attempt[:12] for each in before), rarity=rare(rarity), rarities=memory
    )
    name = f"2026-01-{number:02}"
    return Run(dataset="t", partition=name, fingerprint=name, attempt=f"{number:012}-attempt", account=account)


def test_a_batch_that_was_accepted_later_is_remembered_too() -> None:
    first = run(1, 1.0, [])
    second = run(2, 9.0, [first], remember_batch(NOTHING_REMEMBERED, rare(1.0), NO_LEVEL))
    third = run(3, 2.0, [first], remember_batch(NOTHING_REMEMBERED, rare(1.0), NO_LEVEL))
    without, with_it = gather_memory([first, third], NO_LEVEL), gather_memory([first, second, third], NO_LEVEL)
    assert without is not None
    assert with_it is not None
    assert without.batches[Part.COLUMNS] == {"4": 1.0, "8": 1.0}
    assert with_it.batches[Part.COLUMNS] == {"4": 1.0, "8": 1.0, "36": 1.0}


def test_a_surprise_is_forgotten_after_as_many_runs_as_are_remembered() -> None:
    memory = remember_batch(NOTHING_REMEMBERED, rare(5.0, **{"mean(x)": 9.0}), NO_LEVEL)
    for _ in range(int(FADES_AFTER) - 1):
        memory = remember_batch(memory, rare(1.0), NO_LEVEL)
    assert "mean(x)" in memory.surprises
    assert remember_batch(memory, rare(1.0), NO_LEVEL).surprises == {}


def test_a_batch_that_is_like_an_accepted_one_is_no_alarm() -> None:
    assert not limit_rarity(rare(20.0), {Part.COLUMNS: 10.0}, is_held=False).is_alarm


def chain(rarities: list[float], without: int | None = None) -> list[Run]:
    """Runs that were judged one after the other; one of them may have no rarity."""
    runs: list[Run] = []
    for number, rarity in enumerate(rarities, 1):
        memory = gather_memory(runs, NO_LEVEL) if runs else None
        made = run(number, rarity, runs, memory or NOTHING_REMEMBERED)
        runs.append(replace(made, account=replace(made.account, rarity=None)) if number == without else made)
    return runs


def test_a_run_without_a_rarity_does_not_lose_the_memory() -> None:
    memory = gather_memory(chain([1.0, 2.0, 3.0, 4.0], without=3), NO_LEVEL)
    assert memory is not None
    assert memory.batches[Part.COLUMNS] == {"4": 1.0, "8": 1.0, "16": 1.0}


def test_a_batch_that_is_rejected_later_counts_for_nothing() -> None:
    runs = chain([1.0, 2.0, 30.0, 4.0, 5.0])
    memory = gather_memory([each for each in runs if each is not runs[2]], NO_LEVEL)
    assert memory is not None
    assert memory.batches[Part.COLUMNS] == {"4": 1.0, "8": 1.0, "16": 1.0, "20": 1.0}
    whole = gather_memory(runs, NO_LEVEL)
    assert whole is not None
    assert whole.runs == 5.0


def test_a_history_without_rarities_has_no_memory() -> None:
    assert gather_memory([Run(dataset="t", partition="1", fingerprint="1")], NO_LEVEL) is None
