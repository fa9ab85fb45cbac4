"""A plan is the least work for what was asked: equal metrics once, shared states folded once, and failures apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.engine.plan import Plan, make_plan
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.mean import Mean
from headgate.values.errors import BadMetricKey, HeadgateError, MisuseError, UnknownMetric
from headgate.values.key import MetricKey
from headgate.values.schema import Kind, Schema
from tests.laws.cases import instances

SCHEMA = Schema.of(
    [
        ("price", Kind.FLOAT, "double"),
        ("name", Kind.STRING, "string"),
        ("day", Kind.DATE, "date32[day]"),
        ("tags", Kind.OTHER, "list<item: string>"),
        ("name", Kind.STRING, "string"),
    ]
)

GOLDEN = """\
scan of 4 columns, 3 predicates -> 9 states
  size([true]) -> size
  moments(price) -> mean, stddev, min
  quantiles(price) -> median, approx_quantile
  moments(price) where [day > '2026-01-01'] -> mean
  lengths(name) -> str_len
  lengths(name#2) -> max_length
  correlation(price, day) -> correlation
  groups(name, day) -> uniqueness, entropy
  compliance([price > 2]) -> compliance
  failed: mean(prise): mean(prise) names the column 'prise'; there are price, name, day, tags, name#2. Did you mean 'price'?
  failed: mean(tags): mean does not accept list<item: string> columns, which 'tags' is; it accepts integer, float, decimal, boolean."""  # noqa: E501

ASKED = [
    "size()",
    "mean(price)",
    "stddev(price)",
    "min(price)",
    "median(price)",
    "approx_quantile(price, q=0.9)",
    "mean(price) where \"day > '2026-01-01'\"",
    "str_len(name)",
    'max_length("name#2")',
    "correlation(price, day)",
    "uniqueness(name, day)",
    "entropy(name, day)",
    'compliance(predicate="price > 2")',
    "mean(prise)",
    "mean(tags)",
    "mean(price)",
]


def plan(*asked: str | MetricKey) -> Plan:
    return make_plan(SCHEMA, asked)


def test_the_text_of_a_plan_is_golden() -> None:
    assert plan(*ASKED).text() == GOLDEN


def test_metrics_of_one_state_share_one_fold() -> None:
    assert len(plan("mean(price)", "stddev(price)", "min(price)").folds) == 1


def test_metrics_of_one_column_but_other_rows_do_not_share_a_fold() -> None:
    shared = plan("mean(price)", "min(price)", 'mean(price) where "day is null"', 'min(price) where "day is null"')
    assert len(shared.folds) == 2


def test_a_parameter_of_the_fold_parts_states_and_one_of_the_measure_does_not() -> None:
    assert len(plan("approx_quantile(price, q=0.1)", "approx_quantile(price, q=0.9)", "median(price)").folds) == 1
    assert len(plan('pattern_match(name, pattern="a")', 'pattern_match(name, pattern="b")').folds) == 2


def test_a_metric_asked_for_twice_is_computed_once() -> None:
    twice = make_plan(SCHEMA, ["mean(price)", Mean("price"), MetricKey("mean", ("price",))])
    assert len(twice.metrics) == len(twice.folds) == 1


def test_a_plan_reads_only_the_columns_it_needs_each_once() -> None:
    few = plan("mean(price)", "correlation(price, day)", "median(price)")
    assert [SCHEMA.columns[at].label for at in few.columns] == ["price", "day"]


def test_columns_of_one_name_are_read_by_their_places() -> None:
    both = plan("str_len(name)", 'str_len("name#2")')
    assert both.columns == (1, 4)
    assert [fold.positions for fold in both.folds] == [(0,), (1,)]


def test_a_failure_costs_no_other_metric() -> None:
    found = plan("mean(price)", "mean(name)", "mean(nmae)")
    assert [str(key) for key in found.failed] == ["mean(name)", "mean(nmae)"]
    assert len(found.folds) == 1
    assert "Did you mean 'name'?" in found.failed[MetricKey("mean", ("nmae",))].why


def test_a_plan_without_a_predicate_loses_just_the_metrics_that_need_it() -> None:
    whole = plan("mean(price)", 'mean(price) where "x"', 'compliance(predicate="x")', "size()")
    rest = whole.without("x", "it broke")
    assert {str(key): failed.why for key, failed in rest.failed.items()} == {
        'mean(price) where "x"': "it broke",
        'compliance(predicate="x")': "it broke",
    }
    assert rest.predicates == ("true",)
    assert rest.metrics == whole.metrics


@settings(max_examples=50)
@given(st.lists(st.sampled_from(ASKED), max_size=12))
def test_every_metric_has_a_fold_that_computes_its_state_or_a_failure(asked: list[str]) -> None:
    found = plan(*asked)
    states = [fold.metric.state_key for fold in found.folds]
    assert len(set(states)) == len(states)
    for metric in found.metrics:
        assert (metric.state_key in states) != (metric.key in found.failed)
    assert [str(metric.key) for metric in found.metrics] == [str(from_key(text).key) for text in dict.fromkeys(asked)]


# --- what is asked for wrongly


@pytest.mark.parametrize(
    ("text", "kind", "hint"),
    [
        ("meen(price)", UnknownMetric, "Did you mean 'mean'"),
        ("mean", BadMetricKey, "Write it like"),
        ("mean()", BadMetricKey, "takes 1 column, not 0"),
        ("mean(a, b)", BadMetricKey, "takes 1 column, not 2"),
        ("correlation(a)", BadMetricKey, "takes 2 columns, not 1"),
        ("size(price)", BadMetricKey, "takes 0 columns, not 1"),
        ("compliance(price)", BadMetricKey, "takes 0 columns, not 1"),
        ("mean(price, q=1)", BadMetricKey, "does not fit Mean"),
        ("pattern_match(name)", BadMetricKey, "does not fit PatternMatch"),
        ("uniqueness()", MisuseError, "one or more different columns"),
        ("uniqueness(a, a)", MisuseError, "one or more different columns"),
        ("approx_quantile(price, q=1.5)", MisuseError, "between 0 and 1"),
        ('approx_quantile(price, q="x")', BadMetricKey, "does not fit ApproxQuantile"),
        ("histogram(price, bins=0)", MisuseError, "1 to 1,000"),
        ('pattern_match(name, pattern="(")', MisuseError, "no regular expression"),
        ('pattern_match(name, pattern="(?=a)")', MisuseError, "Look-around"),
    ],
)
def test_misuse_is_refused_before_any_scan_with_a_word_on_what_to_do(text: str, kind: type, hint: str) -> None:
    with pytest.raises(kind) as trouble:
        plan(text)
    assert isinstance(trouble.value, HeadgateError)
    assert hint in str(trouble.value)


@pytest.mark.parametrize("name", metrics())
@pytest.mark.parametrize("kind", Kind)
def test_a_metric_refuses_a_column_of_a_kind_it_does_not_accept(name: str, kind: Kind) -> None:
    schema = Schema.of([("a", kind, "a type"), ("b", kind, "a type")])
    for metric, _ in instances(metrics()[name]):
        fits = not metric.inputs or kind in metric.accepts
        assert [str(key) for key in make_plan(schema, [metric]).failed] == [str(metric.key)] * (not fits)
