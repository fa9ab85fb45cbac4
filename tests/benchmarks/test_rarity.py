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
from benchmarks.rarity.judge import judge_dataset
from benchmarks.rarity.rarity import FORMS, FeedRarities, Form
from benchmarks.rarity.simulated import BUDGETS, KINDS, NEXT, RUNS, simulate, simulate_wild
from benchmarks.rarity.surprises import Replayed, ReplayedFeed, Surprises
from headgate.learn.history.series_kinds import ALL_KINDS, CONSTANT
from headgate.learn.metric_traits import Family
from headgate.learn.pooled_rates import VARYING, PooledRates, RateCurve, make_curve_key, name_family
from headgate.values.rarity_memory import Part

METRICS = [("mean", "price"), ("ks_dist", "price"), ("max", "price"), ("size", ""), ("unchanged", "price")]


def known_rates() -> PooledRates:
    """The rates of every metric fall from 1 to 1 in 100,000 over the grid."""
    curve = RateCurve(1e9, tuple((10.0 ** -np.linspace(0.0, 5.0, len(curves.GRID))).tolist()))
    families = [name_family(each) for each in Family]
    keys = [make_curve_key(name, kind, surprises.LONGEST) for name in families for kind in (*ALL_KINDS, VARYING)]
    return PooledRates(curves.GRID, dict.fromkeys(keys, curve))


def batch(found: list[float], *, kind: int = 3, basics: bool = False) -> Replayed:
    size = len(METRICS)
    of_batch = Surprises(np.arange(size), np.full(size, kind), np.array(found), np.full(size, basics))
    return Replayed(30, "2026-01-31", {surprises.LONGEST: of_batch})


def rarity(
    found: list[float],
    *,
    kind: int = 3,
    basics: bool = False,
    form: Form = FORMS["all parts"],
    part: Part = Part.COLUMNS,
) -> float:
    measured = FeedRarities(ReplayedFeed(METRICS, [], []), known_rates(), form=form)
    return measured.measure(batch(found, kind=kind, basics=basics))[part]


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


def test_rows_and_basics_are_parts_of_their_own() -> None:
    assert rarity([0, 0, 0, 20.0, 0], part=Part.ROWS) > 0
    assert rarity([0, 0, 0, 20.0, 0]) == rarity([0] * 5)
    assert rarity([20.0, 0, 0, 0, 0], basics=True, part=Part.BASICS) > rarity([20.0, 0, 0, 0, 0], part=Part.BASICS)


def test_what_a_table_did_before_is_less_rare() -> None:
    measured = FeedRarities(ReplayedFeed(METRICS, [], []), known_rates())
    jump = batch([100.0, 0, 0, 0, 0])
    first = measured.measure(jump)[Part.COLUMNS]
    for _ in range(5):
        measured.remember(jump)
    assert measured.measure(jump)[Part.COLUMNS] < 0.8 * first


@pytest.mark.parametrize("kind", KINDS)
def test_made_up_tables_are_judged_at_every_length_and_budget(kind: str) -> None:
    cells = simulate(kind, 10, True, 4)
    assert {(each.runs, each.budget) for each in cells} == {(runs, budget) for runs in RUNS for budget in BUDGETS}
    assert all(each.judged == 4 * NEXT >= each.held for each in cells)
    if kind == "smooth":
        assert sum(each.held for each in cells) <= 2


def test_a_wild_table_comes_back_to_its_budget() -> None:
    judged, held = simulate_wild(0.05, 4)
    assert judged == 4 * 800
    assert 0.7 * 0.05 < held / judged < 1.2 * 0.05


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
