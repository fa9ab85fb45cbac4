"""`python -m benchmarks.distances.quantiles`: bins against KLL sketches: errors of ranks, bytes and time.

Quantiles are of numbers, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from datasketches import kll_doubles_sketch

from headgate.metrics.states.quantiles import Quantiles

ROWS = 200_000
SHARES = np.linspace(0.01, 0.99, 99)
Floats = npt.NDArray[np.float64]


def _distributions(chance: np.random.Generator) -> dict[str, Floats]:
    half = ROWS // 2
    return {
        "uniform": chance.random(ROWS),
        "normal around 0": chance.normal(0, 1, ROWS),
        "normal around 1,000": chance.normal(1000, 1, ROWS),
        "log-normal": chance.lognormal(0, 2, ROWS),
        "prices": np.round(chance.lognormal(3, 1, ROWS), 2),
        "ids": np.arange(ROWS) + 1e9,
        "seconds of a day": 1.79e9 + chance.random(ROWS) * 86_400,
        "integers": chance.integers(0, 100_000, ROWS).astype(float),
        "Pareto": chance.pareto(1.1, ROWS) + 1,
        "Cauchy": chance.standard_cauchy(ROWS),
        "half over 58 powers of two": np.append(np.exp(chance.uniform(-20, 20, half)), chance.normal(1000, 1, half)),
    }


def _rank_error(values: Floats, found: Floats) -> float:
    low, high = (np.searchsorted(values, found, side) / len(values) for side in ("left", "right"))
    return max(0.0, float(np.maximum(low - SHARES, SHARES - high).max()))


def _time(make: Callable[[], object]) -> float:
    """Nanoseconds of CPU for each number, the least of five."""
    taken = []
    for _ in range(5):
        began = time.process_time()
        make()
        taken.append(time.process_time() - began)
    return min(taken) / ROWS * 1e9


def _make_kll(values: Floats) -> kll_doubles_sketch:
    sketch = kll_doubles_sketch(200)
    sketch.update(values)
    return sketch


def main() -> None:
    print(f"{'':28}{'rank error':>18}{'bytes, zstd':>16}{'ns a number':>14}")
    print(f"{'':28}{'KLL':>9}{'bins':>9}{'KLL':>8}{'bins':>8}{'KLL':>7}{'bins':>7}")
    for name, drawn in _distributions(np.random.default_rng(1)).items():
        values = np.sort(drawn)
        kll, bins = _make_kll(values), Quantiles.of(values)
        errors = [_rank_error(values, found) for found in (np.array(kll.get_quantiles(SHARES)), bins.quantiles(SHARES))]
        sizes = [len(pa.compress(each, "zstd", asbytes=True)) for each in (kll.serialize(), bins.indices + bins.counts)]
        times = [_time(lambda: _make_kll(values)), _time(lambda: Quantiles.of(values))]  # noqa: B023
        print(
            f"{name:28}{errors[0]:9.4f}{errors[1]:9.4f}{sizes[0]:8,}{sizes[1]:8,}{times[0]:7.0f}{times[1]:7.0f}",
        )


if __name__ == "__main__":
    main()
