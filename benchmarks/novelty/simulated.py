"""How often the next of exchangeable runs is beyond a ratio, beside what is stated, for docs/methods/novelty.md.

`python -m benchmarks.novelty.simulated` prints the table and writes results/simulated.json. Runs are drawn
as numbers, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.timing import versions
from headgate.learn.metric_traits import traits_of
from headgate.learn.novelty.model import Novelty
from headgate.learn.novelty.propose import TAIL_EXPONENT
from headgate.learn.past import Past
from headgate.values.key import MetricKey
from headgate.values.schema import Schema

FEATURES, HISTORIES, RUNS, RATIOS = 120, 1_000, (8, 14, 30), (1.0, 1.5, 2.0, 3.0, 4.0)
RESULT = Path(__file__).parent / "results" / "simulated.json"
Floats = npt.NDArray[np.float64]


def one_cause(random: np.random.Generator, runs: int) -> Floats:
    return random.standard_normal((runs, FEATURES)) + random.standard_t(3, (runs, 1)) * random.normal(size=FEATURES)


def noisy_days(random: np.random.Generator, runs: int) -> Floats:
    return random.standard_normal((runs, FEATURES)) * random.lognormal(0, 0.7, (runs, 1))


LAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "one cause for all features, t(3)": one_cause,
    "days of more noise, log-normal(0.7)": noisy_days,
}
MEASURES = tuple(traits_of(MetricKey("mean", (f"c{at}",))) for at in range(FEATURES))


def ratio(values: Floats) -> tuple[float, Novelty]:
    """The ratio of the last run, learned from the others."""
    past = Past(tuple(map(str, range(len(values) - 1))), MEASURES, values[:-1], (Schema(),), {})
    model = Novelty.learn(past)
    assert isinstance(model, Novelty)
    return float(model.scores_of(model.features.scale_rows(values[-1:]))[0] / model.usual), model


def measured() -> list[dict[str, Any]]:
    rows = []
    for name, law in LAWS.items():
        for runs in RUNS:
            random = np.random.default_rng(runs)
            drawn = [ratio(100 + law(random, runs + 1)) for _ in range(HISTORIES)]
            ratios, model = np.array([each for each, _ in drawn]), drawn[0][1]
            seen = {f"{each:g}": float((ratios > each).mean()) for each in RATIOS}
            stated = {f"{each:g}": each**-TAIL_EXPONENT * model.runs_beyond_usual / (runs + 1) for each in RATIOS}
            rows.append({"law": name, "runs": runs, "seen": seen, "stated": stated})
    return rows


if __name__ == "__main__":
    found = measured()
    about = {"features": FEATURES, "histories": HISTORIES, "rows": found, "versions": versions("numpy")}
    RESULT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for row in found:
        cells = [f"{row['seen'][each]:.1%} ({row['stated'][each]:.1%})" for each in row["seen"]]
        print(f"| {row['law']} | {row['runs']} | {' | '.join(cells)} |")
