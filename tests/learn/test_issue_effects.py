"""The effects of issues on metrics, as measured on samples, against what issues do to real batches."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn import issue_effects
from headgate.learn.issue_effects import AppliedEffect, IssueEffect, apply_to_latest, issues_of, measure_effects
from headgate.learn.metric_traits import traits_of
from headgate.learn.past import Past
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.run import Decision
from headgate.values.schema import Column, Kind, Schema
from tests.learn.histories import analysis, batch, commit, orders, orders_effects


def after(issue: str, metric: str, column: str, past: Past | None = None) -> float:
    """The metric of the newest run after the issue, by the measured effect."""
    base = past or orders()
    wanted = MetricKey.parse(metric)
    for each in apply_to_latest(orders_effects(), base):
        if each.column == column and issue in each.issues:
            keys = [base.metrics[place].key for place in each.metric_indices]
            return float(each.values[each.issues.index(issue), keys.index(wanted)])
    raise AssertionError(f"{issue} has no effect on {column}")


def now(metric: str) -> float:
    return float(orders().series(metric)[-1])


def test_nulls_lower_the_completeness_by_their_share() -> None:
    assert after('increased_nulls(share=0.5, value="null")', "completeness(price)", "price") == pytest.approx(0.5)
    assert after('increased_nulls(share=1.0, value="null")', "completeness(country)", "country") == 0.0


def test_blanks_are_no_nulls() -> None:
    assert after("increased_nulls(share=0.5)", "completeness(country)", "country") == 1.0


@pytest.mark.parametrize("factor", [10.0, 100.0, 1_000.0])
def test_another_unit_raises_the_mean_and_the_sum_by_its_factor(factor: float) -> None:
    assert after(f"unit_change(factor={factor})", "mean(price)", "price") == pytest.approx(
        now("mean(price)") * factor, rel=0.05
    )
    assert after(f"unit_change(factor={factor})", "sum(price)", "price") == pytest.approx(
        now("sum(price)") * factor, rel=1e-6
    )


@pytest.mark.parametrize("factor", [0.1, 0.5, 2.0, 10.0])
def test_another_volume_scales_rows_and_sums_and_nothing_else(factor: float) -> None:
    for metric in ("size()", "sum(price)"):
        assert after(f"volume_change(factor={factor})", metric, "") == pytest.approx(now(metric) * factor)
    volume = next(each for each in orders_effects() if not each.column)
    assert {each.key.name for each in volume.metrics} == {"size", "sum"}


def test_casing_changes_patterns_and_not_lengths() -> None:
    assert after("casing_change(share=1.0)", "pattern_l1(country)", "country") == pytest.approx(2.0, abs=0.05)
    assert after("casing_change(share=1.0)", "char_len(country)", "country") == pytest.approx(now("char_len(country)"))


def test_padding_makes_texts_longer() -> None:
    assert after("whitespace_padding(share=1.0)", "str_len(code)", "code") > now("str_len(code)") + 0.9


def test_shares_stay_between_nothing_and_all() -> None:
    for each in apply_to_latest(orders_effects(), orders()):
        share = [orders().metrics[place].share for place in each.metric_indices]
        found = each.values[:, share]
        assert (found[np.isfinite(found)] >= 0).all()
        assert (found[np.isfinite(found)] <= 1).all()


CLOSE = ("completeness", "mean", "sum", "size", "str_len", "char_len", "max", "min", "ks_dist")


@cache
def truly(issue: str, column: str) -> hg.Analysis:
    return hg.analyze(hg.inject_issue(batch(29), issue, column))


@pytest.mark.parametrize("column", ["price", "country", "code"])
def test_the_measured_effect_is_near_that_on_the_real_batch(column: str) -> None:
    """Most of the time: an issue that changes random characters changes others in the synthetic column."""
    kind = {each.label: each.kind for each in orders().schema.columns}[column]
    gaps = []
    for issue, made in issues_of(kind):
        if made.needs_neighbour:
            continue
        real = Past.of([analysis(29), truly(issue, column)])
        for key in {each.key for each in real.metrics} & {MetricKey(name, (column,)) for name in CLOSE}:
            true, measured = float(real.series(key)[-1]), after(issue, str(key), column)
            if np.isfinite(true) and np.isfinite(measured):
                gaps.append(abs(measured - true) / max(abs(true), abs(now(str(key))), 0.1))
    assert len(gaps) > 20
    assert np.median(gaps) < 0.05
    assert np.quantile(gaps, 0.9) < 0.6


def test_the_distance_of_values_after_an_issue_is_that_of_the_real_batch_however_many_values_it_has() -> None:
    random = np.random.default_rng(1)
    tables = [pa.table({"price": np.round(random.lognormal(3, 0.5, 500), 2)}) for _ in range(8)]
    past = Past.of(list(map(hg.analyze, tables)))
    wrong = hg.analyze(hg.inject_issue(tables[-1], "unit_change", "price", factor=100))
    key = MetricKey("value_l1", ("price",))
    place = [each.key for each in past.metrics].index(key)
    effect = next(each for each in apply_to_latest(measure_effects(past), past) if each.column == "price")
    row = effect.values[effect.issues.index("unit_change(factor=100.0)")]
    measured = row[effect.metric_indices.tolist().index(place)]
    assert past.outcomes(wrong)[key].value == pytest.approx(measured, abs=0.3)  # type: ignore[union-attr]


def test_no_distance_grows_beyond_its_most() -> None:
    random = np.random.default_rng(1)
    tables = [pa.table({"mail": [f"c{at}@example.org" for at in random.integers(0, 10**6, 200)]}) for _ in range(3)]
    past = Past.of(list(map(hg.analyze, tables)))
    for each in apply_to_latest(measure_effects(past), past):
        for place, values in zip(each.metric_indices, each.values.T, strict=True):
            if past.metrics[place].is_distance and past.metrics[place].key.name in distances():
                assert not (values > distances()[past.metrics[place].key.name].most).any()


def test_effects_apply_to_a_later_run_with_another_level() -> None:
    values = orders().values.copy()
    at = [str(each.key) for each in orders().metrics].index("sum(price)")
    values[-1, at] = 1e6
    later = dataclasses.replace(orders(), values=values)
    assert after("unit_change(factor=10.0)", "sum(price)", "price", later) == pytest.approx(1e7)


def test_effects_on_a_column_that_changed_its_kind_or_is_missing_are_left_out() -> None:
    columns = tuple(
        Column(each.label, Kind.STRING, "string") if each.label == "price" else each
        for each in orders().schema.columns
        if each.label != "code"
    )
    later = dataclasses.replace(orders(), schemas=(Schema(columns),) * len(orders()))
    assert {each.column for each in apply_to_latest(orders_effects(), later)} == {"", "id", "country"}


def test_metrics_that_a_later_run_does_not_have_are_left_out() -> None:
    places = [at for at, each in enumerate(orders().metrics) if each.key.name != "mean"]
    later = dataclasses.replace(
        orders(), metrics=tuple(orders().metrics[at] for at in places), values=orders().values[:, places]
    )
    price = next(each for each in apply_to_latest(orders_effects(), later) if each.column == "price")
    assert price.values.shape == (len(price.issues), len(price.metric_indices))
    assert "mean" not in {later.metrics[at].key.name for at in price.metric_indices}
    assert after("unit_change(factor=10.0)", "sum(price)", "price", later) == pytest.approx(now("sum(price)") * 10)


def test_the_same_past_gives_the_same_effects() -> None:
    def same(one: IssueEffect, other: IssueEffect) -> bool:
        return one.issues == other.issues and np.array_equal(one.broken, other.broken, equal_nan=True)

    assert all(map(same, measure_effects(orders()), orders_effects()))


def test_a_given_sample_replaces_the_synthetic_column() -> None:
    sample = {"price": pa.array([5.0] * 20)}
    price = next(each for each in measure_effects(orders(), sample) if each.column == "price")
    mean = [each.key.name for each in price.metrics].index("mean")
    assert price.clean[mean] == 5.0
    assert price.broken[price.issues.index("unit_change(factor=10.0)"), mean] == 50.0


def test_an_issue_of_a_column_counts_once_and_one_of_the_table_for_each_column() -> None:
    nothing = np.zeros(0, np.intp), np.zeros((1, 0))
    nulls = AppliedEffect("price", ("increased_nulls(share=0.5)",), *nothing)
    assert nulls.issue_ids == [(("price", "increased_nulls(share=0.5)"),)]
    volume = AppliedEffect("", ("volume_change(factor=2.0)",), *nothing, columns=("id", "price"))
    assert volume.issue_ids == [(("id", "volume_change(factor=2.0)"), ("price", "volume_change(factor=2.0)"))]


@pytest.mark.parametrize("kind", list(Kind))
def test_real_nulls_are_injected_into_every_kind(kind: Kind) -> None:
    nulls = [each for _, each in issues_of(kind) if each.name == "increased_nulls"]
    assert nulls
    names = [name for name, _ in issues_of(kind)]
    assert len(names) == len(set(names))
    assert not any(each.of_rows for _, each in issues_of(kind))


def test_a_neighbour_is_the_next_column_of_the_same_kind_or_the_issue_is_left_out() -> None:
    of = {each.column: each for each in orders_effects()}
    assert any(issue.startswith("schema_change") for issue in of["country"].issues)
    assert not any(issue.startswith("schema_change") for issue in of["price"].issues)


def test_effects_are_measured_from_a_store_that_hides_values() -> None:
    store = hg.open_store("memory:")
    for day in range(2):
        commit(store, str(day), batch(day), Decision.PUBLISHED)
    past = Past.read(store, "orders")
    found = {each.column: each for each in measure_effects(past)}
    assert set(found) == {"", "id", "price", "country", "code"}


def test_effects_on_booleans_are_measured_from_a_store_that_hides_values() -> None:
    store = hg.open_store("memory:")
    commit(store, "1", pa.table({"paid": [True, False, True]}), Decision.PUBLISHED)
    assert {each.column for each in measure_effects(Past.read(store, "orders"))} == {"", "paid"}


def test_a_sum_close_to_zero_gives_no_warning() -> None:
    """Scaling by it may exceed the largest double."""
    effect = IssueEffect(
        "x", None, ("nulls",), (traits_of(MetricKey("sum", ("x",))),), np.array([1e-300]), np.array([[1e200]])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(effect.apply_to(np.array([1e10]))).all()


def test_no_column_is_made_up_for_which_a_sample_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = issue_effects.synthesize
    monkeypatch.setattr(
        issue_effects, "synthesize", lambda column, *rest: made.append(column.label) or real(column, *rest)
    )
    measure_effects(orders(), {"price": pa.array([5.0] * 20)})
    assert "price" not in made
    assert made
