"""`python -m benchmarks.gate.drift`: on which day slow drift is told, and on which a batch is held for it.

After 35 good days of the simulated table of `recall.py` (500 rows), prices rise by a twentieth every day, or rows fall
by a fiftieth, or 1.66 points more of the amounts are null. A batch that is held is accepted. A fourth table does not
drift.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.gate.good_batches import Row, write_results
from benchmarks.gate.recall import START, make_batch
from benchmarks.values_mode import open_memory

RESULTS = Path(__file__).parent / "results" / "drift.json"
GOOD_DAYS, DRIFT_DAYS, ROWS, SEEDS = 35, 60, 500, 3
Drifted = Callable[[pa.Table, int, np.random.Generator], pa.Table]


def _raise_price(batch: pa.Table, day: int, _: np.random.Generator) -> pa.Table:
    return batch.set_column(2, "price", pc.multiply(batch["price"], 1.05**day))


def _drop_rows(batch: pa.Table, day: int, _: np.random.Generator) -> pa.Table:
    return batch.slice(0, round(len(batch) * 0.98**day))


def _empty_amounts(batch: pa.Table, day: int, chance: np.random.Generator) -> pa.Table:
    mask = np.zeros(len(batch), bool)
    mask[chance.permutation(len(batch))[: round(min(0.99, 0.0166 * day) * len(batch))]] = True
    return batch.set_column(3, "amount", pc.if_else(pa.array(mask), None, batch["amount"]))


CASES: dict[str, Drifted] = {
    "price x 1.05 a day": _raise_price,
    "rows x 0.98 a day": _drop_rows,
    "nulls + 1.66 points a day": _empty_amounts,
    "no drift": lambda batch, *_: batch,
}


def judge_table(case: str, seed: int) -> list[Row]:
    """Every day of a table on which something was told or held; day 1 is the first that drifts."""
    gate = hg.Gate("simulated", store=open_memory())
    rows: list[Row] = []
    for number in range(GOOD_DAYS + DRIFT_DAYS):
        day, partition = max(0, number - GOOD_DAYS + 1), str((START + datetime.timedelta(days=number)).date())
        batch = CASES[case](make_batch(ROWS, seed, number), day, np.random.default_rng([seed, number]))
        verdict = gate.judge(batch, partition)
        held = [each.title for each in verdict.causes] if not verdict.passed else []
        if held or verdict.drifts:
            rows.append({"case": case, "seed": seed, "day": day, "told": list(verdict.drifts), "held": held})
        if held:
            gate.accept(partition, number=verdict.revision.number)
    return rows


def tabulate(rows: list[Row]) -> str:
    """The first day on which each drift is told, and the first on which a batch is held for it, for each table."""
    lines = ["| drift | first told on day | first held on day | held in 95 days |", "|---|---:|---:|---:|"]
    for case in CASES:
        mine = [[row for row in rows if (row["case"], row["seed"]) == (case, seed)] for seed in range(SEEDS)]
        told, held = (
            [next((row["day"] for row in each if row[what]), None) for each in mine] for what in ("told", "held")
        )
        counts = [sum(bool(row["held"]) for row in each) for each in mine]
        cells = (", ".join("never" if day is None else str(day) for day in days) for days in (told, held, counts))
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    rows = [row for case in CASES for seed in range(SEEDS) for row in judge_table(case, seed)]
    write_results(RESULTS, rows)
    print(tabulate(rows))


if __name__ == "__main__":
    main()
