"""What is known of a metric before any value of it is seen."""

from __future__ import annotations

import pytest

from headgate.learn.metric_traits import Scale, traits_of
from headgate.metrics.base.registry import metrics
from headgate.metrics.distances.registry import distances
from headgate.values.key import MetricKey
from headgate.values.schema import Kind
from tests.learn.histories import traits


@pytest.mark.parametrize(
    ("metric", "kind", "scale"),
    [
        ("size()", None, Scale.SIZE),
        ("completeness(x)", Kind.FLOAT, Scale.SHARE),
        ("ks_dist(x)", Kind.FLOAT, Scale.SHARE),
        ("emd(x)", Kind.FLOAT, Scale.SPREAD),
        ("mean(x)", Kind.FLOAT, Scale.SPREAD),
        ("max(x)", Kind.TIMESTAMP, Scale.TIME),
        ("range(x)", Kind.DATE, Scale.TIME),
        ("sum(x)", Kind.INTEGER, Scale.SIZE),
    ],
)
def test_a_metric_moves_on_its_scale(metric: str, kind: Kind | None, scale: Scale) -> None:
    assert traits(metric, kind).scale is scale


def test_a_moment_is_a_place_of_a_temporal_column() -> None:
    assert traits("max(x)", Kind.TIMESTAMP).is_timestamp
    assert not traits("range(x)", Kind.TIMESTAMP).is_timestamp
    assert not traits("max(x)", Kind.FLOAT).is_timestamp


@pytest.mark.parametrize("name", sorted(distances()))
def test_every_distance_is_one(name: str) -> None:
    found = traits_of(MetricKey(name, ("x",)))
    assert found.is_distance
    assert found.column == "x"


@pytest.mark.parametrize("name", sorted(metrics()))
def test_every_metric_is_none(name: str) -> None:
    found = traits_of(MetricKey(name, ("x",)))
    assert not found.is_distance
    assert not (found.share and (found.additive or found.signed))


def test_a_metric_of_the_table_has_no_column() -> None:
    assert traits("size()").column == ""
