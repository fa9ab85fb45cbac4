"""Small histories for the tests of programs: seeded days of one table, and pasts made of given series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.learn.issue_effects import IssueEffect, measure_effects
from headgate.learn.metric_traits import MetricTraits, traits_of
from headgate.learn.past import Past
from headgate.store.port import HistoryStore
from headgate.values.key import MetricKey
from headgate.values.run import Decision, Run
from headgate.values.schema import Kind, Schema

ROWS = 180  # so few that the sketch of their quantiles is exact, and each scan of a day gives the same
RUNS = 30


@cache
def batch(day: int) -> pa.Table:
    """One day of orders: about as many rows, prices and countries as on any other."""
    random = np.random.default_rng([20261, day])
    rows = int(random.normal(ROWS, ROWS * 0.03))
    return pa.table(
        {
            "id": np.arange(rows) + 1_000,
            "price": np.round(random.lognormal(3.0, 0.5, rows), 1),
            "country": random.choice(["DE", "FR", "US"], rows, p=[0.5, 0.3, 0.2]),
            "code": [
                f"{a:03}-{b:02}"
                for a, b in zip(random.integers(0, 999, rows), random.integers(0, 99, rows), strict=True)
            ],
        }
    )


@cache
def analysis(day: int) -> Analysis:
    return analyze(batch(day))


@cache
def orders(runs: int = RUNS) -> Past:
    """The first so many days."""
    return Past.of([analysis(day) for day in range(runs)])


@cache
def orders_effects() -> tuple[IssueEffect, ...]:
    return tuple(measure_effects(orders()))


def traits(text: str, kind: Kind | None = None) -> MetricTraits:
    return traits_of(MetricKey.parse(text), kind)


def past_of(series: Mapping[str, Sequence[float]], kind: Kind | None = None) -> Past:
    """A past of these series and nothing else."""
    values = np.array(list(series.values()), np.float64).T
    runs = len(values)
    names = tuple(map(str, range(runs)))
    return Past(names, tuple(traits(text, kind) for text in series), values, (Schema(),) * runs, {})


def commit(
    store: HistoryStore,
    partition: str,
    table: pa.Table,
    decision: Decision | None,
    *,
    fingerprint: str = "",
    **given: Any,
) -> None:
    """One run of the dataset `orders`, decided if a decision is given."""
    found = analyze(table)
    store.commit(
        Run(
            dataset="orders",
            partition=partition,
            fingerprint=fingerprint or partition,
            schema=found.schema,
            outcomes=found.outcomes,
            states=found.states,
            **given,
        )
    )
    if decision is not None:
        store.decide("orders", partition, decision)
