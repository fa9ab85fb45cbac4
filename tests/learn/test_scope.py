"""The scope of learning: which columns and metrics are in it, and how names are matched."""

from __future__ import annotations

import pytest

from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.schema import Kind, Schema

SCHEMA = Schema.of([(name, Kind.FLOAT, "double") for name in ("price", "qty_a", "qty_b", "etl_id")])


def test_without_settings_everything_is_learned_from() -> None:
    assert WHOLE_TABLE.choose_columns(SCHEMA) is SCHEMA
    assert WHOLE_TABLE.learns_metric(MetricKey.parse("mean(price)"))
    assert WHOLE_TABLE.describe() == ""


@pytest.mark.parametrize(
    ("scope", "labels"),
    [
        (LearningScope(ignore=("etl_id",)), ("price", "qty_a", "qty_b")),
        (LearningScope(columns=("qty_*",)), ("qty_a", "qty_b")),
        (LearningScope(columns=("qty_?", "price"), ignore=("*_b",)), ("price", "qty_a")),
        (LearningScope(columns=()), ()),
    ],
)
def test_columns_are_chosen_by_their_labels(scope: LearningScope, labels: tuple[str, ...]) -> None:
    assert scope.choose_columns(SCHEMA).labels == labels


@pytest.mark.parametrize("label", ["price [EUR]", "a*", "what?"])
def test_a_label_with_special_characters_matches_itself(label: str) -> None:
    assert not LearningScope(ignore=(label,)).learns_column(label)


def test_case_matters() -> None:
    assert LearningScope(ignore=("ETL_*",)).learns_column("etl_id")


@pytest.mark.parametrize(
    ("key", "is_learned"),
    [
        ("mean(price)", True),
        ("size()", True),
        ("stddev(price)", False),
        ("mean(etl_id)", False),
        ("correlation(price, etl_id)", False),
    ],
)
def test_a_metric_is_learned_by_its_name_and_all_of_its_columns(key: str, is_learned: bool) -> None:
    scope = LearningScope(metrics=("mean", "size", "correlation"), ignore=("etl_id",))
    assert scope.learns_metric(MetricKey.parse(key)) is is_learned


def test_metrics_of_the_table_are_not_bound_to_columns() -> None:
    assert LearningScope(columns=("price",)).learns_metric(MetricKey("size"))


def test_a_misspelled_metric_is_told_with_the_nearest_name() -> None:
    with pytest.raises(MisuseError, match="Did you mean 'completeness'"):
        LearningScope.of(metrics=["completness"])


def test_distances_are_metrics_too() -> None:
    assert LearningScope.of(metrics=["new_values"]).metrics == ("new_values",)


def test_one_name_may_be_given_alone() -> None:
    assert LearningScope.of("price", "mean", "etl_id") == LearningScope(("price",), ("mean",), ("etl_id",))


def test_ignoring_more_keeps_what_is_ignored_already() -> None:
    scope = LearningScope(ignore=("etl_id",))
    assert scope.with_ignored(["etl_id", "note"]).ignore == ("etl_id", "note")
    assert scope.with_ignored([]) is scope


def test_a_long_list_is_shortened_in_words() -> None:
    assert LearningScope(ignore=tuple(map(str, range(14)))).describe().endswith("11 and 2 more ignored")
