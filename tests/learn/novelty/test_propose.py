"""Limits on the novelty: what they cost, and which issues they catch."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from headgate.learn.history.bounds import FiniteSampleBounds
from headgate.learn.issue_effects import AppliedEffect, apply_to_latest
from headgate.learn.novelty.features import natural_size
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.propose import (
    SEVERITIES,
    novelty_rates,
    novelty_surprises,
    propose_novelty,
    ratio_limit,
    ratio_surprise,
)
from headgate.learn.past import Past
from headgate.learn.pooled_rates import HISTORY_LENGTHS, PooledRates, RateCurve, load_pooled_rates, make_curve_key
from headgate.values.expectation import Source
from headgate.values.outcome import Measured
from headgate.values.predicate import Between
from headgate.values.proposal import IssueId, Proposal
from tests.learn.histories import analysis, orders, orders_effects, past_of, traits

Floats = npt.NDArray[np.float64]
GRID = (1e-6, 1.0, 3.0, 10.0, 30.0)


def evidence(shares: tuple[float, ...] | None, seen: float = 1e6) -> PooledRates:
    """Metrics that never surprise, and novelty that does so often, if there is evidence of it at all."""
    curves = {make_curve_key("*", False, length): RateCurve(1e9, (0.0,) * len(GRID)) for length in HISTORY_LENGTHS}
    if shares is not None:
        curves |= {make_curve_key("novelty", False, length): RateCurve(seen, shares) for length in HISTORY_LENGTHS}
    return PooledRates(GRID, curves)


def learned(past: Past) -> Novelty:
    found = Novelty.learn(past)
    assert isinstance(found, Novelty)
    return found


@cache
def proposals() -> list[Proposal]:
    return propose_novelty(
        learned(orders()), orders(), apply_to_latest(orders_effects(), orders()), load_pooled_rates()
    )


def high(proposal: Proposal) -> float:
    predicate = proposal.expectation.predicate
    assert isinstance(predicate, Between)
    assert predicate.high is not None
    return predicate.high


def test_a_proposal_is_a_limit_on_the_novelty_of_the_table() -> None:
    assert proposals()
    for each in proposals():
        assert (each.expectation.metric, each.expectation.source) == (NOVELTY, Source.NOVELTY)
        assert each.column == ""
        assert each.note.startswith("30 runs, ")
    assert len({each.family for each in proposals()}) == 1


def test_lower_limits_cost_more_and_catch_more() -> None:
    assert len(proposals()) > 2
    for wide, narrow in zip(proposals(), proposals()[1:], strict=False):
        assert high(narrow) < high(wide)
        assert narrow.cost >= wide.cost
        assert narrow.catches > wide.catches


def by_brute_force(past: Past, effects: list[AppliedEffect]) -> dict[IssueId, float]:
    """Each issue's ratio: the whole newest run is replaced and compared with the runs before it."""
    model = learned(past)
    before = dataclasses.replace(model, points=model.points[:-1])
    found = {}
    for each in effects:
        for share in SEVERITIES:
            for issue, values in zip(each.issues, each.values, strict=True):
                row = past.values[-1].copy()
                row[each.metric_indices] += share * (values - row[each.metric_indices])
                outcomes = {
                    measure.key: Measured(value) for measure, value in zip(past.metrics, row.tolist(), strict=True)
                }
                for column in each.columns or (each.column,):
                    found[column, issue if share == 1 else f"{share:g} x {issue}"] = before.ratio(outcomes)
    return found


def in_one_column(proposal: Proposal) -> set[tuple[str, str]]:
    """Each issue once, and none that affects all columns."""
    return {issue for issue in proposal.catches if not issue[1].endswith(" everywhere") and ", again " not in issue[1]}


def test_what_a_limit_catches_is_what_brute_force_finds_beyond_it() -> None:
    ratios = by_brute_force(orders(), apply_to_latest(orders_effects(), orders()))
    for each in proposals():
        assert in_one_column(each) == {issue for issue, ratio in ratios.items() if ratio > high(each)}
    assert len(proposals()[-1].catches) > 50


def test_issues_that_leave_a_metric_without_value_are_scored_without_it() -> None:
    past = orders()
    places = np.array([at for at, each in enumerate(past.metrics) if each.column == "price"])
    values = np.full((1, len(places)), np.nan)
    values[0, [past.metrics[at].key.name == "completeness" for at in places]] = 0.0
    effects = [AppliedEffect("price", ("gone",), places, values)]
    ratio = by_brute_force(past, effects)["price", "gone"]
    found = propose_novelty(learned(past), past, effects, load_pooled_rates())
    for each in found:
        assert (("price", "gone") in each.catches) == (ratio > high(each))


def test_milder_issues_are_those_of_the_bands_of_single_metrics() -> None:
    effects = apply_to_latest(orders_effects(), orders())
    bands = {
        issue
        for each in FiniteSampleBounds(load_pooled_rates()).propose_bands(orders(), effects)
        for issue in each.catches
    }
    assert {issue for each in proposals() for issue in in_one_column(each)} <= bands


def test_a_mild_issue_of_all_columns_at_once_is_caught() -> None:
    wide = {issue for each in proposals() for issue in each.catches if issue[1].endswith(" everywhere")}
    assert wide
    assert {column for column, _ in wide} <= set(orders().schema.labels)
    assert all(issue.startswith(("0.1 x ", "0.03 x ")) for _, issue in wide)
    narrowest = max(proposals(), key=lambda each: len(each.catches))
    joint = {issue for _, issue in narrowest.catches if issue.endswith("everywhere")}
    alone = {f"{issue} everywhere" for _, issue in in_one_column(narrowest)}
    assert joint - alone, "nothing is seen of all columns together that is not seen of one"


def test_no_limit_would_hold_the_newest_run_as_it_is() -> None:
    past = orders()
    values = past.values.copy()
    values[-1] += 3 * natural_size(values, past.metrics)
    odd = dataclasses.replace(past, values=values)
    model = learned(odd)
    places = np.arange(len(odd.metrics))
    far = AppliedEffect("price", ("far",), places, odd.values[-1:] * 1e6)
    found = propose_novelty(model, odd, [far, *apply_to_latest(orders_effects(), odd)], load_pooled_rates())
    before = dataclasses.replace(model, points=model.points[:-1])
    ratio = before.scores_of(model.points[-1:])[0] / model.usual
    assert ratio > 1.5
    assert found
    assert min(map(high, found)) >= ratio


def test_nothing_is_proposed_where_nothing_is_caught() -> None:
    assert propose_novelty(learned(orders()), orders(), [], load_pooled_rates()) == []


# --- prices


def test_prices_fall_with_reach() -> None:
    found = novelty_rates(learned(orders()), load_pooled_rates())
    assert (np.diff(found) <= 0).all()
    assert (found > 0).all()


def test_without_evidence_the_price_is_that_of_the_rank_and_a_heavy_tail() -> None:
    found = novelty_rates(learned(orders()), evidence(None))
    assert found == pytest.approx([4 / 31 * (1 + reach / 10) ** -2.5 for reach in GRID])


def test_evidence_raises_the_price_and_never_lowers_it() -> None:
    often = novelty_rates(learned(orders()), evidence((0.5, 0.4, 0.3, 0.2, 0.1)))
    assert often == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1], rel=1e-3)
    never = novelty_rates(learned(orders()), evidence((0.0,) * 5))
    assert never == pytest.approx(novelty_rates(learned(orders()), evidence(None)))


def test_a_little_evidence_promises_little() -> None:
    assert novelty_rates(learned(orders()), evidence((0.0,) * 5, seen=4.0))[-1] == pytest.approx(0.1)


def test_the_price_at_the_usual_distance_is_the_rank_of_the_run_that_sets_it() -> None:
    pooled_rates = evidence(None)
    assert [round(novelty_rates(learned(orders(runs)), pooled_rates)[0], 3) for runs in (8, 20, 30)] == [
        0.111,
        0.143,
        0.129,
    ]


def test_limits_are_rounded_upwards_to_hundredths() -> None:
    assert [ratio_limit(reach) for reach in (1e-6, 1.0, 1.468, 10.0, 100.0)] == [1.01, 1.1, 1.15, 2.0, 11.0]


# --- what evidence counts


def test_the_surprise_of_a_next_batch_is_its_ratio_on_the_grid() -> None:
    past = orders(20)
    outcomes = past.outcomes(analysis(20))
    row = np.array([[getattr(outcomes[each.key], "value", np.nan) for each in past.metrics]])
    ratio = learned(past).ratio(outcomes)
    assert novelty_surprises(past, row) == pytest.approx(ratio_surprise(np.array([ratio])))
    assert novelty_surprises(past, row * 100)[0] > 1


def test_a_past_that_is_too_short_has_no_surprises() -> None:
    past = past_of({"sum(x)": [1.0] * 7})
    assert np.isnan(novelty_surprises(past, np.array([[1.0], [2.0]]))).all()


def laws(random: np.random.Generator, runs: int, features: int) -> dict[str, Floats]:
    """Exchangeable runs that are hard to foresee: heavy tails, one cause for all features, days of more noise."""
    shape = (runs, features)
    noise = random.normal(size=shape)
    return {
        "normal": noise,
        "log-normal": random.lognormal(0.0, 1.0, shape),
        "one cause": random.normal(size=(runs, 1)) * random.normal(size=features) * 2 + 0.3 * noise,
        "noisy days": noise * random.lognormal(0.0, 0.7, (runs, 1)),
        "rare jumps": noise + (random.random(shape) < 0.01) * random.normal(size=shape) * 30,
    }


@pytest.mark.parametrize("runs", [8, 30])
def test_exchangeable_runs_are_beyond_no_limit_more_often_than_stated(runs: int) -> None:
    random = np.random.default_rng(runs)
    features, tries = 60, 150
    measures = tuple(traits(f"sum(c{at})") for at in range(features))
    beyond: dict[str, Floats] = {}
    for _ in range(tries):
        for name, values in laws(random, runs + 1, features).items():
            past = Past(("",) * runs, measures, 100 + values[:-1], orders().schemas[:1] * runs, {})
            beyond[name] = beyond.get(name, 0.0) + (novelty_surprises(past, 100 + values[-1:]) > np.array(GRID))
    stated = novelty_rates(learned(orders(runs)), evidence(None))
    allowed = stated + 3 * np.sqrt(stated / tries)
    for name, counts in beyond.items():
        assert (counts / tries <= allowed).all(), name
