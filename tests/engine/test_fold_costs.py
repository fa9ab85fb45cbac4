"""The constants that `training.fold_costs` writes: what they have, and what stands for those that they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.engine import fold_costs
from headgate.engine.fold_costs import (
    DICTIONARY,
    FEW_TEXTS,
    MANY_TEXTS,
    FoldCost,
    FoldCosts,
    format_fold_costs,
    load_fold_costs,
    name_kind,
)
from headgate.metrics.base.metric import SchemaMetric
from headgate.metrics.base.registry import metrics
from headgate.values.schema import Column, Kind

FILE = Path(fold_costs.__file__).with_name("fold_costs.json")


def list_states(kind: Kind) -> set[str]:
    """The states that a column of this kind can have."""
    every = [each for each in metrics().values() if not issubclass(each, SchemaMetric)]
    return {each.folded for each in every if kind in each.accepts and "predicate" not in each.__struct_fields__}


def test_the_cost_of_every_state_is_measured_or_a_skip_says_which_is_not() -> None:
    costs = load_fold_costs()
    kinds = {kind.value: kind for kind in Kind if kind is not Kind.STRING}
    names = {**kinds, FEW_TEXTS: Kind.STRING, MANY_TEXTS: Kind.STRING, DICTIONARY: Kind.STRING}
    found = costs.list_unmeasured({name: list_states(kind) - {"size"} for name, kind in names.items()})
    if found:  # no failure: a metric is one file, and whoever has two quiet cores can measure later
        pytest.skip(f"not measured: {', '.join(found)}; make train-fold-costs measures them")


def test_a_state_that_nobody_measured_costs_what_the_middle_one_does() -> None:
    known = {"a": FoldCost(1.0, size=10.0), "b": FoldCost(5.0, own_byte=0.5, size=20.0), "c": FoldCost(90.0)}
    costs = FoldCosts("", {}, {"integer": known}, {}, {})
    assert costs.find_fold("integer", "b") == (known["b"], True)
    assert costs.find_fold("integer", "of another package") == (FoldCost(5.0, size=10.0), False)


def test_the_file_is_what_the_constants_are_written_as() -> None:
    assert format_fold_costs(load_fold_costs()) == FILE.read_text(encoding="utf-8")


def test_the_file_says_what_it_was_measured_on() -> None:
    costs = load_fold_costs()
    assert "cores of" in costs.machine
    assert {"python", "pyarrow", "pyspark", "numpy", "headgate"} <= set(costs.versions)


def test_no_constant_is_below_zero_and_dear_things_cost_more_than_cheap_ones() -> None:
    costs = load_fold_costs()
    for of_kind in costs.columns.values():
        assert all(
            min(cost.price_own(24), cost.price_shared(24), cost.batch, cost.size) >= 0 for cost in of_kind.values()
        )
    few, many = costs.columns[FEW_TEXTS], costs.columns[MANY_TEXTS]
    assert sum(each.price_own(24) for each in few.values()) < sum(each.price_own(24) for each in many.values())
    assert costs.reading["tasks"]["numbers"].value < costs.reading["spark"]["numbers"].value


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        (Kind.STRING, "string", MANY_TEXTS),
        (Kind.STRING, "dictionary<values=string, indices=int32, ordered=0>", DICTIONARY),
        (Kind.STRING, "category", DICTIONARY),
        (Kind.INTEGER, "dictionary<values=int64, indices=int32, ordered=0>", "integer"),
        (Kind.OTHER, "null", MANY_TEXTS),
        (Kind.OTHER, "list<item: int64>", "other"),
    ],
)
def test_types_are_kinds_of_columns(kind: Kind, text: str, name: str) -> None:
    assert name_kind(Column("c", kind, text)) == name
