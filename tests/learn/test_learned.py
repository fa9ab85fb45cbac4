"""One program from the proposals of all learners: who contributes, and by which outcomes a batch is judged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.learned import (
    Learned,
    Learner,
    ProposalPool,
    nothing_learned,
)
from headgate.learn.novelty.model import NOVELTY
from headgate.values.account import Account
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from headgate.values.run import Run
from tests.learn.histories import analysis

RUNS = 9


def run(day: int, partition: str = "", account: Account | None = None) -> Run:
    measured = analysis(day)
    return Run(
        dataset="orders",
        partition=partition or f"day {day}",
        fingerprint=str(day),
        attempt=f"attempt {day}",
        schema=measured.schema,
        outcomes=dict(measured.outcomes),
        states=dict(measured.states),
        account=account,
    )


def pool(runs: Sequence[Run], learners: Sequence[Learner] = tuple(Learner)) -> ProposalPool:
    return ProposalPool.of(runs, None, learners)


@cache
def full_pool() -> ProposalPool:
    return pool([run(day) for day in range(RUNS)])


def sources(learned: Learned) -> set[Source]:
    return {each.expectation.source for each in learned.program.clauses if each.metric.name not in SCHEMA_METRICS}


def test_without_an_accepted_run_the_program_is_empty_and_every_learner_says_why() -> None:
    learned = nothing_learned([Learner.HISTORY, Learner.NOVELTY])
    assert learned.program.clauses == ()
    assert learned.learner_notes == {"history": "not yet: no accepted run", "novelty": "not yet: no accepted run"}


def test_a_program_holds_proposals_of_the_learners_that_take_part_only() -> None:
    everyone = full_pool().spend_budget(1.0)
    assert sources(everyone) == {Source.HISTORY, Source.NOVELTY}
    assert everyone.novelty is not None
    history = full_pool().spend_budget(1.0, [Learner.HISTORY])
    assert sources(history) == {Source.HISTORY}
    assert history.novelty is None
    novelty = full_pool().spend_budget(1.0, [Learner.NOVELTY])
    assert {each.expectation.source for each in novelty.program.clauses} == {Source.NOVELTY}


def test_each_learner_says_what_it_contributed_or_why_nothing() -> None:
    rich, poor = full_pool().spend_budget(1.0), full_pool().spend_budget(0.0)
    assert rich.learner_notes["novelty"] == f"1 expectation from {RUNS} runs"
    assert rich.learner_notes["patterns"] == "nothing: no rule was safe enough"
    assert poor.learner_notes["novelty"] == "nothing within the budget"


def test_a_short_history_says_how_many_runs_it_lacks() -> None:
    learned = pool([run(day) for day in range(3)]).spend_budget(0.01)
    assert learned.learner_notes["novelty"] == "not yet: 3 accepted runs of 8 that it takes"
    assert learned.learner_notes["history"].endswith("expectations; learning, 3 of 7 runs that ranges take")
    assert learned.novelty is None


@pytest.mark.parametrize(("learners", "count"), [(tuple(Learner), 1), ((Learner.HISTORY,), 0)])
def test_text_rules_come_from_the_newest_run(learners: tuple[Learner, ...], count: int) -> None:
    expectation = Expectation(MetricKey("pattern_match", ("code",)), Between(low=1.0), Source.PATTERNS, false_alarm=0.1)
    rule = Proposal(expectation, frozenset({("code", "typos")}))
    runs = [run(0), run(1, account=Account(text_rules=(rule,)))]
    proposals = pool(runs, learners)
    assert proposals.text_rules == (rule,) * count
    assert sum(each.expectation.source is Source.PATTERNS for each in proposals.proposal_set.others) == count


def test_a_batch_is_judged_by_its_distances_and_its_novelty_too() -> None:
    learned, batch = full_pool().spend_budget(1.0), analysis(RUNS)
    outcomes = learned.extend_outcomes(batch.schema, batch.outcomes, batch.states)
    assert batch.outcomes.items() <= outcomes.items()
    assert isinstance(outcomes[MetricKey("ks_dist", ("price",))], Measured)
    assert isinstance(outcomes[NOVELTY], Measured)
    contributions = learned.largest_contributions(outcomes)
    assert len(contributions) == 8
    assert [share for _, share in contributions] == sorted((share for _, share in contributions), reverse=True)


def test_before_the_first_accepted_run_a_batch_has_its_own_outcomes_only() -> None:
    batch = analysis(0)
    learned = nothing_learned(tuple(Learner))
    assert learned.extend_outcomes(batch.schema, batch.outcomes, batch.states) == batch.outcomes
    assert learned.largest_contributions(batch.outcomes) == ()
