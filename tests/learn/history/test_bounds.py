"""Bands: constants, rounding, and the issues that they catch."""

from __future__ import annotations

from functools import cache

import numpy as np

from headgate.learn.history.bounds import FiniteSampleBounds
from headgate.learn.history.learn import ProposalSet, learn_program
from headgate.learn.history.program import Program
from headgate.learn.issue_effects import AppliedEffect, apply_to_latest
from headgate.learn.pooled_rates import HISTORY_LENGTHS, PooledRates, RateCurve, load_pooled_rates, make_curve_key
from headgate.values.predicate import Between
from tests.learn.histories import orders, orders_effects, past_of


@cache
def program() -> Program:
    return learn_program(orders())


def certain(share: float = 0.0, seen: float = 1e9) -> PooledRates:
    """Rates that are the same for every metric and reach."""
    curves = {
        make_curve_key("*", constant, length): RateCurve(seen, (share,) * 3)
        for constant in (True, False)
        for length in HISTORY_LENGTHS
    }
    return PooledRates((1e-6, 1.0, 10.0), curves)


def test_what_a_proposal_catches_breaks_it() -> None:
    effects = apply_to_latest(orders_effects(), orders())
    value = {
        (effect.column, issue, orders().metrics[index].key): effect.values[row, position]
        for effect in effects
        for row, issue in enumerate(effect.issues)
        for position, index in enumerate(effect.metric_indices)
    }
    slips = [
        each.expectation.predicate.holds(float(value[(*issue, each.expectation.metric)]))
        for each in FiniteSampleBounds(load_pooled_rates()).propose_bands(orders(), effects)
        for issue in each.catches
        if (*issue, each.expectation.metric) in value  # not the milder forms, which were never injected
    ]
    assert len(slips) > 100
    assert sum(slips) == 0


CONSTANT = {"size()": [100.0] * 30, "completeness(x)": [1.0] * 30}


def constants(pooled_rates: PooledRates, false_alarms: float = 0.01) -> dict[str, str]:
    effects = [AppliedEffect("x", ("one row",), np.array([0, 1]), np.array([[101.0, 0.9999]]))]
    past = past_of(CONSTANT)
    bands = FiniteSampleBounds(pooled_rates).propose_bands(past, effects)
    learned = ProposalSet(past, tuple(bands), (("x", "one row"),)).build_program(false_alarms, schema=False)
    return {str(each.metric): str(each.expectation.predicate) for each in learned.clauses}


def test_a_constant_is_expected_to_stay_equal_where_its_pooled_rate_is_low() -> None:
    found = constants(certain(share=0.0))
    assert found
    assert set(found.values()) <= {"equal to 100", "equal to 1"}


def test_it_is_not_where_constants_often_changed() -> None:
    assert constants(certain(share=0.02)) == {}


def test_it_is_not_where_few_constants_were_observed() -> None:
    assert constants(certain(share=0.0, seen=10.0)) == {}


def test_no_clause_states_that_a_constant_never_changes() -> None:
    assert all(each.expectation.false_alarm != 0.0 for each in program().clauses if each.note.startswith("equal in"))


def test_the_ends_of_a_constant_without_whole_value_hold_it() -> None:
    past = past_of({"completeness(x)": [0.1 + 0.2] * 30})
    effects = [AppliedEffect("x", ("gone",), np.array([0]), np.array([[0.0]]))]
    for each in FiniteSampleBounds(certain()).propose_bands(past, effects):
        assert isinstance(each.expectation.predicate, Between)
        assert each.expectation.predicate.holds(0.1 + 0.2)
