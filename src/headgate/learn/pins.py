"""Ranges that a person fixed for metrics, instead of learned ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from headgate.engine.plan import explain_unfit
from headgate.learn.history.program import Clause
from headgate.learn.metric_traits import is_distance
from headgate.learn.scope import require_metric_name
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import from_key, metrics
from headgate.metrics.distances.registry import distances
from headgate.values.errors import BadPredicate, MisuseError
from headgate.values.expectation import Expectation
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Outcome, Undefined
from headgate.values.predicate import Between
from headgate.values.schema import Schema

PinnedRange: TypeAlias = Sequence[float | None]
"""The lowest and the highest value; None for no limit."""
Pins: TypeAlias = Mapping[str, PinnedRange | Mapping[str, PinnedRange]]
"""Ranges by metric of the table, or by column and metric: `{"size": (900, None), "price": {"mean": (20, 30)}}`."""

_EXAMPLE = "Write price: {mean: [20, 30]}, or size: [900, 1100] for a metric of the table."


def read_pins(pins: Pins) -> tuple[Clause, ...]:
    """The pinned clauses that a person wrote.

    A key with a range is a metric of the table, a key with a mapping is a column. Raises `MisuseError` with what to
    write instead.

    >>> print(*read_pins({"price": {"mean": (20, 30)}, "size": (900, None)}), sep="; ")
    mean(price) within 20..30 (pinned); size() at least 900 (pinned)
    """
    if not isinstance(pins, Mapping):
        raise MisuseError("pins are a mapping.", hint=_EXAMPLE)
    return tuple(clause for name, given in pins.items() for clause in _read_entry(name, given))


def _read_entry(name: str, given: Any) -> Iterator[Clause]:
    if isinstance(given, Mapping):
        for metric, ends in given.items():
            yield _make_clause(MetricKey(str(metric), (str(name),)), ends)
    else:
        yield _make_clause(MetricKey(str(name)), given)


def _make_clause(named: MetricKey, ends: Any) -> Clause:
    key = _complete_key(named)
    wrong = isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2
    if wrong or not all(end is None or (isinstance(end, int | float) and not isinstance(end, bool)) for end in ends):
        raise MisuseError(f"the range of {key} is not two numbers.", hint=_EXAMPLE)
    try:
        return Clause(Expectation(key, Between(*ends)), pinned=True)
    except BadPredicate as error:
        hint = "Write the smaller end first, and null or None for at most one of them."
        raise MisuseError(f"{key}: {str(error).removesuffix(error.hint).strip()}", hint=hint) from None


def _complete_key(key: MetricKey) -> MetricKey:
    """The key with all parameters of its metric. Raises unless the metric gives a number with their defaults."""
    require_metric_name(key.name)
    known = metrics().get(key.name)
    if known is None:
        if not key.columns:
            raise MisuseError(f"{key.name} is a distance of a column.", hint=f"Write price: {{{key.name}: [0, 0.1]}}.")
        return key
    try:
        metric = from_key(key)
    except MisuseError as error:
        raise MisuseError(f"{key} cannot be pinned: {error}", hint=_EXAMPLE) from None
    if known.distribution:
        raise MisuseError(f"{key} is a distribution, which lies in no range.", hint="Pin a metric that is a number.")
    return metric.key


def metrics_of_pins(pins: Iterable[Clause]) -> list[Metric[Any]]:
    """The metrics that a scan must measure so that the pins can be judged."""
    return [from_key(each.metric) for each in pins if each.metric.name in metrics()]


def explain_distances(
    pins: Iterable[Clause], schema: Schema, outcomes: Mapping[MetricKey, Outcome]
) -> dict[MetricKey, Outcome]:
    """Why pinned distances have no value: a column that the batch lacks, another type, or no run to compare with."""
    missing = [each.metric for each in pins if is_distance(each.metric) and each.metric not in outcomes]
    reasons = {key: explain_unfit(key, key.columns, distances()[key.name].accepts, schema) for key in missing}
    return {
        key: Failed(why) if why else Undefined("there are too few runs to compare with") for key, why in reasons.items()
    }
