"""Judges the good batches and the broken ones of a dataset by what other datasets tell."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.history.feeds import Feed, feeds
from benchmarks.rarity.curves import Curves, read_feed
from benchmarks.rarity.limit import Prior
from benchmarks.rarity.rarity import FORMS, FeedRarities, Form
from benchmarks.rarity.surprises import LONGEST, RUNS_OF_LENGTH, Replayed

BUDGETS = (0.003, 0.01, 0.02, 0.05, 0.1)
Floats = npt.NDArray[np.float64]
Row = dict[str, Any]


@cache
def make_curves(without: frozenset[str]) -> Curves:
    return Curves(feed for feed in feeds() if feed.folder not in without)


def measure_good(feed: Feed, curves: Curves, length: int, form: Form) -> Floats:
    """The rarities of the good batches of a feed that have a history of a length."""
    rarities, found = FeedRarities(read_feed(feed), curves, length, form), []
    for batch in read_feed(feed).good:
        if length in batch.lengths:
            found.append(rarities.measure(batch))
            rarities.remember(batch)
    return np.array(found)


def make_prior(folder: str, length: int, form: Form) -> Prior:
    """The prior of the tables of other datasets than this one."""
    others = [feed for feed in feeds() if feed.folder != folder]
    return Prior([measure_good(each, make_curves(frozenset({folder, each.folder})), length, form) for each in others])


def judge_dataset(folder: str, form_name: str) -> list[Row]:
    """All good batches and all broken copies of the feeds of a dataset, at every budget."""
    form, curves = FORMS[form_name], make_curves(frozenset({folder}))
    priors = {length: make_prior(folder, length, form) for length in RUNS_OF_LENGTH}
    rows = [
        row
        for feed in feeds()
        if feed.folder == folder
        for row in _judge_feed(
            feed, {length: FeedRarities(read_feed(feed), curves, length, form) for length in priors}, priors
        )
    ]
    print(folder, form_name, len(rows), flush=True)
    return [{"form": form_name, **row} for row in rows]


def _judge_feed(feed: Feed, rarities: dict[int, FeedRarities], priors: dict[int, Prior]) -> list[Row]:
    rows: list[Row] = []
    own: list[float] = []
    cases = deque(sorted(read_feed(feed).broken, key=lambda case: case.number))
    for batch in read_feed(feed).good:
        length = max(batch.lengths)
        limits = {budget: priors[length].find_limit(np.array(own), budget) for budget in BUDGETS}
        while cases and cases[0].number <= batch.number:
            case = cases.popleft()
            rare = rarities[LONGEST].measure(case)
            held = [each for each in BUDGETS if case.shape or rare > limits[each]]
            rows.append({**_describe(feed, case), "shape": case.shape, "held": held})
        rarity = rarities[length].measure(batch)
        if not batch.shape:
            rows.append({**_describe(feed, batch), "held": [each for each in BUDGETS if rarity > limits[each]]})
        own.append(rarity)
        for each in batch.lengths:
            rarities[each].remember(batch)
    return rows


def _describe(feed: Feed, batch: Replayed) -> Row:
    return {"feed": feed.title, "partition": batch.partition, "runs": batch.number, "issue": batch.issue}
