"""`python -m benchmarks.patterns`: every method on a set of real columns; writes results/<set>.json.

A rule is learned from the values of a batch while it is judged, which are plain: no store has hidden them yet.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.patterns import corpus, experiments, kinds, learners
from benchmarks.patterns.baselines import every
from benchmarks.patterns.protocol import Benchmark, Flags, Judged, judged
from benchmarks.patterns.scores import DRAWS, SEED, Scores, applicable, scores
from benchmarks.timing import versions

RESULTS = Path(__file__).parent / "results"
ALL = "all"
APPLICABLE = "applicable"
SYNTACTIC = "syntactic"


AROUND: dict[str, Callable[[corpus.Set], Any]] = {
    "sizes": experiments.sizes,
    "calibration": lambda _: experiments.calibration(),
    "distribution": lambda _: experiments.distribution(),
    "sensitivity": experiments.sensitivity,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.patterns", description=__doc__)
    parser.add_argument("--set", choices=corpus.SETS, default="dev", help="the columns; parameters are chosen on dev")
    parser.add_argument("--only", choices=("baselines", "learners"), help="only these methods; writes no results")
    parser.add_argument(
        "--around", nargs="*", choices=AROUND, help="instead, what surrounds the table: all of it, or these parts"
    )
    given = parser.parse_args()
    if given.around is not None:
        around(given.set, given.around or list(AROUND))
        return
    found = run(given.set, given.only)
    print_tables(found)
    if given.only is None:
        write(given.set, found)


def write(name: str, found: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def around(chosen: corpus.Set, parts: list[str]) -> None:
    """What surrounds the main table, on one set; parts that are not made again stay as they are."""
    path = RESULTS / "around.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found |= {"set": chosen, "versions": versions("pyarrow", "numpy")}
    for name in parts:
        begin = time.perf_counter()
        found[name] = AROUND[name](chosen)
        print(f"{name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    write("around", found)


def run(chosen: corpus.Set, only: str | None = None) -> dict[str, Any]:
    """The scores of all methods on a set, for all cases, for the applicable ones, and for each kind."""
    benchmark = Benchmark(corpus.cases(chosen))
    rest = corpus.rest(corpus.held_out())
    methods = [
        *(every.methods(rest) if only != "learners" else []),
        *(learners.methods() if only != "baselines" else []),
    ]
    told = []
    for method in methods:
        begin = time.perf_counter()
        told.append(judged(method, benchmark))
        print(f"{method.name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    groups = groups_of(benchmark, told)
    return {
        "set": chosen,
        "versions": versions("pyarrow", "numpy", "scipy"),
        "seeds": {"development": corpus.SEED, "bootstrap": SEED},
        "draws": DRAWS,
        "columns": {"rest": rest.num_rows, "cases": len(benchmark)},
        "groups": {name: int(flags.sum()) for name, flags in groups.items()},
        "scores": {
            name: {each.method: as_dict(scores(each, benchmark.cases, flags)) for each in told}
            for name, flags in groups.items()
        },
    }


def groups_of(benchmark: Benchmark, told: list[Judged]) -> dict[str, Flags]:
    """The cases of each group of cases that tables are given for."""
    found = np.array([kinds.kind_of(case) for case in benchmark.cases])
    everything = np.ones(len(benchmark), np.bool_)
    known = {ALL: everything, APPLICABLE: applicable(told), SYNTACTIC: found != "text"}
    return known | {kind: found == kind for kind in kinds.KINDS}


def as_dict(found: Scores) -> dict[str, Any]:
    return {
        name: [round(each, 5) for each in value] if isinstance(value, tuple) else round(value, 5)
        for name, value in found._asdict().items()
    }


def print_tables(found: dict[str, Any]) -> None:
    for group, methods in found["scores"].items():
        print(f"\n{found['set']}, {group}: {found['groups'][group]} cases")
        print(f"{'method':16} rules  precision           recall              F1                  recall*   ms")
        for name, row in methods.items():
            print(
                f"{name:16} {row['rules']:>5}  {shown(row, 'precision')} {shown(row, 'recall')} {shown(row, 'f1')} "
                f"{row['recall_other']:.3f}   {row['milliseconds']:.1f}"
            )
    print("\nrecall*: columns of the same repository and name are no other columns")


def shown(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_interval"]
    return f"{row[name]:.3f} [{low:.3f} {high:.3f}]"


if __name__ == "__main__":
    main()
