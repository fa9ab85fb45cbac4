"""What the folds of the default metrics cost: nanoseconds of CPU a value, without Spark.

`python -m benchmarks.engine.folds [--rounds 15] [--columns UUIDs]` prints a row for each kind of column. Set
OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, as Spark's workers do.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.engine import data
from headgate.engine.plan import Fold, make_plan
from headgate.metrics.base.arrow import kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.registry import default_metrics
from headgate.values.schema import Column, Schema

SIZES = (25_000, 65_536)  # rows of a batch with texts on Spark, and of a batch of the local engine
TOGETHER = "default set"
TITLE = "folds"


def measure_folds(rounds: int, columns: str = "") -> dict[str, dict[str, float]]:
    """The least CPU time of each fold alone, and of all together, on one batch of each kind of column and size."""
    found: dict[str, dict[str, float]] = {}
    for count in SIZES:
        for name, array in make_columns(count):
            if columns not in name:
                continue
            spent = {state: least_cpu(step, rounds) for state, step in list_steps(array).items()}
            found[f"{name}, {count:,} values"] = {state: each / count * 1e9 for state, each in spent.items()}
    return found


def make_columns(count: int) -> Iterator[tuple[str, pa.Array]]:
    """One column of each kind, by name."""
    rng = np.random.default_rng(26)
    yield "UUIDs", data.uuid_strings(rng, count)
    numbers = rng.integers(0, 10**9, count).tolist()
    yield "codes", pa.array([f"INV-{2000 + number % 27}-{number:09d}" for number in numbers])
    yield "names", pa.array([f"{data.WORDS[number % 8]} {number % 977} {number:x}" for number in numbers])
    words = [f"{data.WORDS[at % len(data.WORDS)]} {at:05d}" for at in range(5_000)]
    yield "200 categories", pa.array(words[:200]).take(pa.array(rng.integers(0, 200, count)))
    picks = np.minimum(rng.zipf(1.3, count) - 1, 4_999)
    yield "5,000 by Zipf", pa.array(words).take(pa.array(picks, mask=rng.random(count) < 0.02))
    yield "200 categories, dictionary", pa.array(words[:200]).take(pa.array(picks % 200)).dictionary_encode()
    yield "integers", pa.array(rng.integers(-(2**40), 2**40, count))
    yield "small integers", pa.array(rng.integers(0, 100, count))
    yield "doubles", pa.array(rng.normal(100.0, 15.0, count))
    yield "prices, 5% null", pa.array(np.round(rng.lognormal(3.0, 1.0, count), 2), mask=rng.random(count) < 0.05)
    yield "timestamps", pa.array(1_700_000_000_000_000 + rng.integers(0, 10**13, count)).view(pa.timestamp("us"))
    cents = rng.integers(0, 10**7, count).tolist()
    yield "decimals", pa.array([Decimal(each).scaleb(-2) for each in cents], pa.decimal128(12, 2))


def list_steps(array: pa.Array) -> dict[str, Callable[[], Any]]:
    """Each fold of the default set alone, and all of them over one batch."""
    kind = kind_of(array.type)
    schema = Schema((Column("c", kind, str(array.type)),))
    folds = [fold for fold in make_plan(schema, default_metrics(schema)).folds if fold.metric.inputs]
    each = {fold.metric.folded: lambda fold=fold: _fold([fold], ColumnBatch(array, kind)) for fold in folds}
    return {**each, TOGETHER: lambda: _fold(folds, ColumnBatch(array, kind))}


def _fold(folds: Sequence[Fold], batch: ColumnBatch) -> None:
    for fold in folds:
        fold.metric.fold_views([batch])


def least_cpu(step: Callable[[], Any], rounds: int) -> float:
    """The least CPU seconds of this process, all of its threads included, that a step took."""
    spent = []
    for _ in range(rounds):
        begin = time.process_time()
        step()
        spent.append(time.process_time() - begin)
    return min(spent)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--columns", default="", help="only columns with this in their name")
    given = options.parse_args()
    for name, spent in measure_folds(given.rounds, given.columns).items():
        print(f"{name}: " + ", ".join(f"{state} {each:.0f}" for state, each in spent.items()), flush=True)


if __name__ == "__main__":
    main()
