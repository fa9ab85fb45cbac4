"""What a table would remember before each of its batches, from the surprises that were replayed."""

from __future__ import annotations

from functools import cache

from benchmarks.history.evidence import tails_for
from benchmarks.history.feeds import Feed, feeds
from benchmarks.rarity.curves import read_feed
from benchmarks.rarity.judge import find_limits, find_shares
from benchmarks.rarity.rarity import FULL, FeedRarities
from headgate.learn.evidence import RUNS_OF_LENGTH
from headgate.learn.remembered_rarity import limit_rarity, remember_batch
from headgate.values.account import Account
from headgate.values.key import MetricKey
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part

BUDGET = 0.01
"""The budget at which batches are held, whose rarity counts as that of the limit."""


@cache
def list_accounts(feed: Feed) -> dict[str, Account]:
    """For each good run that was replayed, how rare it is, and how rare the good runs before it were.

    Feeds that are too short are not replayed: what they remember is that of the runs that are learned from.
    """
    if feed not in feeds():
        return {}
    replayed, memory, rates = read_feed(feed), NOTHING_REMEMBERED, tails_for(feed.folder)
    rarities = {length: FeedRarities(replayed, rates, length) for length in RUNS_OF_LENGTH}
    keys = [str(MetricKey(name, (column,) if column else ())) for name, column in replayed.metrics]
    accounts: dict[str, Account] = {}
    for run in replayed.good:
        length = max(run.lengths)
        notable = {keys[at]: surprise for at, surprise in rarities[length].find_notable(run).items()}
        prior = {part: rates.batch_rates(part, length) for part in Part}
        limits = find_limits(prior, memory, find_shares(FULL), BUDGET)
        found = limit_rarity(BatchRarity(rarities[length].measure(run), notable), limits)
        accounts[run.partition] = Account(rarity=found, rarities=memory)
        memory = remember_batch(memory, found, prior[Part.COLUMNS])
        for each in run.lengths:
            rarities[each].remember(run)
    return accounts
