"""Pins: what a person may write, what is told of mistakes, and what a batch lacks."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.learn.pins import explain_distances, metrics_of_pins, read_pins
from headgate.values.errors import MisuseError
from headgate.values.expectation import Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured, Undefined
from headgate.values.predicate import Between
from headgate.values.schema import Kind, Schema

SCHEMA = Schema.of([("price", Kind.FLOAT, "double"), ("country", Kind.STRING, "string")])


def test_pins_are_declared_clauses_without_cost() -> None:
    pins = read_pins({"price": {"mean": [20, 30], "completeness": [0.99, None]}, "size": (900, 1100)})
    assert [str(each.metric) for each in pins] == ["mean(price)", "completeness(price)", "size()"]
    assert [each.expectation.predicate for each in pins] == [Between(20, 30), Between(low=0.99), Between(900, 1100)]
    assert all(each.pinned and each.cost == 0 and each.expectation.source is Source.DECLARED for each in pins)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"price": {"meen": (1, 2)}}, "Did you mean 'mean'"),
        ({"price": {"mean": (30, 20)}}, r"mean\(price\): the range 30..20 is empty. Write the smaller end first"),
        ({"price": {"mean": (None, None)}}, "at least one end"),
        ({"price": {"mean": 20}}, "not two numbers. Write price"),
        ({"price": {"mean": "12"}}, "not two numbers"),
        ({"price": {"mean": (True, 2)}}, "not two numbers"),
        ({"price": {"size": (1, 2)}}, "size takes 0 columns, not 1"),
        ({"mean": (1, 2)}, "mean takes 1 column, not 0"),
        ({"uniqueness": (1, 1)}, "needs one or more different columns"),
        ({"new_values": (0, 1)}, "a distance of a column"),
        ({"compliance": (1, 2)}, "cannot be pinned"),
        ({"price": {"histogram": (1, 2)}}, "is a distribution"),
        ([("price", 1)], "pins are a mapping"),
    ],
)
def test_a_mistake_says_what_to_write(given: Any, words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        read_pins(given)


def test_a_metric_with_parameters_is_pinned_with_their_defaults() -> None:
    (pin,) = read_pins({"price": {"approx_quantile": (1, 2)}})
    assert str(pin.metric) == "approx_quantile(price, q=0.5)"


def test_metrics_are_measured_by_the_scan_and_distances_are_not() -> None:
    pins = read_pins({"price": {"entropy": (0, 5), "new_values": (0, 0.1)}})
    assert [str(each) for each in metrics_of_pins(pins)] == ["entropy(price)"]


def test_a_distance_without_a_value_says_why() -> None:
    pins = read_pins({"price": {"ks_dist": (0, 1)}, "prise": {"ks_dist": (0, 1)}, "country": {"ks_dist": (0, 1)}})
    reasons = {key.columns[0]: each for key, each in explain_distances(pins, SCHEMA, {}).items()}
    assert reasons["price"] == Undefined("there are too few runs to compare with")
    assert isinstance(reasons["prise"], Failed)
    assert "Did you mean 'price'" in reasons["prise"].why
    assert isinstance(reasons["country"], Failed)
    assert "does not accept string columns" in reasons["country"].why


def test_a_distance_with_a_value_needs_no_reason() -> None:
    pins = read_pins({"price": {"ks_dist": (0, 1)}})
    assert explain_distances(pins, SCHEMA, {MetricKey("ks_dist", ("price",)): Measured(0.2)}) == {}
