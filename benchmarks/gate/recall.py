"""`python -m benchmarks.gate.recall`: which faults the gate holds, by rows of a batch and runs of history, at 1%.

The table is simulated: a key, a timestamp, prices around 24, log-normal amounts, whole numbers, a category of 8 values,
a text. Days differ a little in level, as real ones do. A good batch that is held is accepted, a broken one rejected.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.gate.good_batches import Row, judge_and_accept, write_results
from benchmarks.values_mode import open_memory

RESULTS = Path(__file__).parent / "results" / "recall.json"
BUDGET, ROWS, RUNS, SEEDS = 0.01, (20, 200, 2_000, 20_000), (7, 14, 30, 90), 3
START = datetime.datetime(2026, 1, 5)
CATEGORIES = np.array(["north", "south", "east", "west", "online", "phone", "partner", "other"])
CATEGORY_SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
Fault = Callable[[pa.Table, np.random.Generator], pa.Table]


def make_batch(rows: int, seed: int, number: int) -> pa.Table:
    """A good batch: each day has a level of its own, one in a hundred from the usual."""
    chance, day = np.random.default_rng([rows, seed, number]), START + datetime.timedelta(days=number)
    count = max(5, int(chance.normal(rows, 0.03 * rows)))
    level = 1 + 0.01 * chance.standard_normal(3)
    begin = np.datetime64(day, "us").astype(np.int64)
    return pa.table(
        {
            "id": [f"{number:04}-{row:06}" for row in range(count)],
            "at": pa.array(begin + (chance.beta(2, 2, count) * 86_400e6).astype(np.int64)).cast(pa.timestamp("us")),
            "price": np.round(np.abs(level[0] * chance.normal(24.0, 4.0, count)), 2),
            "amount": np.round(level[1] * chance.lognormal(3.0, 1.0, count), 2),
            "quantity": chance.poisson(4 * level[2], count),
            "region": chance.choice(CATEGORIES, count, p=CATEGORY_SHARES),
            "code": [f"{letter}-{digits:04}" for letter, digits in zip(*_draw_codes(chance, count), strict=True)],
        }
    )


def _draw_codes(chance: np.random.Generator, count: int) -> tuple[list[str], list[int]]:
    return chance.choice(list("ABCDEF"), count).tolist(), chance.integers(0, 9_999, count).tolist()


def _replace(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def _empty(share: float) -> Fault:
    def empty(table: pa.Table, chance: np.random.Generator) -> pa.Table:
        mask = np.zeros(len(table), bool)
        mask[chance.permutation(len(table))[: max(1, round(share * len(table)))]] = True
        return _replace(table, "amount", pc.if_else(pa.array(mask), None, table["amount"]))

    return empty


def _multiply(factor: float) -> Fault:
    return lambda table, _: _replace(table, "price", pc.multiply(table["price"], factor))


def _add_category(table: pa.Table, chance: np.random.Generator) -> pa.Table:
    mask = np.zeros(len(table), bool)
    mask[chance.permutation(len(table))[: max(1, len(table) // 50)]] = True
    return _replace(table, "region", pc.if_else(pa.array(mask), "unknown", table["region"]))


def _raise_maximum(table: pa.Table, chance: np.random.Generator) -> pa.Table:
    """One amount is a hundred times the largest of the batch."""
    mask = np.zeros(len(table), bool)
    mask[chance.integers(len(table))] = True
    largest = 100 * pc.max(table["amount"]).as_py()
    return _replace(table, "amount", pc.if_else(pa.array(mask), largest, table["amount"]))


FAULTS: dict[str, Fault] = {
    "0.5% null": _empty(0.005),
    "1% null": _empty(0.01),
    "3% null": _empty(0.03),
    "a new category in 2%": _add_category,
    "one value x100": _raise_maximum,
    "price x1.3": _multiply(1.3),
    "price x2": _multiply(2.0),
    "price x100": _multiply(100.0),
    "8 hours later": lambda table, _: _replace(
        table, "at", pc.add(table["at"], pa.scalar(datetime.timedelta(hours=8)))
    ),
    "a third missing": lambda table, chance: table.take(np.sort(chance.permutation(len(table))[: 2 * len(table) // 3])),
}


def judge_table(rows: int, seed: int) -> list[Row]:
    """All good batches of a table, and broken copies of some of them."""
    return list(_judge_table(rows, seed))


def _judge_table(rows: int, seed: int) -> Iterator[Row]:
    gate = hg.Gate("simulated", store=open_memory(), false_alarms=BUDGET)
    for number in range(max(RUNS) + 1):
        partition = str((START + datetime.timedelta(days=number)).date())
        batch, about = make_batch(rows, seed, number), {"rows": rows, "seed": seed, "runs": number}
        for name, fault in FAULTS.items() if number in RUNS else ():
            verdict = gate.judge(fault(batch, np.random.default_rng([seed, number])), partition)
            gate.reject(partition, number=verdict.revision.number)
            yield {
                **about,
                "fault": name,
                "held": not verdict.passed,
                "causes": [each.title for each in verdict.causes],
            }
        verdict = judge_and_accept(gate, partition, batch)
        yield {**about, "fault": "", "held": not verdict.passed, "causes": [each.title for each in verdict.causes]}
    print(rows, seed, flush=True)


def tabulate(rows: list[Row]) -> str:
    """How many broken batches are held after each number of runs, by fault and rows; last the good batches."""
    lines = ["| fault | " + " | ".join(f"{count:,} rows" for count in ROWS) + " |", "|---|" + "---:|" * len(ROWS)]
    for name in FAULTS:
        mine = [row for row in rows if row["fault"] == name]
        cells = [", ".join(_count_held(mine, count, runs) for runs in RUNS) for count in ROWS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    good = [
        [row["held"] for row in rows if row["rows"] == count and not row["fault"] and row["runs"]] for count in ROWS
    ]
    lines.append("| good batches | " + " | ".join(f"{sum(each)} of {len(each)}" for each in good) + " |")
    return "\n".join(lines)


def _count_held(rows: list[Row], count: int, runs: int) -> str:
    return str(sum(row["held"] for row in rows if (row["rows"], row["runs"]) == (count, runs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    cases = [(rows, seed) for rows in reversed(ROWS) for seed in range(SEEDS)]
    with ProcessPoolExecutor(arguments.workers, get_context("spawn")) as pool:
        found = [row for rows in pool.map(judge_table, *zip(*cases, strict=True)) for row in rows]
    write_results(arguments.results, found)
    print(tabulate(found))


if __name__ == "__main__":
    main()
