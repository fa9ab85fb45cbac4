"""`python -m benchmarks.patterns.scaling [--rounds N] [--columns N] [--folder F]`: what an index costs as a lake grows.

The corpus in a random order is written as Parquet files of ten columns each. Indexes of its first sixteenth, eighth and
so on are built by this process and by Spark in turn; a figure is the median of the rounds. Time is all of it: listing,
reading, enumerating, merging, writing the file. CPU seconds are those of the process and all below it (the JVM, Spark's
Python workers): others on the machine change them little. Writes results/scaling.json and results/scaling.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.patterns import corpus
from benchmarks.timing import cores, session, versions
from headgate.learn.patterns import index_file
from headgate.learn.patterns.build import build_index
from headgate.learn.patterns.enumerate import TAU
from headgate.learn.patterns.index_file import PatternFile

RESULTS = Path(__file__).parent / "results"
PARTS = 16
SIZES = (1, 2, 4, 8, 16)  # sixteenths
WIDTH = 10  # columns of a table
FLOORS = (1, 2, 3)
OTHER_TAU = 8
SEED = 20_261
PAPERS = 7_200_000  # columns of the paper's lake, indexed by 10 nodes in 1 to 3 hours
NODES, NODE_CORES = 10, 8
ALONE, SPARK = "this process", "Spark"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--folder", type=Path, help="where the lake is written, and removed from")
    options.add_argument("--columns", type=int, help="at most so many of the corpus, at random")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        found = experiment(Path(folder), given.rounds, given.columns)
    print(json.dumps(found, indent=1))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "scaling.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found)


def experiment(folder: Path, rounds: int, most: int | None = None) -> dict[str, Any]:
    parts = written(folder, most)
    load = [os.getloadavg()[0]]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    sizes: dict[int, dict[str, Any]] = {}
    build(SPARK, parts[:1], folder)  # starts the session
    for at in range(rounds):
        for size in SIZES:
            for way in (ALONE, SPARK):
                runs.setdefault((way, size), []).append(build(way, parts[:size], folder))
                sizes[size] = sizes.get(size) or measured(folder)
                print(f"round {at + 1}, {size}/{PARTS}, {way}: {runs[way, size][-1]}", file=sys.stderr, flush=True)
        load.append(os.getloadavg()[0])
    other = {way: build(way, parts, folder, OTHER_TAU) for way in (ALONE, SPARK)}
    ways = {way: summary([runs[way, size] for size in SIZES], spread(way)) for way in (ALONE, SPARK)}
    return {
        "rounds": rounds,
        "seed": SEED,
        "tau": TAU,
        "load_average": [round(each, 2) for each in load],
        **versions("pyspark", "pyarrow", "numpy"),
        "ways": ways,
        f"tau {OTHER_TAU}, all columns, one round": other,
        "index": {
            "sizes": list(sizes.values()),
            "growth": {floor: growth(list(sizes.values()), floor) for floor in FLOORS},
        },
        "papers_lake": {"columns": PAPERS, "paper": "10 nodes, 1 to 3 hours"}
        | {way: cost(told["cpu_seconds_a_column"]) for way, told in ways.items()},
    }


def spread(way: str) -> int:
    return cores() if way == SPARK else 1


def written(folder: Path, most: int | None = None) -> list[Path]:
    """The corpus in sixteen folders."""
    values = corpus.corpus()["values"].combine_chunks()
    order = np.random.default_rng(SEED).permutation(len(values))[:most]
    tables = np.array_split(order, -(-len(order) // WIDTH))
    parts = [folder / f"lake{at:02}" for at in range(PARTS)]
    for part in parts:
        part.mkdir()
    for at, chosen in enumerate(tables):
        columns = values.take(pa.array(chosen)).to_pylist()
        longest = max(map(len, columns))
        padded = {f"c{place}": each + [None] * (longest - len(each)) for place, each in enumerate(columns)}
        pq.write_table(pa.table(padded), parts[at * PARTS // len(tables)] / f"t{at:05}.parquet")
    return parts


def build(way: str, parts: Sequence[Path], folder: Path, tau: int = TAU) -> dict[str, float]:
    clock = cpu if way == SPARK else time.process_time
    before = clock()
    built = build_index(parts, folder / "index.hgi", spark=session() if way == SPARK else None, tau=tau)
    return {"columns": built.columns, "seconds": built.seconds, "cpu_seconds": clock() - before, "bytes": built.bytes}


def cpu() -> float:
    """CPU seconds of this process and of all that live below it.

    Spark ends its workers a minute after their last task, and their time is gone with them: none ends during a job.
    """
    spent: dict[int, float] = {}
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may have ended
            fields = stat.read_text().rpartition(")")[2].split()
            process = int(stat.parent.name)
            spent[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            below.setdefault(int(fields[1]), []).append(process)
    waiting, total = [os.getpid()], 0.0
    while waiting:
        process = waiting.pop()
        total += spent.get(process, 0.0)
        waiting += below.get(process, [])
    return total


def measured(folder: Path) -> dict[str, Any]:
    """The bytes of the index that was built last, at every floor."""
    sizes = {}
    with PatternFile.open(folder / "index.hgi") as index:
        columns = index.about["columns"]
        for floor in FLOORS:
            chunks = (chunk.at_least(floor) for chunk in index.read_chunks())
            index_file.write_index(folder / "floor.hgi", chunks, index.about)
            sizes[floor] = (folder / "floor.hgi").stat().st_size
        per = {floor: round(size / columns) for floor, size in sizes.items()}
        return {"columns": columns, "patterns": len(index), "bytes": sizes, "bytes_a_column": per}


def summary(runs: Sequence[Sequence[dict[str, float]]], used: int) -> dict[str, Any]:
    """Medians by size, and the lines through them that are nearest in relative terms."""
    columns = np.array([each[0]["columns"] for each in runs])
    found: dict[str, Any] = {"cores": used, "columns": columns.astype(int).tolist()}
    for name in ("seconds", "cpu_seconds"):
        spent = np.array([statistics.median(run[name] for run in each) for each in runs])
        slope, start = np.polyfit(columns, spent, 1, w=1 / spent)
        deviation = np.abs(spent / (start + slope * columns) - 1).max()
        found |= {
            f"median_{name}": spent.round(2).tolist(),
            f"{name}_start": round(float(start), 3),
            f"{name}_a_column": float(f"{slope:.4g}"),
            f"{name}_largest_deviation_from_linear": round(float(deviation), 4),
            f"{name}_of_runs": [[round(run[name], 2) for run in each] for each in runs],
        }
        core_seconds = spent * (used if name == "seconds" else 1)
        found[f"columns_a_second_and_core, {name}"] = (columns / core_seconds).round(1).tolist()
    return found


def growth(sizes: Sequence[dict[str, Any]], floor: int) -> dict[str, float]:
    """bytes = c * columns ** exponent, through the last three sizes, and what that gives for the paper's lake."""
    last = sizes[-3:]
    logs = np.log([each["columns"] for each in last]), np.log([each["bytes"][floor] for each in last])
    exponent, scale = np.polyfit(*logs, 1)
    gigabytes = float(np.exp(scale + exponent * np.log(PAPERS))) / 1e9
    return {"exponent": round(float(exponent), 3), "papers_lake_gb": round(gigabytes, 1)}


def cost(cpu_seconds_a_column: float) -> dict[str, float]:
    hours = cpu_seconds_a_column * PAPERS / 3_600
    return {"core_hours": round(hours, 2), f"hours_on_{NODES}_x_{NODE_CORES}": round(hours / NODES / NODE_CORES, 3)}


def draw(found: dict[str, Any]) -> None:
    """Seconds against columns, both ways, with their lines."""
    import altair as alt

    points, ends = [], []
    for way, told in found["ways"].items():
        for columns, seconds in zip(told["columns"], told["median_cpu_seconds"], strict=True):
            points.append({"way": way, "columns": columns, "seconds": seconds})
        for columns in (0, told["columns"][-1]):
            line = told["cpu_seconds_start"] + told["cpu_seconds_a_column"] * columns
            ends.append({"way": way, "columns": columns, "seconds": line})
    colour = alt.Color("way:N", title=None, scale=alt.Scale(range=["#0b7285", "#e8590c"]))
    x, y = alt.X("columns:Q", title="columns of the lake"), alt.Y("seconds:Q", title="CPU seconds to the index file")
    lines = alt.Chart(alt.Data(values=ends)).mark_line(opacity=0.5).encode(x=x, y=y, color=colour)
    dots = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=60).encode(x=x, y=y, color=colour)
    chart = (lines + dots).properties(width=560, height=300, background="white", title="Building an index of patterns")
    chart.save(str(RESULTS / "scaling.svg"))


if __name__ == "__main__":
    main()
