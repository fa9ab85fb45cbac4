"""Judges the good batches and the broken ones of a dataset by what other datasets tell."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from functools import cache
from typing import Any

from benchmarks.history.feeds import Feed, feeds
from benchmarks.rarity.curves import GRID, pool_counts, read_feed
from benchmarks.rarity.rarity import FORMS, FULL, FeedRarities, Form
from benchmarks.rarity.surprises import Replayed
from headgate.learn.evidence import LONGEST, RUNS_OF_LENGTH
from headgate.learn.history.learn import BASIC_SHARES
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.rarity_limit import (
    BatchRates,
    count_rarities,
    find_common_level,
    find_limit,
    find_working_budget,
    fit_batch_rates,
)
from headgate.learn.remembered_rarity import limit_rarity, remember_batch
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory

BUDGETS = (0.003, 0.01, 0.02, 0.05, 0.1)
Row = dict[str, Any]


@cache
def make_curves(without: frozenset[str]) -> PooledRates:
    return PooledRates(GRID, pool_counts(feed for feed in feeds() if feed.folder not in without))


def measure_good(feed: Feed, curves: PooledRates, length: int, form: Form = FULL) -> list[dict[Part, float]]:
    """How rare the parts of the good batches of a feed are that have a history of a length."""
    rarities, found = FeedRarities(read_feed(feed), curves, length, form), []
    for batch in read_feed(feed).good:
        if length in batch.lengths:
            found.append(rarities.measure(batch))
            rarities.remember(batch)
    return found


def measure_others(without: frozenset[str], length: int, form: Form = FULL) -> dict[str, list[dict[Part, float]]]:
    """How rare the batches of the tables of other datasets than these are, each by curves without its dataset."""
    others = [feed for feed in feeds() if feed.folder not in without]
    return {each.title: measure_good(each, make_curves(without | {each.folder}), length, form) for each in others}


def make_prior(without: frozenset[str], length: int, form: Form = FULL) -> dict[Part, BatchRates]:
    """What the tables of other datasets than these tell of how rare batches are."""
    tables = measure_others(without, length, form).values()
    return {part: _fit_part(tables, part, form.with_level) for part in find_shares(form)}


def _fit_part(tables: Iterable[list[dict[Part, float]]], part: Part, with_level: bool) -> BatchRates:
    rarities = [[batch[part] for batch in table] for table in tables]
    level = find_common_level(rarities) if with_level and part is Part.COLUMNS else 0.0
    return fit_batch_rates([count_rarities(each, level) for each in rarities], level)


def find_shares(form: Form) -> dict[Part, float]:
    """The share of the budget of each part."""
    if not form.with_basics:
        return {Part.COLUMNS: 1.0}
    return {**BASIC_SHARES, Part.COLUMNS: 1.0 - sum(BASIC_SHARES.values())}


def judge_dataset(folder: str, form_name: str) -> list[Row]:
    """All good batches and all broken copies of the feeds of a dataset, at every budget."""
    form, curves = FORMS[form_name], make_curves(frozenset({folder}))
    priors = {length: make_prior(frozenset({folder}), length, form) for length in RUNS_OF_LENGTH}
    rows = [
        row
        for feed in feeds()
        if feed.folder == folder
        for row in _judge_feed(
            feed,
            {length: FeedRarities(read_feed(feed), curves, length, form) for length in priors},
            priors,
            find_shares(form),
            form.with_edge,
        )
    ]
    print(folder, form_name, len(rows), flush=True)
    return [{"form": form_name, **row} for row in rows]


def _judge_feed(
    feed: Feed,
    rarities: dict[int, FeedRarities],
    priors: dict[int, dict[Part, BatchRates]],
    shares: dict[Part, float],
    with_edge: bool,
) -> list[Row]:
    rows: list[Row] = []
    memories = dict.fromkeys(BUDGETS, NOTHING_REMEMBERED)
    cases = deque(sorted(read_feed(feed).broken, key=lambda case: case.number))
    for batch in read_feed(feed).good:
        prior = priors[max(batch.lengths)]
        limits = {budget: find_limits(prior, memories[budget], shares, budget) for budget in BUDGETS}
        while cases and cases[0].number <= batch.number:
            case = cases.popleft()
            parts = rarities[LONGEST].measure(case)
            held = [each for each in BUDGETS if case.shape or _is_held(parts, limits[each])]
            rows.append({**_describe(feed, case), "shape": case.shape, "held": held})
        parts = rarities[max(batch.lengths)].measure(batch)
        if not batch.shape:
            rows.append({**_describe(feed, batch), "held": [each for each in BUDGETS if _is_held(parts, limits[each])]})
        for budget, memory in memories.items():
            found = limit_rarity(BatchRarity(parts), limits[budget]) if with_edge else BatchRarity(parts)
            memories[budget] = remember_batch(memory, found, prior[Part.COLUMNS])
        for each in batch.lengths:
            rarities[each].remember(batch)
    return rows


def find_limits(
    prior: dict[Part, BatchRates], memory: RarityMemory, shares: dict[Part, float], budget: float
) -> dict[Part, float]:
    """How rare each part of a batch may be."""
    budget = find_working_budget(budget, memory)
    found = {part: find_limit(prior[part], memory, part, share * budget) for part, share in shares.items()}
    return {part: math.inf if limit is None else limit.rarity for part, limit in found.items()}


def _is_held(parts: dict[Part, float], limits: dict[Part, float]) -> bool:
    return any(parts[part] > limit for part, limit in limits.items())


def _describe(feed: Feed, batch: Replayed) -> Row:
    return {"feed": feed.title, "partition": batch.partition, "runs": batch.number, "issue": batch.issue}
