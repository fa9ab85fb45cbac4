"""Limits on the novelty: what they cost, and that none would hold the newest run."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from headgate.learn.novelty.features import natural_size
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.propose import (
    novelty_rates,
    novelty_surprises,
    propose_novelty,
    ratio_limit,
    ratio_surprise,
)
from headgate.learn.past import Past
from headgate.learn.pooled_rates import (
    HISTORY_LENGTHS,
    VARYING,
    PooledRates,
    RateCurve,
    load_pooled_rates,
    make_curve_key,
)
from headgate.values.expectation import Source
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from tests.learn.histories import analysis, orders, past_of, traits

Floats = npt.NDArray[np.float64]
GRID = (1e-6, 1.0, 3.0, 10.0, 30.0)


def evidence(shares: tuple[float, ...] | None, seen: float = 1e6) -> PooledRates:
    """Novelty that surprises so often, if there is evidence of it at all."""
    lengths = HISTORY_LENGTHS if shares is not None else ()
    return PooledRates(
        GRID, {make_curve_key("novelty", VARYING, each): RateCurve(seen, shares or ()) for each in lengths}
    )


def learned(past: Past) -> Novelty:
    found = Novelty.learn(past)
    assert isinstance(found, Novelty)
    return found


@cache
def proposals() -> list[Proposal]:
    return propose_novelty(learned(orders()), load_pooled_rates())


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


def test_the_lowest_limit_comes_first_and_costs_most() -> None:
    assert len(proposals()) > 2
    for narrow, wide in itertools.pairwise(proposals()):
        assert high(narrow) < high(wide)
        assert narrow.cost >= wide.cost


def test_no_limit_would_hold_the_newest_run_as_it_is() -> None:
    past = orders()
    values = past.values.copy()
    values[-1] += 3 * natural_size(values, past.metrics)
    odd = dataclasses.replace(past, values=values)
    model = learned(odd)
    found = propose_novelty(model, load_pooled_rates())
    before = dataclasses.replace(model, points=model.points[:-1])
    ratio = before.scores_of(model.points[-1:])[0] / model.usual
    assert ratio > 1.5
    assert found
    assert min(map(high, found)) >= ratio


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
