"""The result of a scan: it merges as the data would, saves, loads, prints, and loses nothing to what went wrong."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.engine.scan import Accumulator
from headgate.metrics.base import registry
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.mean import Mean
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.moments import Moments
from headgate.values.codec import Head, encode, seal
from headgate.values.errors import CorruptBytes, HeadgateError, MisuseError
from headgate.values.expectation import Expectation, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome, Undefined
from headgate.values.predicate import Between
from headgate.values.verdict import judge
from tests.pages import HOSTILE, Seen, assert_harmless, coloured, terminal
from tests.strategies import tables

TABLE = pa.table({"price": [1.0, 3.0, None, 8.0], "region": ["EU", "US", "EU", None], "id": [1, 2, 3, 4]})
ASKED = [
    "size()",
    "mean(price)",
    "stddev(price)",
    "median(price)",
    "completeness(region)",
    "value_distribution(region)",
    "uniqueness(region, id)",
    "mean(price) where \"region = 'EU'\"",
    'compliance(predicate="price > 2")',
    "mean(prise)",
    "mean(region)",
]


def assert_agree(found: Analysis, expected: Analysis) -> None:
    assert list(found) == list(expected)
    for key, outcome in expected.items():
        assert_equal(found[key], outcome)


def assert_equal(found: Outcome, expected: Outcome) -> None:
    match found, expected:
        case Measured(float(value)), Measured(float(wanted)):
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        case _:
            assert found == expected


# --- merging


@pytest.mark.parametrize("cut", range(5))
def test_the_sum_of_two_analyses_is_the_analysis_of_both_tables(cut: int) -> None:
    parts = [analyze(part, ASKED) for part in (TABLE.slice(0, cut), TABLE.slice(cut))]
    assert_agree(parts[0] + parts[1], analyze(TABLE, ASKED))
    assert_agree(parts[1] + parts[0], analyze(TABLE, ASKED))


@settings(max_examples=30)
@given(tables(), st.data())
def test_the_defaults_of_any_table_merge_as_the_table_would(data: pa.Table, drawn: st.DataObject) -> None:
    cut = drawn.draw(st.integers(0, data.num_rows))
    merged = analyze(data.slice(0, cut)) + analyze(data.slice(cut))
    whole = analyze(data)
    assert list(merged) == list(whole)
    for key in whole:
        # sums of numbers near the ends of a double round, or leave it, on another way
        if key.name not in {"mean", "stddev", "sum", "range"}:
            assert_equal(merged[key], whole[key])


def test_merging_many_analyses_in_any_order_gives_the_same() -> None:
    data = pa.table({"x": np.random.default_rng(5).normal(10, 3, 120), "s": [f"v{at % 9}" for at in range(120)]})
    parts = [analyze(data.slice(at, 10)) for at in range(0, 120, 10)]
    for order in (range(12), reversed(range(12)), [5, 3, 11, 0, 7, 1, 9, 2, 10, 4, 8, 6]):
        whole: Analysis | None = None
        for at in order:
            whole = parts[at] if whole is None else whole + parts[at]
        assert whole is not None
        assert_agree(whole, analyze(data))


def test_merging_leaves_its_parts_as_they_were() -> None:
    one, two = analyze(TABLE, ASKED), analyze(TABLE, ASKED)
    before = one.to_bytes()
    _ = one + two
    assert one.to_bytes() == before


def test_a_metric_whose_state_only_one_part_has_fails_and_says_so() -> None:
    merged = analyze(TABLE, ["mean(price)", "size()"]) + analyze(TABLE, ["size()", "mean(id)"])
    assert merged.value("size()") == 8.0
    for key in ("mean(price)", "mean(id)"):
        assert merged[key] == Failed("only one of the two analyses computed it")


def test_metrics_of_one_state_merge_though_each_part_asked_for_another() -> None:
    merged = analyze(TABLE, ["mean(price)"]) + analyze(TABLE, ["max(price)"])
    assert merged.outcomes == {
        MetricKey("mean", ("price",)): Measured(4.0),
        MetricKey("max", ("price",)): Measured(8.0),
    }


def test_a_sum_has_its_states_in_the_order_of_its_parts() -> None:
    found = analyze(TABLE)
    assert list((found + found).states) == list(found.states)


def test_a_metric_that_failed_in_one_part_fails_in_the_sum() -> None:
    narrow = pa.table({"region": ["EU"], "id": [9]})
    merged = analyze(TABLE, ["mean(price)", "size()"]) + analyze(narrow, ["mean(price)", "size()"])
    assert isinstance(merged["mean(price)"], Failed)
    assert merged.value("size()") == 5.0
    assert isinstance((merged + analyze(TABLE, ["mean(price)", "size()"]))["mean(price)"], Failed)


def test_what_is_left_of_too_many_groups_measures_but_does_not_merge() -> None:
    whole = analyze(TABLE, ["uniqueness(id)", "size()"])
    small = {key: state.shrink() for key, state in whole.states.items()}
    shrunk = Analysis(whole.schema, whole.metrics, small, {})
    assert shrunk["uniqueness(id)"] == whole["uniqueness(id)"] == Measured(1.0)
    for merged in (shrunk + whole, whole + shrunk, shrunk + shrunk):
        outcome = merged["uniqueness(id)"]
        assert isinstance(outcome, Failed)
        assert "too many groups" in outcome.why
        assert merged.value("size()") == 8.0
        assert isinstance((merged + whole)["uniqueness(id)"], Failed)


def test_what_is_left_of_too_many_groups_merges_with_a_batch_without_rows() -> None:
    whole = analyze(TABLE, ["uniqueness(id)"])
    shrunk = Analysis(whole.schema, whole.metrics, {key: state.shrink() for key, state in whole.states.items()}, {})
    assert (shrunk + analyze(TABLE.slice(0, 0), ["uniqueness(id)"]))["uniqueness(id)"] == Measured(1.0)


# --- bytes


def test_an_analysis_reads_back_from_its_bytes() -> None:
    found = analyze(TABLE, ASKED)
    again = Analysis.from_bytes(found.to_bytes())
    assert again.to_bytes() == found.to_bytes()
    assert (again.schema, again.metrics, again.states, again.outcomes) == (
        found.schema,
        found.metrics,
        found.states,
        found.outcomes,
    )


@settings(max_examples=30)
@given(tables())
def test_the_analysis_of_any_table_reads_back_and_still_merges(data: pa.Table) -> None:
    found = analyze(data)
    again = Analysis.from_bytes(found.to_bytes())
    assert again.to_bytes() == found.to_bytes()
    assert again.to_dict() == found.to_dict()
    assert list(again + found) == list(found)


def test_truncated_or_altered_bytes_of_an_analysis_are_refused() -> None:
    stored = analyze(TABLE, ["mean(price)", "completeness(region)"]).to_bytes()
    for end in range(len(stored)):
        with pytest.raises(CorruptBytes):
            Analysis.from_bytes(stored[:end])
    for at in range(0, 8 * len(stored), 3):
        altered = bytearray(stored)
        altered[at // 8] ^= 1 << at % 8
        with pytest.raises(CorruptBytes):
            Analysis.from_bytes(bytes(altered))


@pytest.mark.parametrize(
    "stored",
    [
        encode(Moments(), "moments(price)"),
        seal(b"\xc1", Head("analysis", "")),
        seal(b"\x93\x01\x02\x03", Head("analysis", "")),
        b"",
        b"not an analysis at all, but long enough to be taken for an envelope",
    ],
    ids=["a state", "no msgpack", "another shape", "nothing", "text"],
)
def test_bytes_of_something_else_are_refused(stored: bytes) -> None:
    with pytest.raises(CorruptBytes):
        Analysis.from_bytes(stored)


# --- values


def test_an_outcome_is_found_by_text_by_key_and_by_metric() -> None:
    found = analyze(TABLE, ASKED)
    keys: list[Any] = ["mean(price)", " mean( price )", MetricKey("mean", ("price",)), Mean("price")]
    assert {found[key] for key in keys} == {Measured(4.0)}
    assert {found.value(key) for key in keys} == {4.0}
    assert "mean(price)" in found
    assert "max(price)" not in found


def test_an_analysis_is_a_mapping_in_the_order_asked() -> None:
    found = analyze(TABLE, ASKED)
    assert len(found) == len(ASKED)
    assert [str(key) for key in found] == ASKED
    assert dict(found) == found.outcomes


def test_a_metric_that_was_not_asked_for_is_a_key_error_with_a_hint() -> None:
    with pytest.raises(KeyError, match=r"Did you mean 'mean\(price\)'"):
        analyze(TABLE, ["mean(price)"])["mean(prise)"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("mean(prise)", "Did you mean 'price'"),
        ("mean(region)", "it accepts integer, float, decimal, boolean"),
        ("mean(price) where \"region = 'none'\"", "no values in scope"),
    ],
)
def test_a_value_that_is_not_there_is_an_error_that_says_why(key: str, why: str) -> None:
    with pytest.raises(MisuseError) as trouble:
        analyze(TABLE, [key]).value(key)
    assert isinstance(trouble.value, HeadgateError)
    assert why in str(trouble.value)
    assert "Index the analysis" in trouble.value.hint


def test_an_analysis_as_plain_data_is_json() -> None:
    plain = json.loads(json.dumps(analyze(TABLE, ASKED).to_dict(), allow_nan=False))
    assert plain["mean(price)"] == {"type": "measured", "value": 4.0}
    assert plain["mean(prise)"]["type"] == "failed"


def test_outcomes_go_straight_to_the_judge() -> None:
    found = analyze(TABLE, ASKED)
    keys = [MetricKey.parse(key) for key in ("mean(price)", "mean(prise)", "max(price)")]
    verdict = judge([Expectation(key, Between(0, 10)) for key in keys], found)
    assert [each.status for each in verdict.judgements] == [Status.PASS, Status.ERROR, Status.ERROR]


# --- for people


def test_an_analysis_prints_as_a_table() -> None:
    shown = repr(analyze(TABLE, ASKED)).split("\n")
    assert shown[0] == "11 metrics of 3 columns, from 8 states"
    assert any(line.split()[:3] == ["price", "mean", "4"] for line in shown)
    assert any("failed" in line and "Did you mean 'price'" in line for line in shown)
    assert any("EU 66.7%, US 33.3%" in line for line in shown)


def test_an_empty_analysis_prints_too() -> None:
    assert repr(analyze(TABLE, [])) == "0 metrics of 3 columns, from 0 states"
    assert "0 metrics of 3 columns" in analyze(TABLE, [])._repr_html_()


def test_a_filter_is_shown_as_it_was_written() -> None:
    shown = repr(
        analyze(
            TABLE, ['mean(price) where "isnan(price) or coalesce() is null"', 'pattern_match(region, pattern="()")']
        )
    )
    assert 'coalesce() is null"' in shown
    assert '"()"' in shown


@pytest.mark.parametrize("attack", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><b>"])
def test_names_and_values_cannot_write_html(attack: str) -> None:
    data = pa.table({attack: [attack, attack]})
    shown = analyze(data, [MetricKey("value_distribution", (attack,)), MetricKey("mean", (attack,), (), f"`{attack}`"),
                           MetricKey("mean", (attack + "?",))])._repr_html_()  # fmt: skip
    for forbidden in ("<script", "<img", "<b>", "onerror=alert(1)>"):
        assert forbidden not in shown
    assert shown.count("</table>") == 1


def test_a_failure_is_told_in_a_terminal_and_in_a_notebook() -> None:
    found = analyze(TABLE, ASKED)
    assert ("1;31", "failed") in coloured(found)
    assert "Did you mean 'price'" in terminal(found, 150)
    assert "failed" in Seen(found._repr_html_()).said


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_are_only_text_wherever_they_are_shown(name: str) -> None:
    data = pa.table({name: [name, name]})
    assert_harmless(analyze(data, [MetricKey("value_distribution", (name,)), MetricKey("mean", (f"{name}?",))]))
    assert_harmless(analyze(data, [MetricKey("size")], by=[name]))


@settings(max_examples=30)
@given(tables())
def test_the_analysis_of_any_table_prints(data: pa.Table) -> None:
    found = analyze(data)
    lines = repr(found).split("\n")
    assert len(lines) == 4 + len(found)
    assert found._repr_html_().count("<tr>") == 1 + len(found)


# --- what goes wrong stays where it is


class Broken(ColumnMetric[MatchCount], frozen=True):
    """Its fold raises where a value is 13; its measure where it has seen 7."""

    name: ClassVar = "broken"
    state: ClassVar = MatchCount
    folded: ClassVar = "broken"

    def fold(self, batch: ColumnBatch) -> MatchCount:
        if 13 in batch.array.to_pylist():
            raise RuntimeError("thirteen\nis bad luck")
        return MatchCount(0, batch.present)

    def measure(self, state: MatchCount) -> Outcome:
        if state.seen == 7:
            raise ZeroDivisionError("seven")
        return Measured(float(state.seen))


class Mistaken(Broken, frozen=True):
    """Its fold gives a state that it did not declare."""

    name: ClassVar = "mistaken"
    folded: ClassVar = "mistaken"

    def fold(self, batch: ColumnBatch) -> Any:
        return Moments()


@pytest.fixture
def broken_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.metrics()
    for kind in (Broken, Mistaken):
        monkeypatch.setitem(registry._found, kind.name, kind)


@pytest.mark.usefixtures("broken_metrics")
@pytest.mark.parametrize("rows", [[1, 13, 2], [13], [1] * 70_000 + [13], [13] + [1] * 140_000], ids=len)
def test_a_fold_that_raises_fails_its_metric_and_no_other(rows: list[int]) -> None:
    found = analyze(pa.table({"x": rows}), ["broken(x)", "mean(x)", "size()"])
    assert found["broken(x)"] == Failed("RuntimeError: thirteen\nis bad luck")
    assert found.value("size()") == len(rows)
    assert found.value("mean(x)") == pytest.approx(sum(rows) / len(rows))
    assert len(repr(found).split("\n")) == 7


@pytest.mark.usefixtures("broken_metrics")
def test_no_state_is_kept_of_a_fold_that_raised() -> None:
    found = analyze(pa.table({"x": [1] * 70_000 + [13]}), ["broken(x)", "size()"])
    assert [str(key) for key in found.states] == ["size()"]


@pytest.mark.usefixtures("broken_metrics")
def test_a_measure_that_raises_fails_its_metric_and_no_other() -> None:
    found = analyze(pa.table({"x": [0] * 7}), ["broken(x)", "mean(x)"])
    assert found["broken(x)"] == Failed("measuring broken(x) raised ZeroDivisionError: seven")
    assert found.value("mean(x)") == 0.0


@pytest.mark.usefixtures("broken_metrics")
def test_a_fold_that_gives_another_state_than_declared_fails() -> None:
    outcome = analyze(pa.table({"x": [1]}), ["mistaken(x)"])["mistaken(x)"]
    assert outcome == Failed("TypeError: the fold of mistaken gave Moments, not MatchCount")


@pytest.mark.usefixtures("broken_metrics")
def test_a_failure_is_saved_and_loaded_as_such() -> None:
    found = analyze(pa.table({"x": [13]}), ["broken(x)", "size()"])
    assert Analysis.from_bytes(found.to_bytes()).outcomes == found.outcomes


def test_a_metric_that_a_later_version_added_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = analyze(TABLE, ["mean(price)"]).to_bytes()
    registry.metrics()
    monkeypatch.delitem(registry._found, "mean")
    with pytest.raises(HeadgateError, match="'mean'"):
        Analysis.from_bytes(stored)


def test_everything_that_can_go_wrong_at_once_costs_no_sound_metric() -> None:
    wrong = ["mean(prise)", "mean(region)", 'mean(price) where "prise > 1"', 'mean(price) where "price > \'x\'"',
             'compliance(predicate="sleep(1)")', 'compliance(predicate="(")']  # fmt: skip
    found = analyze(TABLE, ["mean(price)", *wrong, "size()"])
    assert found.value("mean(price)") == 4.0
    assert found.value("size()") == 4.0
    assert [type(found[key]) for key in wrong] == [Failed] * len(wrong)


def test_an_undefined_metric_says_why() -> None:
    none = analyze(TABLE.slice(0, 0), ["mean(price)", "completeness(price)", "size()"])
    assert none["mean(price)"] == Undefined("no values in scope")
    assert none["completeness(price)"] == Undefined("no rows in scope")
    assert none["size()"] == Measured(0.0)


# --- adding up


@given(st.lists(st.integers(0, 100), min_size=1, max_size=40))
def test_an_accumulator_gives_the_sum_and_forgets_it(numbers: list[int]) -> None:
    held = Accumulator()
    for number in numbers:
        held.add(MatchCount(number, 1))
    assert held.take() == MatchCount(sum(numbers), len(numbers))
    assert held.take() is None
    assert held.weight == 0


def test_distributions_are_measured_largest_first() -> None:
    found = analyze(pa.table({"s": ["b", "a", "c", "a", "c", "c"]}), ["value_distribution(s)"]).value(
        "value_distribution(s)"
    )
    assert isinstance(found, Distribution)
    assert list(found.counts.items()) == [("c", 3), ("a", 2), ("b", 1)]
