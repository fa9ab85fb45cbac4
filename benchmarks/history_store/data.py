"""Runs to store: 200 columns with 30 metrics each, and runs that a real analysis made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.engine.analyze import analyze
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.run import Run
from headgate.values.schema import Column, Kind, Schema

Numbers = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

PER_COLUMN = 30


def keys(metrics: int) -> list[MetricKey]:
    return [MetricKey(f"metric_{at % PER_COLUMN}", (f"column_{at // PER_COLUMN}",)) for at in range(metrics)]


def random_doubles(source: np.random.Generator, metrics: int) -> npt.NDArray[np.float64]:
    """The worst case: every bit of every number is random, but for the exponent's."""
    return source.standard_normal(metrics)


def mixture(source: np.random.Generator, metrics: int) -> npt.NDArray[np.float64]:
    """Of six metrics, one is 0 or 1 (completeness), two are counts, one has two decimals, two are any double."""
    kind = np.arange(metrics) % 6
    return np.select(
        [kind == 0, kind <= 2, kind == 3],
        [
            (source.random(metrics) < 0.9).astype(float),
            source.integers(0, 2_000_000, metrics).astype(float),
            np.round(source.uniform(0, 1_000, metrics), 2),
        ],
        source.standard_normal(metrics),
    )


def runs(dataset: str, count: int, metrics: int, numbers: Numbers, begin: int = 0) -> Iterator[Run]:
    """Runs of consecutive partitions."""
    named = keys(metrics)
    schema = Schema(tuple(Column(f"column_{at}", Kind.FLOAT, "double") for at in range(-(-metrics // PER_COLUMN))))
    for at in range(begin, begin + count):
        values = numbers(np.random.default_rng(at), metrics).tolist()
        outcomes = {key: Measured(value) for key, value in zip(named, values, strict=True)}
        yield Run(dataset=dataset, partition=f"day {at}", fingerprint=f"input {at}", schema=schema, outcomes=outcomes)


def analyzed(columns: int, rows: int) -> Run:
    """A run as the local engine makes it with the default metrics: half numbers, half texts."""
    source = np.random.default_rng(7)
    table = {}
    for at in range(columns):
        if at % 2:
            table[f"text_{at}"] = pa.array([f"value {each}" for each in source.integers(0, 200 * at, rows)])
        else:
            table[f"number_{at}"] = pa.array(source.normal(at, 1 + at, rows))
    found = analyze(pa.table(table))
    return Run(
        dataset="analyzed",
        partition="day 0",
        fingerprint="input 0",
        schema=found.schema,
        outcomes=found.outcomes,
        states=found.states,
    )
