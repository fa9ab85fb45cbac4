"""One limit of rarity for a table: rarities of made-up batches, and whether the limit keeps the budget."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.history import series, table_cases
from benchmarks.history.feeds import Feed
from benchmarks.rarity import curves, judge, surprises
from benchmarks.rarity.__main__ import count_held, tabulate
from benchmarks.rarity.curves import EXTREME, NUMBER, SHARE, find_family
from benchmarks.rarity.judge import judge_dataset
from benchmarks.rarity.limit import MOST_WEIGHT, Prior
from benchmarks.rarity.rarity import FORMS, FeedRarities, Form
from benchmarks.rarity.surprises import CONSTANT, Replayed, ReplayedFeed, Surprises

METRICS = [("mean", "price"), ("ks_dist", "price"), ("max", "price"), ("size", ""), ("unchanged", "price")]


class KnownCurves:
    """The rates of every metric fall from 1 to 1 in 100,000 over the grid."""

    def list_rates(self, replayed: ReplayedFeed, length: int) -> np.ndarray:
        rates = 10.0 ** -np.linspace(0.0, 5.0, len(curves.GRID))
        return np.tile(rates, (len(replayed.metrics), 9, 1))


def batch(found: list[float], *, kind: int = 3, basics: bool = False) -> Replayed:
    size = len(METRICS)
    of_batch = Surprises(np.arange(size), np.full(size, kind), np.array(found), np.full(size, basics))
    return Replayed(30, "2026-01-31", {surprises.LONGEST: of_batch})


def rarity(found: list[float], *, kind: int = 3, basics: bool = False, form: Form = FORMS["all parts"]) -> float:
    measured = FeedRarities(ReplayedFeed(METRICS, [], []), KnownCurves(), form=form)
    return measured.measure(batch(found, kind=kind, basics=basics))


def test_a_metric_that_is_farther_away_is_rarer() -> None:
    assert 0 < rarity([5.0, 0, 0, 0, 0]) < rarity([50.0, 0, 0, 0, 0])


def test_two_metrics_of_a_column_are_rarer_than_one_and_those_of_two_columns_are_not() -> None:
    one, both = rarity([50.0, 0, 0, 0, 0]), rarity([50.0, 50.0, 0, 0, 0])
    assert one < both
    assert rarity([50.0, 0, 0, 50.0, 0]) == one
    assert rarity([50.0, 50.0, 0, 0, 0], form=FORMS["the rarest metric alone"]) == one


def test_an_extreme_counts_only_if_it_never_changed() -> None:
    assert rarity([0, 0, 1e4, 0, 0]) < rarity([0, 0, 1e4, 0, 0], kind=CONSTANT)
    assert rarity([0, 0, 1e4, 0, 0], form=FORMS["with extremes that vary"]) > rarity([0, 0, 1e4, 0, 0])
    assert rarity([0, 0, 0, 0, 1e4]) == rarity([0] * 5)


def test_basics_count_more() -> None:
    assert rarity([0, 0, 0, 20.0, 0], basics=True) > rarity([0, 0, 0, 20.0, 0])


def test_what_a_table_did_before_is_less_rare() -> None:
    measured = FeedRarities(ReplayedFeed(METRICS, [], []), KnownCurves())
    jump = batch([100.0, 0, 0, 0, 0])
    first = measured.measure(jump)
    for _ in range(5):
        measured.remember(jump)
    assert measured.measure(jump) < 0.7 * first


@pytest.mark.parametrize(
    ("name", "family"),
    [("completeness", SHARE), ("ks_dist", SHARE), ("stddev", EXTREME), ("max", EXTREME), ("sum", NUMBER)],
)
def test_the_family_of_a_metric(name: str, family: str) -> None:
    assert find_family(name) == family


@pytest.mark.parametrize(("mean", "most"), [(1.0, 1.0), (2.0, 1.1), (4.0, 1.35)])
def test_a_table_is_held_about_as_often_as_the_budget_says(mean: float, most: float) -> None:
    """One that is wilder than all others is pulled towards them: it is held somewhat more often."""
    rng = np.random.default_rng(0)
    prior = Prior([rng.exponential(each, 200) for each in np.linspace(1.0, 3.0, 12)])
    rarities = rng.exponential(mean, 3_000)
    held = [each > prior.find_limit(rarities[max(0, at - 400) : at], 0.05) for at, each in enumerate(rarities)]
    assert np.mean(held[200:]) < most * 0.05
    assert prior.weights.max() <= MOST_WEIGHT


def test_no_limit_is_low_enough_for_a_table_that_exceeds_all() -> None:
    assert Prior([np.ones(100)]).find_limit(np.full(200, 1e3), 0.01) == np.inf


@pytest.fixture
def feeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Feed]:
    """Three datasets of 45 small batches."""
    found = []
    for number, name in enumerate(("north", "south", "west")):
        folder = tmp_path / name
        folder.mkdir()
        rng = np.random.default_rng(number)
        for day in range(45):
            rows = [f"{at},{rng.normal(50, 5):.3f},{rng.choice(['a', 'b'])}" for at in range(40)]
            file = folder / f"2026-{1 + day // 28:02}-{1 + day % 28:02}.csv.gz"
            file.write_bytes(gzip.compress("\n".join(["id,price,shop", *rows, ""]).encode()))
        found.append(Feed(name, "orders", folder))
    for module in (series, table_cases, surprises):
        monkeypatch.setattr(module, "CACHE", tmp_path / "cache")
    for module in (table_cases, surprises):
        monkeypatch.setattr(module, "is_incident", lambda *_: False)
    monkeypatch.setattr(judge, "feeds", lambda: found)
    return found


def test_a_dataset_is_judged_by_the_others(feeds: list[Feed]) -> None:
    rows = [row for feed in feeds for row in judge_dataset(feed.folder, "all parts")]
    good, broken = [[row for row in rows if bool(row["issue"]) == is_broken] for is_broken in (False, True)]
    assert len(good) > 60
    assert sum(0.05 in row["held"] for row in good) < 0.2 * len(good)
    assert sum(0.05 in row["held"] for row in broken) > 0.4 * len(broken)
    assert "| all parts | 5.0% |" in tabulate(count_held(rows))
