"""Every registered metric as something to try the laws on: an instance, and the kinds of column its fold is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, SchemaMetric
from headgate.metrics.base.registry import metrics
from headgate.metrics.correlation import Comoments
from headgate.metrics.states.moments import Moments
from headgate.values.schema import Kind
from headgate.values.state import State

# Values for parameters that have no default, by their name.
PARAMETERS: dict[str, Any] = {"predicate": "true", "pattern": "[0-9]", "table": "other", "type": "integer"}

EPSILON = float(np.finfo(float).eps)
SLACK = 64  # roundings that the merging of moments may add up to


class Case(NamedTuple):
    """A metric and the kinds of the columns that its fold is given."""

    metric: Metric[Any]
    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"{self.metric.folded}-{'-'.join(self.kinds)}"

    def fold(self, columns: Sequence[pa.Array]) -> State:
        views = [ColumnBatch(column, kind) for column, kind in zip(columns, self.kinds, strict=True)]
        return self.metric.fold_views(views)


def cases() -> list[Case]:
    """One for each fold and each kind it accepts; metrics that share a fold share its cases."""
    found = {(case.metric.folded, _fold_of(case.metric), case.kinds): case for case in every_case()}
    return list(found.values())


def every_case() -> Iterator[Case]:
    for kind in metrics().values():
        if issubclass(kind, SchemaMetric):  # has neither state nor fold
            continue
        for metric, width in instances(kind):
            if kind.every_column:
                yield from (Case(metric, (accepted, Kind.STRING)) for accepted in sorted(kind.accepts))
                continue
            for accepted in sorted(kind.accepts) if metric.inputs else [Kind.BOOLEAN]:
                yield Case(metric, (accepted,) * width + (Kind.BOOLEAN,) * len(metric.memberships))


def instances(kind: type[Metric[Any]]) -> Iterator[tuple[Metric[Any], int]]:
    """A metric of each number of columns it may have, with that number (or that of its predicates)."""
    given = parameters(kind)
    if issubclass(kind, SchemaMetric):
        yield kind(**given, **({"column": "a"} if "column" in kind.__struct_fields__ else {})), 0
    elif issubclass(kind, ColumnMetric):
        yield kind("a", **given), 1
    elif issubclass(kind, PairMetric):
        yield kind("a", "b", **given), 2
    elif issubclass(kind, GroupMetric):
        if kind.least == 1:
            yield kind("a", **given), 1
        yield kind(["a", "b"], **given), 2
    else:
        metric = kind(**given)
        yield metric, len(metric.inputs) + len(metric.predicates)


def parameters(kind: type[Metric[Any]]) -> dict[str, Any]:
    """Values for what has no default and is not a column."""
    columns = {"column", "columns", "left", "right"}
    needed = [field.name for field in msgspec.structs.fields(kind) if field.required and field.name not in columns]
    missing = [name for name in needed if name not in PARAMETERS]
    if missing:
        raise AssertionError(
            f"{kind.__name__} needs defaults for its parameters {missing}, so that the laws can be tried on it; "
            f"or name a value for each in PARAMETERS of {__name__}"
        )
    return {name: PARAMETERS[name] for name in needed}


def _fold_of(metric: Metric[Any]) -> object:
    return getattr(type(metric), "fold", type(metric).fold_views)


# --- when two states are the same


def assert_same(one: State, two: State) -> None:
    """Equal; numbers within the rounding of merging."""
    assert type(one) is type(two)
    allowed = _rounding(one, two)
    for field in one.__struct_fields__:
        mine, theirs = getattr(one, field), getattr(two, field)
        if isinstance(mine, State):
            assert_same(mine, theirs)
        elif isinstance(mine, float) and field in allowed:
            # past the range of a double nothing is promised but that it does not raise
            assert allowed[field] == np.inf or abs(mine - theirs) <= allowed[field], (field, one, two)
        else:
            assert mine == theirs, (field, one, two)


def _rounding(one: State, two: State) -> dict[str, float]:
    """By how much each field of floats may differ: a few units in the last place of what was added up."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if isinstance(one, Moments):
            return _rounding_of_moments(one)
        if isinstance(one, Comoments) and isinstance(two, Comoments):
            return _rounding_of_comoments(one, two)
        floats = [field for field in one.__struct_fields__ if isinstance(getattr(one, field), float)]
        return {field: SLACK * EPSILON * max(abs(getattr(one, field)), abs(getattr(two, field))) for field in floats}


def _rounding_of_moments(state: Moments) -> dict[str, float]:
    """The k-th sum has n terms of at most range^k, around a mean that is off by a rounding of the largest value."""
    if state.low is None or state.high is None:
        return {}
    n, span = np.float64(state.count), np.float64(state.high) - np.float64(state.low)
    most = np.float64(max(abs(state.low), abs(state.high)))
    sums = {name: n * span**k * (span + most) for k, name in enumerate(("second", "third", "fourth"), start=1)}
    # the way to the mean leads over the sum and the span
    sums |= {"total": n * most, "mean": n * most + 0 * n * span}
    return {name: _share(largest) + float(n**4) * 1e-320 for name, largest in sums.items()}


def _share(largest: np.float64) -> float:
    """What may be off in a sum of this size; anything, where a term of it may be past a double."""
    return float(SLACK * EPSILON * largest) if np.isfinite(SLACK * largest) else float("inf")


def _rounding_of_comoments(one: Comoments, two: Comoments) -> dict[str, float]:
    """The same for pairs, whose range is at most the root of twice the squares."""
    left = np.sqrt(2 * np.float64(max(one.left_squares, two.left_squares)))
    right = np.sqrt(2 * np.float64(max(one.right_squares, two.right_squares)))
    far_left, far_right = left + abs(one.left), right + abs(one.right)
    sums = {
        "left": far_left,
        "right": far_right,
        "left_squares": left * (left + far_left),
        "right_squares": right * (right + far_right),
        "products": left * (right + far_right) + right * (left + far_left),
    }
    return {name: _share(one.count * largest) + 1e-300 for name, largest in sums.items()}
