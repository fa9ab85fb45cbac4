"""One rule for NaN and infinities in checks: NaN meets no bound, an infinity is a number. docs/values.md has it.

`tests/spark/test_odd_numbers.py` holds Spark to the same cases.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headgate as hg
from headgate.engine.analyze import analyze
from headgate.values.outcome import Measured
from tests.checks.odd_numbers import BOUNDS, INFINITY, NAN, ROW_RULES, pairs, rows_beyond


def failing_rows(check: hg.Check) -> list[int]:
    found: list[int] = hg.verify(pairs(), check).rows(pairs()).column("row").to_pylist()
    return found


@pytest.mark.parametrize("name", ROW_RULES)
def test_a_rule_of_rows_fails_for_nan_and_compares_infinities(name: str) -> None:
    rule = ROW_RULES[name]
    (judgement,) = hg.verify(pairs(), rule.check).judgements
    assert judgement.value == pytest.approx(rule.share()), judgement.reason
    assert failing_rows(rule.check) == rule.failing_rows()


@pytest.mark.parametrize("name", BOUNDS)
def test_the_rows_beyond_a_bound_are_infinite_ones_too_but_not_nan(name: str) -> None:
    check, is_within = BOUNDS[name]
    assert failing_rows(check) == rows_beyond(is_within)


def test_an_infinity_breaks_a_maximum_and_the_reason_says_so() -> None:
    table = pa.table({"price": [1.0, INFINITY, 2.0]})
    (judgement,) = hg.verify(table, hg.Check("x").has_max("price", at_most=5)).failures
    assert judgement.reason == "max(price) is infinity, expected at most 5"
    (judgement,) = hg.verify(table, hg.Check("x").has_range("price", at_most=5)).failures
    assert judgement.reason == "range(price) is infinity, expected at most 5"
    table = pa.table({"price": [1.0, -INFINITY, NAN]})
    (judgement,) = hg.verify(table, hg.Check("x").has_min("price", at_least=0)).failures
    assert judgement.reason == "min(price) is -infinity, expected at least 0"


def test_a_maximum_of_infinity_can_be_allowed() -> None:
    table = pa.table({"price": [1.0, INFINITY]})
    assert hg.verify(table, hg.Check("x").has_max("price", at_most=INFINITY)).passed


def test_a_predicate_in_sql_means_what_spark_makes_of_it() -> None:
    table = pa.table({"price": [1.0, NAN, -1.0, INFINITY]})
    (judgement,) = hg.verify(table, hg.Check("x").satisfies("price > 0")).judgements
    assert judgement.value == 0.75
    (judgement,) = hg.verify(table, hg.Check("x").satisfies("price > 0 AND NOT isnan(price)")).judgements
    assert judgement.value == 0.5


def test_columns_of_other_kinds_have_no_nan_to_look_for() -> None:
    for check in (hg.Check("x").is_positive("row", at_least=0.9), hg.Check("x").is_less_than("when", "when")):
        (judgement,) = hg.verify(pairs(), check).judgements
        assert "isnan" not in str(judgement.expectation.metric)
        assert judgement.value is not None


def test_nan_of_pandas_is_null_and_so_left_out() -> None:
    frame = pd.DataFrame({"price": [1.0, np.nan]})
    assert hg.verify(frame, hg.Check("x").is_positive("price")).passed


def test_a_suggestion_is_tried_on_nan_as_a_check_is() -> None:
    values = np.random.default_rng(5).lognormal(3.0, 0.5, 4_000)
    assert "is_non_negative" in {each.rule.name for each in hg.suggest(pa.table({"price": values})).holding}
    values[::3] = NAN
    assert "is_non_negative" not in {each.rule.name for each in hg.suggest(pa.table({"price": values})).holding}


def test_json_has_null_for_what_is_infinite() -> None:
    table = pa.table({"price": [1.0, INFINITY, 2.0]})
    found = hg.verify(table, hg.Check("x").has_max("price", at_most=5)).to_dict()
    (judgement,) = json.loads(json.dumps(found, allow_nan=False))["judgements"]
    assert (judgement["value"], judgement["reason"]) == (None, "max(price) is infinity, expected at most 5")
    found = analyze(table, ["max(price)", "mean(price)"]).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        "max(price)": {"type": "measured", "value": None},
        "mean(price)": {"type": "measured", "value": 1.5},
    }


@given(st.lists(st.one_of(st.none(), st.floats()), max_size=20), st.floats(allow_nan=False))
def test_extremes_and_rows_agree_on_every_bound(values: list[float | None], bound: float) -> None:
    table = pa.table({"x": pa.array(values, pa.float64())})
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    most = analyze(table, ["max(x)"])["max(x)"]
    assert most == Measured(max(numbers)) if numbers else not isinstance(most, Measured)
    rules = hg.Check("x").has_max("x", at_most=bound).is_in_range("x", high=bound)
    extreme, rows = hg.verify(table, rules).judgements
    present = [value for value in values if value is not None]
    assert (extreme.status.value == "fail") == any(value > bound for value in numbers)
    assert (rows.status.value == "fail") == any(not value <= bound for value in present)
