"""What people call a metric and how its values read: from what the metric declares, in one place for all pages."""

from __future__ import annotations

import pytest

from headgate.explain.metric_names import format_value, metric_label, tells_missing
from headgate.learn.metric_traits import traits_of
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import Kind

LABELS = {name: kind.label for name, kind in {**metrics(), **distances()}.items()}


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("size()", 1234.0, "1,234"),
        ("completeness(price)", 0.875, "12.5%"),
        ("approx_count_distinct(id)", 1023.4, "1,023"),
        ("unique_ratio(id)", 0.5, "50.0%"),
        ("new_values(id)", 0.00001, "0.001%"),
        ("unchanged(id)", 1.0, "yes"),
        ("mean(price)", 12.34567, "12.35"),
        ("compliance()", 0.123456, "12.3%"),
    ],
)
def test_a_value_reads_as_its_metric_declares(metric: str, value: float, text: str) -> None:
    assert format_value(traits_of(MetricKey.parse(metric)), value) == text


def test_values_of_a_temporal_column_are_moments_and_spans() -> None:
    day = 86_400.0
    assert format_value(traits_of(MetricKey("max", ("day",)), Kind.DATE), 20_000 * day) == "2024-10-04"
    assert format_value(traits_of(MetricKey("range", ("day",)), Kind.DATE), 3 * day) == "3 days"


def test_a_metric_that_people_must_read_about_has_no_label() -> None:
    assert metric_label(traits_of(MetricKey("entropy", ("id",)))) is None
    assert metric_label(traits_of(MetricKey("mean", ("price",)))) == "mean"


def test_a_metric_of_some_rows_is_not_called_by_the_name_of_all_rows() -> None:
    assert metric_label(traits_of(MetricKey("mean", ("price",), where="region = 'EU'"))) is None


def test_only_what_is_missing_is_shown_the_other_way_round() -> None:
    missing = {name for name in LABELS if tells_missing(traits_of(MetricKey(name, ("a",))))}
    assert missing == {"completeness", "finiteness"}
    assert not tells_missing(None)


def test_phrases_have_one_place_for_their_value_and_ranks_are_not_shared() -> None:
    phrases = [label for label in LABELS.values() if label.phrase]
    assert all(label.phrase.count("{}") == 1 for label in phrases)
    assert len({label.rank for label in phrases}) == len(phrases)
