"""Which faults are named in a batch, in which order, and when none is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.diagnose import diagnose as module
from headgate.diagnose.diagnose import SURE, diagnose_batch
from headgate.diagnose.fault import faults
from headgate.diagnose.table_pair import TablePair
from headgate.engine.analysis import Analysis
from headgate.explain.causes import find_causes
from headgate.gate.gate import Gate
from headgate.learn.past import Past
from headgate.store.memory import MemoryStore
from headgate.values.diagnosis import Diagnosis
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from tests.diagnose.history import (
    BOTH,
    DAYS,
    change,
    diagnose,
    diagnose_one,
    draw_rows,
    judge,
    list_names,
    make_day,
    name_day,
    open_gate,
)
from tests.timing import measure_least_seconds

# --- several columns, several faults


@BOTH
def test_columns_with_the_same_fault_are_one_sentence(hide: bool) -> None:
    broken = make_day()
    for column in ("weight", "price"):
        broken = change(broken, column, lambda value: value * 1000)
    found = diagnose_one(broken, hide)
    assert found.columns == ("price", "weight")  # as they stand in the table
    words = "look multiplied by 1,000 (a thousandth of the unit, as metres for kilometres)"
    assert found.sentence == f"price and weight {words}"
    assert {each.split("(")[1].rstrip(")") for each in found.explains} == {"price", "weight"}


def test_two_faults_are_two_sentences() -> None:
    broken = change(change(make_day(), "price", lambda value: value * 100), "city", str.upper)
    assert {each.fault: each.columns for each in diagnose(broken)} == {"scaled": ("price",), "casing": ("city",)}


def test_faults_of_unlike_parameters_are_two_sentences() -> None:
    broken = change(change(make_day(), "price", lambda value: value * 100), "items", lambda value: value * 10)
    assert {each.columns: each.parameters for each in diagnose(broken)} == {
        ("price",): {"factor": 100.0},
        ("items",): {"factor": 10.0},
    }


def test_a_column_that_is_emptier_and_changed_has_two_faults() -> None:
    broken = change(change(make_day(), "price", lambda _: None, share=0.4), "price", lambda value: value * 100)
    assert sorted(list_names(broken)) == ["nulls", "scaled"]


def test_missing_rows_explain_columns_that_changed_with_them() -> None:
    found = diagnose_one(draw_rows(make_day(), 60))
    assert found.fault == "rows_missing"


def test_the_surest_comes_first() -> None:
    broken = change(change(make_day(), "price", lambda value: value * 100, share=0.3), "city", lambda _: None)
    found = diagnose(broken)
    assert [each.confidence for each in found] == sorted((each.confidence for each in found), reverse=True)
    assert all(each.confidence >= SURE for each in found)


def test_the_order_does_not_depend_on_the_order_of_what_failed() -> None:
    past, now = _analyze_wide(8)
    failed = _fail_means(8)
    one, two = (diagnose_batch(past, now.schema, now.states, _SIZE, each) for each in (failed, failed[::-1]))
    assert one == two
    assert one[0].columns == tuple(f"amount_{number}" for number in range(8))
    assert one[0].sentence.startswith("amount_0, amount_1, amount_2 and 5 more columns look multiplied by 100")


# --- a part of the rows


@BOTH
@pytest.mark.parametrize(
    ("column", "by", "fault"),
    [
        ("price", lambda value: value * 100, "scaled"),
        ("city", str.upper, "casing"),
        ("city", "{}  ".format, "padding"),
        ("items", lambda _: 9999, "placeholder"),
    ],
    ids=["scaled", "casing", "padding", "placeholder"],
)
def test_a_fault_in_a_part_of_the_rows_has_their_share(
    column: str, by: Callable[[object], object], fault: str, hide: bool
) -> None:
    found = diagnose_one(change(make_day(), column, by, share=0.35), hide)
    assert found.fault == fault
    assert found.share == pytest.approx(0.35, abs=0.07)


# --- nothing to name


def test_a_batch_that_passes_is_not_diagnosed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("nothing failed")

    monkeypatch.setattr(module, "TablePair", refuse)
    verdict = judge(make_day())
    assert verdict.passed
    assert verdict.account.diagnoses == ()


def test_without_a_past_nothing_is_named() -> None:
    now = hg.analyze(make_day())
    assert diagnose_batch(None, now.schema, now.states, {}, [MetricKey("size")]) == ()


def test_no_known_fault_is_named_for_garbage() -> None:
    random = np.random.default_rng(8)
    verdict = judge(change(make_day(), "city", lambda _: "".join(random.choice(list("qwertzuiop;'[]"), 9))))
    assert not verdict.passed
    assert verdict.account.diagnoses == ()
    assert verdict.causes[0].diagnosis is None


def test_noise_is_no_known_fault() -> None:
    random = np.random.default_rng(8)
    verdict = judge(change(make_day(), "celsius", lambda value: value + random.normal(0, 12)))
    assert not verdict.passed
    assert verdict.account.diagnoses == ()


def test_a_new_normal_is_not_named() -> None:
    """After the change is accepted, the numbers are as they are now."""
    gate = Gate("shop", store=MemoryStore(hide=True), false_alarms=0.01)
    for day in range(DAYS):
        dearer = change(make_day(day), "price", lambda value: value * 100) if day >= DAYS - 4 else make_day(day)
        verdict = gate.judge(dearer, name_day(day))
        if not verdict.passed:
            gate.accept(name_day(day))
    verdict = gate.judge(change(make_day(), "price", lambda value: value * 100), name_day(DAYS))
    assert verdict.account.diagnoses == ()


# --- what is told


def test_the_sentence_is_the_title_of_the_cause() -> None:
    verdict = judge(change(make_day(), "price", lambda value: value * 100))
    (cause,) = verdict.causes
    found = verdict.account.diagnoses[0]
    assert cause.title == found.sentence
    assert cause.diagnosis == found
    assert found.sentence in str(verdict.headline)
    assert [str(each.expectation.metric) for each in cause.judgements if each.expectation.metric.columns]


def test_a_verdict_that_is_read_again_has_its_diagnoses() -> None:
    verdict = judge(change(make_day(), "price", lambda value: value * 100))
    read = open_gate(True).explain(name_day(DAYS), verdict.revision.number)
    assert read.account.diagnoses == verdict.account.diagnoses
    assert find_causes(read.run.verdict.judgements, read.account)[0].diagnosis == verdict.account.diagnoses[0]


def test_every_fault_is_registered_under_its_name() -> None:
    assert [each.name for each in faults().values()] == list(faults()) == sorted(faults())


# --- how long it takes

_COLUMNS = 50
_MOST_SECONDS = 1.5
_SIZE: Mapping[MetricKey, Measured] = {MetricKey("size"): Measured(1000)}


def _make_wide(seed: int, columns: int, times: float = 1.0) -> pa.Table:
    random = np.random.default_rng(seed)
    numbers = {f"amount_{at}": np.round(random.lognormal(2 + at / 20, 0.6, 1000), 2) * times for at in range(columns)}
    return pa.table(numbers)


def _analyze_wide(columns: int) -> tuple[Past, Analysis]:
    past = Past.of([hg.analyze(_make_wide(seed, columns)) for seed in range(8)])
    return past, hg.analyze(_make_wide(99, columns, times=100.0))


def _fail_means(columns: int) -> list[MetricKey]:
    return [MetricKey("mean", (f"amount_{at}",)) for at in range(columns)]


def test_fifty_columns_are_diagnosed_in_a_moment(record_property: Callable[[str, object], None]) -> None:
    past, now = _analyze_wide(_COLUMNS)
    found: list[tuple[Diagnosis, ...]] = []

    def diagnose() -> None:
        found.append(diagnose_batch(past, now.schema, now.states, _SIZE, _fail_means(_COLUMNS)))

    seconds = measure_least_seconds(diagnose, _MOST_SECONDS / 4)
    record_property("seconds", seconds)
    print(f"{_COLUMNS} columns: {seconds:.3f} s of CPU")
    assert len(found[0][0].columns) == _COLUMNS
    assert seconds < _MOST_SECONDS


def test_a_pair_is_made_once_for_each_column() -> None:
    past, now = _analyze_wide(4)
    table = TablePair(past, now.schema, now.states, _SIZE, _fail_means(4))
    assert table.pairs is table.pairs


def test_the_guide_lists_every_fault() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "diagnosis.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(faults())
