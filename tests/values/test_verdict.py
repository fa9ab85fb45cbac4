"""One judge, four statuses: error is never fail, and silence is no pass."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined, outcome_of
from headgate.values.predicate import Between, OneOf
from headgate.values.verdict import Verdict, judge
from tests.strategies import names

MEAN = MetricKey("mean", ("price",))
WITHIN = Expectation(MEAN, Between(5, 500))


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Measured(5.0), Status.PASS),
        (Measured(500.0), Status.PASS),
        (Measured(4.999), Status.FAIL),
        (Measured(float("nan")), Status.FAIL),
        (Undefined("no rows in scope"), Status.SKIP),
        (Failed("there is no column 'price'"), Status.ERROR),
        (Measured(Distribution({"a": 1}, total=1)), Status.ERROR),
    ],
)
def test_an_outcome_has_one_status(outcome: Outcome, status: Status) -> None:
    assert WITHIN.judge(outcome).status is status


def test_a_judgement_says_why_in_words() -> None:
    assert WITHIN.judge(Measured(3.0)).reason == "mean(price) is 3, expected within 5..500"
    assert WITHIN.judge(Undefined("no rows in scope")).reason == "mean(price) has no value: no rows in scope"
    assert WITHIN.judge(Failed("it broke")).reason == "mean(price) could not be computed: it broke"


def test_a_judgement_has_the_value_only_where_there_is_one() -> None:
    assert WITHIN.judge(Measured(3.0)).value == 3.0
    assert WITHIN.judge(Undefined("none")).value is None
    assert WITHIN.judge(Failed("broke")).value is None


def test_a_metric_that_was_not_computed_is_an_error_and_no_pass() -> None:
    verdict = judge([WITHIN], {})
    assert verdict.status is Status.ERROR
    assert not verdict.passed
    assert "not computed" in verdict.judgements[0].reason


def test_an_error_is_never_among_the_failures() -> None:
    verdict = judge([WITHIN], {MEAN: Failed("broke")})
    assert verdict.status is Status.ERROR
    assert verdict.failures == ()


def test_a_verdict_without_expectations_is_a_skip() -> None:
    assert judge([], {}).status is Status.SKIP
    assert not Verdict().passed


def judgements(*found: tuple[Status, Level]) -> Verdict:
    return Verdict(
        tuple(Judgement(Expectation(MEAN, Between(0, 1), level=level), status, "") for status, level in found)
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_status_of_a_verdict_is_the_worst_that_counts(count: int) -> None:
    for found in product(product(Status, Level), repeat=count):
        statuses = {status for status, _ in found}
        if Status.ERROR in statuses:
            expected = Status.ERROR
        elif (Status.FAIL, Level.ERROR) in found:
            expected = Status.FAIL
        elif statuses == {Status.SKIP}:
            expected = Status.SKIP
        else:
            expected = Status.PASS
        assert judgements(*found).status is expected


def test_a_warning_that_fails_is_a_failure_but_does_not_fail_the_verdict() -> None:
    verdict = judgements((Status.FAIL, Level.WARN), (Status.PASS, Level.ERROR))
    assert verdict.passed
    assert len(verdict.failures) == 1


def test_judgements_keep_the_order_of_the_expectations() -> None:
    keys = [MetricKey("mean", (name,)) for name in "cab"]
    verdict = judge([Expectation(key, Between(0, 1)) for key in keys], {key: Measured(0.5) for key in keys})
    assert [each.expectation.metric for each in verdict.judgements] == keys


expectations = st.builds(
    Expectation,
    st.builds(
        MetricKey, st.sampled_from(["mean", "completeness"]), st.tuples(names()), st.just(()), st.none() | st.text()
    ),
    st.sampled_from([Between(0, 1), Between(low=-1e300), OneOf((1.0, 2.5))]),
    st.sampled_from(Source),
    st.sampled_from(Level),
    st.none() | st.floats(0, 1),
)


@settings(max_examples=100)
@given(expectations)
def test_an_expectation_is_data_that_stores_and_reads_back(expectation: Expectation) -> None:
    for form in (msgspec.json, msgspec.msgpack):
        assert form.decode(form.encode(expectation), type=Expectation) == expectation
    assert hash(expectation) == hash(msgspec.json.decode(msgspec.json.encode(expectation), type=Expectation))


def test_a_verdict_stores_and_reads_back() -> None:
    verdict = judge([WITHIN, Expectation(MEAN, OneOf((3,)))], {MEAN: Measured(3.0)})
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict


def test_an_expectation_prints_its_metric_and_predicate() -> None:
    assert str(WITHIN) == "mean(price) within 5..500"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_never_becomes_a_value(value: float) -> None:
    assert outcome_of(value, otherwise="too large") == Undefined("too large")


def test_a_distribution_gives_the_share_of_a_label() -> None:
    spread = Distribution({"a": 3, "b": 1}, total=8)
    assert (spread.ratio("a"), spread.ratio("c"), Distribution({}, total=0).ratio("a")) == (0.375, 0.0, 0.0)
