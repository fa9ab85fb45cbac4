"""Scoring runs against each other: a ball tree beside the arrays of `learn/novelty`, for docs/decisions/0025.

`python -m benchmarks.novelty.trees` prints the table and writes results/trees.json. Runs are drawn as
numbers, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import BallTree

from benchmarks.timing import in_turn, medians, seconds, versions
from headgate.learn.novelty.neighbours import aggregate_nearest, leave_one_out_scores, pairwise_gaps

RUNS, FEATURES, ROUNDS, NEIGHBOURS = (8, 30, 100, 400), (50, 500, 2_000), 7, 5
RESULT = Path(__file__).parent / "results" / "trees.json"
Floats = npt.NDArray[np.float64]


def by_tree(runs: Floats, batch: Floats) -> None:
    tree = BallTree(runs)
    tree.query(runs, NEIGHBOURS + 1)[0][:, 1:].mean(axis=1)
    tree.query(batch, NEIGHBOURS)[0].mean()


def by_arrays(runs: Floats, batch: Floats) -> None:
    leave_one_out_scores(runs, NEIGHBOURS)
    aggregate_nearest(pairwise_gaps(batch, runs).distances, NEIGHBOURS)


def measured() -> dict[str, Any]:
    random = np.random.default_rng(1)
    rows = []
    for count in RUNS:
        for size in FEATURES:
            runs, batch = random.random((count, size)), random.random((1, size))
            steps = {
                "ball tree": lambda runs=runs, batch=batch: by_tree(runs, batch),
                "arrays": lambda runs=runs, batch=batch: by_arrays(runs, batch),
            }
            taken = {name: round(1_000 * each, 2) for name, each in medians(in_turn(steps, ROUNDS)).items()}
            rows.append({"runs": count, "features": size, **taken})
    alone = [sys.executable, "-c", "import numpy, time; t = time.perf_counter(); import sklearn.neighbors"]
    bare = [sys.executable, "-c", "import numpy"]
    imports = [
        seconds(lambda: subprocess.run(alone, check=True)) - seconds(lambda: subprocess.run(bare, check=True))
        for _ in range(3)
    ]
    about = versions("numpy", "scikit-learn")
    return {"milliseconds": rows, "import of scikit-learn, seconds": round(sorted(imports)[1], 1), "versions": about}


if __name__ == "__main__":
    found = measured()
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for row in found["milliseconds"]:
        print(f"| {row['runs']} | {row['features']:,} | {row['ball tree']} | {row['arrays']} |")
    print(f"import of scikit-learn: {found['import of scikit-learn, seconds']} s")
