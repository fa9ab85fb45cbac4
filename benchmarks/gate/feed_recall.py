"""`python -m benchmarks.gate.feed_recall`: which faults the gate holds on every feed, by runs of history, at 1%.

The faults are those of `recall.py`. The column that is hit is drawn at random among those that the fault fits: nulls go
into a column that has none in this batch and the one before, a new category into a text of few values, factors onto
numbers that are no key. A good batch that is held is accepted, a broken one rejected.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.gate.good_batches import (
    Row,
    judge_and_accept,
    list_good_batches,
    make_gate,
    measure_feeds,
)
from benchmarks.history.cases import random
from benchmarks.history.feeds import Feed

RESULTS = Path(__file__).parent / "results" / "feed_recall.json"
BUDGET, RUNS = 0.01, (7, 14, 30, 90)
MOST_CATEGORIES, NEW_CATEGORY, NEW_SHARE = 50, "unknown", 0.02
HOURS = datetime.timedelta(hours=8)
SIZES = {"under 200 rows": (0, 200), "200 to 2,000": (200, 2_000), "more": (2_000, 10**9)}
Fault = Callable[[pa.Table, pa.Table, np.random.Generator], pa.Table | None]


def _choose(names: list[str], chance: np.random.Generator) -> str | None:
    return str(chance.choice(sorted(names))) if names else None


def _replace(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


def _draw_rows(table: pa.Table, count: int, chance: np.random.Generator) -> pa.Array:
    mask = np.zeros(len(table), bool)
    mask[chance.permutation(len(table))[: max(1, count)]] = True
    return pa.array(mask)


def _empty(share: float, table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _is_complete(table, before, each)], chance)
    if name is None:
        return None
    rows = _draw_rows(table, round(share * len(table)), chance)
    return _replace(table, name, pc.if_else(rows, pa.scalar(None, table[name].type), table[name]))


def _add_category(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _has_few_texts(table, each)], chance)
    if name is None:
        return None
    rows = _draw_rows(table, round(NEW_SHARE * len(table)), chance)
    return _replace(table, name, pc.if_else(rows, pa.scalar(NEW_CATEGORY, table[name].type), table[name]))


def _multiply(factor: float, table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _is_amount(table, each)], chance)
    if name is None:
        return None
    return _replace(table, name, _scale(table[name], factor))


def _raise_maximum(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """One value is a hundred times the largest of the batch."""
    name = _choose([each for each in _list_shared(table, before) if _is_amount(table, each)], chance)
    if name is None:
        return None
    largest = pa.scalar(100 * pc.max(table[name]).as_py(), table[name].type)
    return _replace(table, name, pc.if_else(_draw_rows(table, 1, chance), largest, table[name]))


def _shift(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _has_times(table, each)], chance)
    return None if name is None else _replace(table, name, pc.add(table[name], pa.scalar(HOURS)))


def _drop_third(table: pa.Table, _: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    return table.take(np.sort(chance.permutation(len(table))[: 2 * len(table) // 3]))


def _list_shared(table: pa.Table, before: pa.Table) -> list[str]:
    return [name for name in table.column_names if name in before.column_names]


def _is_complete(table: pa.Table, before: pa.Table, name: str) -> bool:
    return not table[name].null_count and not before[name].null_count


def _has_few_texts(table: pa.Table, name: str) -> bool:
    column = table[name]
    return pa.types.is_string(column.type) and 2 <= pc.count_distinct(column).as_py() <= MOST_CATEGORIES


def _is_amount(table: pa.Table, name: str) -> bool:
    """Whether a column has numbers above zero that repeat, or have decimals: keys neither repeat nor have decimals."""
    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return False
    largest = pc.max(column).as_py()
    if largest is None or not np.isfinite(largest) or largest <= 0 or pc.mean(column).as_py() <= 0:
        return False
    known = column.drop_null()
    has_decimals = pa.types.is_floating(column.type) and bool(pc.any(pc.not_equal(known, pc.round(known))).as_py())
    return has_decimals or 2 <= pc.count_distinct(known).as_py() < len(known)


def _has_times(table: pa.Table, name: str) -> bool:
    column = table[name]
    return pa.types.is_timestamp(column.type) and bool(pc.any(pc.not_equal(pc.hour(column), 0)).as_py())


def _scale(column: pa.ChunkedArray, factor: float) -> pa.ChunkedArray:
    scaled = pc.multiply(column.cast(pa.float64()), factor)
    return scaled if pa.types.is_floating(column.type) else pc.round(scaled).cast(column.type)


FAULTS: dict[str, Fault] = {
    "0.5% null": partial(_empty, 0.005),
    "1% null": partial(_empty, 0.01),
    "3% null": partial(_empty, 0.03),
    "a new category in 2%": _add_category,
    "one value x100": _raise_maximum,
    "numbers x1.3": partial(_multiply, 1.3),
    "numbers x2": partial(_multiply, 2.0),
    "numbers x100": partial(_multiply, 100.0),
    "8 hours later": _shift,
    "a third missing": _drop_third,
}


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """All good batches of a feed, and broken copies of some of them."""
    return list(_judge_feed(feed, make_gate(feed, false_alarms)))


def _judge_feed(feed: Feed, gate: hg.Gate) -> Iterator[Row]:
    before: pa.Table | None = None
    for number, (partition, table) in enumerate(list_good_batches(feed, max(RUNS) + 1)):
        about = {"feed": feed.title, "partition": partition, "runs": number, "rows": len(table)}
        for name, fault in FAULTS.items() if number in RUNS and before is not None else ():
            broken = fault(table, before, random(feed.title, partition, name))
            if broken is not None and not broken.equals(table):
                verdict = gate.judge(broken, partition)
                gate.reject(partition, number=verdict.revision.number)
                yield {**about, "fault": name, **_describe(verdict)}
        yield {**about, "fault": "", **_describe(judge_and_accept(gate, partition, table))}
        before = table
    print(feed.title, flush=True)


def _describe(verdict: hg.BatchVerdict) -> Row:
    return {"held": not verdict.passed, "causes": [each.title for each in verdict.causes[:3]]}


def tabulate(rows: list[Row]) -> str:
    """Held of judged broken batches by runs of history, then by rows of the batch; last the good batches."""
    lines = ["| fault | " + " | ".join([*(f"after {runs} runs" for runs in RUNS), *SIZES]) + " | all |"]
    lines.append("|---|" + "---:|" * (len(RUNS) + len(SIZES) + 1))
    for name in [*FAULTS, ""]:
        mine = [row for row in rows if row["fault"] == name and row["runs"]]
        by_runs = [[row for row in mine if row["runs"] == runs] for runs in RUNS]
        by_rows = [[row for row in mine if low <= row["rows"] < high] for low, high in SIZES.values()]
        cells = [f"{sum(row['held'] for row in each)}/{len(each)}" for each in [*by_runs, *by_rows, mine]]
        lines.append(f"| {name or 'good batches'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    measure_feeds(__doc__, judge_feed, BUDGET, RESULTS, tabulate)
