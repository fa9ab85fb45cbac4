"""`python -m training.fold_costs`: measures what folds and the reading of rows cost; writes engine/fold_costs.json.

It takes about ten minutes on two cores. Every figure is the least CPU time of some tries, so that a busy machine does
little harm. Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, as `make train-fold-costs` does. `--only folds` leaves
the reading as it is, `--only reading` the folds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import headgate as hg
from benchmarks.engine.folds import least_cpu
from benchmarks.peers.machine import describe_machine
from benchmarks.process_tree import cpu_seconds
from benchmarks.timing import CACHE, session, versions
from headgate.engine import fold_costs
from headgate.engine.fold_costs import DICTIONARY, FEW_TEXTS, MANY_TEXTS, NUMBERS, FoldCost, FoldCosts, ReadCost
from headgate.engine.local import ROWS, open_local, row_test
from headgate.engine.scan import grows
from headgate.engine.spark_files import SWITCH
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric, PredicateMetric, TableMetric
from headgate.metrics.base.registry import metrics
from headgate.values.codec import pack_state
from headgate.values.schema import Column, Kind, Schema
from tests.laws.cases import parameters

TARGET = Path(fold_costs.__file__).with_name("fold_costs.json")
SHORT, LONG = 12, 48  # bytes of a text
TINY = 64  # rows of a batch whose time is that of a batch with hardly any
CATEGORIES = 200
ROUNDS, PATIENCE = 15, 1.5  # tries of a step, and seconds after which there are no more
CELLS = 20, 500_000  # columns and rows of the tables that are read
READ_ROUNDS = 5
FEW_ROWS = 1_000  # of the table by which the cost of a job is measured


class Reader(NamedTuple):
    """A metric that stands for its state, and how many columns and how many results of tests its fold is given."""

    metric: Metric[Any]
    width: int
    tests: int = 0

    def make_views(self, array: pa.Array, kind: Kind) -> list[ColumnBatch]:
        """New views of a batch, in which nothing is computed yet."""
        columns = [ColumnBatch(array, kind) for _ in range(self.width)]
        return columns + [ColumnBatch(pa.repeat(True, len(array)), Kind.BOOLEAN) for _ in range(self.tests)]


def measure_folds(rounds: int) -> dict[str, dict[str, FoldCost]]:
    """The cost of each state on each kind of column."""
    found: dict[str, dict[str, FoldCost]] = {}
    for name, kind, make in list_kinds():
        lengths = (SHORT, LONG) if fold_costs.has_length(name) else (SHORT,)
        columns = {length: make(np.random.default_rng(26), ROWS, length) for length in lengths}
        readers = list_readers(kind)
        found[name] = {state: _measure_state(columns, kind, state, readers, rounds) for state in sorted(readers)}
        print(name, {state: round(cost.price_own(SHORT)) for state, cost in found[name].items()}, flush=True)
    return found


def list_kinds() -> Iterator[tuple[str, Kind, Callable[[np.random.Generator, int, int], pa.Array]]]:
    """The kinds of columns by name, each with a function of how many values there are and how long they are."""
    yield FEW_TEXTS, Kind.STRING, lambda rng, count, length: pa.array(_choose(rng, count, length))
    yield MANY_TEXTS, Kind.STRING, lambda rng, count, length: pa.array(_write_texts(rng, count, length))
    yield DICTIONARY, Kind.STRING, lambda rng, count, length: pa.array(_choose(rng, count, length)).dictionary_encode()
    yield "binary", Kind.BINARY, lambda rng, count, length: pa.array(_write_texts(rng, count, length), pa.binary())
    yield "integer", Kind.INTEGER, lambda rng, count, _: pa.array(rng.integers(-(2**40), 2**40, count))
    yield "float", Kind.FLOAT, lambda rng, count, _: _with_nulls(rng, np.round(rng.lognormal(3.0, 1.0, count), 2))
    yield "decimal", Kind.DECIMAL, _write_decimals
    yield "boolean", Kind.BOOLEAN, lambda rng, count, _: pa.array(rng.random(count) < 0.3)
    yield (
        "date",
        Kind.DATE,
        lambda rng, count, _: pa.array(rng.integers(0, 20_000, count).astype("i4")).view(pa.date32()),
    )
    yield "timestamp", Kind.TIMESTAMP, _write_moments
    yield "other", Kind.OTHER, lambda rng, count, _: pa.array([[each, each] for each in range(count)])


def _choose(rng: np.random.Generator, count: int, length: int) -> list[str]:
    words = _write_texts(rng, CATEGORIES, length)
    return [words[at] for at in rng.integers(0, CATEGORIES, count).tolist()]


def _write_texts(rng: np.random.Generator, count: int, length: int) -> list[str]:
    """Texts of one length: digits and letters in two groups."""
    plain, half = rng.bytes(-(-count * length // 2)).hex(), length // 2
    return [f"{plain[at : at + half - 1]}-{plain[at + half : at + length]}" for at in range(0, count * length, length)]


def _with_nulls(rng: np.random.Generator, values: Any) -> pa.Array:
    return pa.array(values, mask=rng.random(len(values)) < 0.05)


def _write_decimals(rng: np.random.Generator, count: int, _: int) -> pa.Array:
    cents = rng.integers(0, 10**7, count).tolist()
    return pa.array([Decimal(each).scaleb(-2) for each in cents], pa.decimal128(12, 2))


def _write_moments(rng: np.random.Generator, count: int, _: int) -> pa.Array:
    return pa.array(1_700_000_000_000_000 + rng.integers(0, 10**13, count)).view(pa.timestamp("us"))


def list_readers(kind: Kind) -> dict[str, Reader]:
    """A metric for each state that a column of this kind can have; the first of those that read it."""
    found: dict[str, Reader] = {}
    for each in metrics().values():
        reader = _make_reader(each)
        if reader and kind in (each.accepts if reader.metric.inputs or each.every_column else {Kind.BOOLEAN}):
            found.setdefault(each.folded, reader)
    return found


def _make_reader(kind: type[Metric[Any]]) -> Reader | None:
    if issubclass(kind, (TableMetric, PredicateMetric)):
        metric = kind(**parameters(kind))
        return Reader(metric, len(metric.inputs) or 1)
    if kind.every_column:
        return Reader(kind(**parameters(kind)), 1)
    if issubclass(kind, ColumnMetric):
        return Reader(metric := kind("a", **parameters(kind)), 1, len(metric.memberships))
    if issubclass(kind, PairMetric):
        return Reader(kind("a", "b", **parameters(kind)), 2)
    if issubclass(kind, GroupMetric):
        metric = kind("a" if kind.least == 1 else ["a", "b"], **parameters(kind))
        return Reader(metric, kind.least, len(metric.memberships))
    return None


def _measure_state(
    columns: dict[int, pa.Array], kind: Kind, state: str, readers: dict[str, Reader], rounds: int
) -> FoldCost:
    """The cost of a state: fitted to batches of two sizes, and to texts of two lengths."""
    others = [each.metric for each in readers.values() if each.metric.folded != state and kind in each.metric.default]
    reader = readers[state]
    own, shared, batch = {}, {}, 0.0
    for length, array in columns.items():
        alone = _repeat(partial(_spend, reader, (), array, kind), rounds)
        beside = min(alone, _repeat(partial(_spend, reader, others, array, kind), rounds))
        batch = _repeat(partial(_spend, reader, others, array.slice(0, TINY), kind), rounds)
        own[length] = max(0.0, beside - batch) / len(array) * 1e9
        shared[length] = (alone - beside) / len(array) * 1e9
    first, slope = _fit_line(own)
    shared_first, shared_slope = _fit_line(shared)
    sizes = _measure_sizes(reader, columns[SHORT], kind)
    merge = 0.0
    if grows(reader.metric.state):
        merge = _repeat(partial(_spend_merge, reader, columns[SHORT], kind), rounds) / ROWS * 1e9
    return FoldCost(*map(_shorten, (first, shared_first, slope, shared_slope, batch * 1e6, *sizes, merge)))


def _spend(reader: Reader, others: Sequence[Metric[Any]], array: pa.Array, kind: Kind) -> float:
    """CPU seconds of one fold of a batch, after other folds have read it, and of adding its state to another.

    The addition counts for all columns of a fold. That of a state that grows is measured apart.
    """
    views = reader.make_views(array, kind)
    before = reader.metric.fold_views(reader.make_views(array, kind))
    for view in views[: reader.width]:
        for metric in others:
            metric.fold_views([view])
    begin = time.process_time()
    state = reader.metric.fold_views(views)
    folded = time.process_time()
    if not grows(reader.metric.state):
        _ = before + state
    return (folded - begin) / reader.width + time.process_time() - folded


def _spend_merge(reader: Reader, array: pa.Array, kind: Kind) -> float:
    """CPU seconds of adding the states of two halves of a batch, for each column of the fold."""
    halves = array.slice(0, len(array) // 2), array.slice(len(array) // 2)
    first, second = (reader.metric.fold_views(reader.make_views(half, kind)) for half in halves)
    begin = time.process_time()
    _ = first + second
    return (time.process_time() - begin) / reader.width


def _repeat(step: Callable[[], float], rounds: int) -> float:
    """The least that a step says it took, in some tries."""
    begin, spent = time.monotonic(), [step()]
    while len(spent) < rounds and time.monotonic() - begin < PATIENCE:
        spent.append(step())
    return min(spent)


def _measure_sizes(reader: Reader, array: pa.Array, kind: Kind) -> tuple[float, float]:
    """Bytes of the state, and by how much it grows with a value."""
    halves = [array.slice(0, len(array) // 2), array]
    small, whole = (len(pack_state(reader.metric.fold_views(reader.make_views(each, kind)))) for each in halves)
    growth = (whole - small) / (len(array) // 2) if grows(reader.metric.state) else 0.0
    return max(0.0, whole - growth * len(array)), growth


def _fit_line(by_length: dict[int, float]) -> tuple[float, float]:
    """What nanoseconds begin with, and by how much they grow with a byte; neither is below 0."""
    if len(by_length) == 1:
        return by_length[SHORT], 0.0
    slope = max(0.0, (by_length[LONG] - by_length[SHORT]) / (LONG - SHORT))
    return max(0.0, by_length[SHORT] - slope * SHORT), slope


def _shorten(value: float) -> float:
    return float(f"{value:.3g}")


# --- reading


def measure_reading() -> tuple[dict[str, dict[str, ReadCost]], dict[str, float]]:
    """The cost of reading a value by each way of reading, and of a job with hardly any rows."""
    ways: dict[str, Callable[[Path], Callable[[], Any]]] = {
        "pandas": lambda path: partial(_open_frame, pq.read_table(path).to_pandas()),
        "polars": lambda path: partial(_open_frame, polars.read_parquet(path)),
        "parquet": lambda path: partial(_scan_dataset, path, "parquet"),
        "csv": lambda path: partial(_scan_dataset, _write_csv(path), "csv"),
        "tasks": lambda path: partial(_analyze_spark, path, "true"),
        "spark": lambda path: partial(_analyze_spark, path, "false"),
    }
    reading, jobs = {}, {}
    for way, open_way in ways.items():
        spent = {
            (name, length): _least_of_tree(open_way(_write_table(name, length, CELLS[1])))
            for name in (NUMBERS, FEW_TEXTS, MANY_TEXTS)
            for length in ((SHORT,) if name == NUMBERS else (SHORT, LONG))
        }
        few = _least_of_tree(open_way(_write_table(NUMBERS, SHORT, FEW_ROWS)))  # last: a JVM is quicker by then
        reading[way] = {name: _fit_reading(name, spent, few) for name in (NUMBERS, FEW_TEXTS, MANY_TEXTS)}
        if way in ("tasks", "spark"):
            jobs[way] = _shorten(few)
        print(way, reading[way], jobs.get(way), flush=True)
    return reading, jobs


def _fit_reading(name: str, spent: dict[tuple[str, int], float], few: float) -> ReadCost:
    """What a value costs, beyond what hardly any rows take."""
    columns, rows = CELLS
    nanoseconds = {
        length: max(0.0, seconds - few) / columns / rows * 1e9
        for (kind, length), seconds in spent.items()
        if kind == name
    }
    return ReadCost(*map(_shorten, _fit_line(nanoseconds)))


def _write_table(name: str, length: int, rows: int) -> Path:
    """A Parquet file whose columns are all of one kind."""
    file = CACHE / "fold-costs" / f"{name.replace(' ', '-')}-{length}-{rows}.parquet"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(27)
        make = {FEW_TEXTS: _choose, MANY_TEXTS: _write_texts}.get(name)
        array = pa.array(rng.integers(-(2**40), 2**40, rows) if make is None else make(rng, rows, length))
        pq.write_table(pa.table({f"c{at}": array for at in range(CELLS[0])}), file, row_group_size=125_000)
    return file


def _least_of_tree(step: Callable[[], Any]) -> float:
    """The least CPU seconds of this process and all that it started; the first try is a warm-up."""
    step()
    spent = []
    for _ in range(READ_ROUNDS):
        begin = cpu_seconds(os.getpid())
        step()
        spent.append(cpu_seconds(os.getpid()) - begin)
    return min(spent)


def _open_frame(frame: Any) -> None:
    open_local(frame)


def _write_csv(path: Path) -> Path:
    file = path.with_suffix(".csv")
    if not file.exists():
        csv.write_csv(pq.read_table(path), file)
    return file


def _scan_dataset(path: Path, form: str) -> None:
    for batch in ds.dataset(path, format=form).to_batches(batch_size=ROWS):
        del batch


def _analyze_spark(path: Path, reads_files: str) -> None:
    """A scan whose folds cost next to nothing."""
    spark = session()
    spark.conf.set(SWITCH, reads_files)
    hg.analyze(spark.read.parquet(str(path)), [f"completeness(c{at})" for at in range(CELLS[0])]).outcomes  # noqa: B018


# --- predicates


def measure_predicates(rounds: int) -> tuple[float, float]:
    """Nanoseconds for a row to evaluate a simple predicate, and for a value to be filtered by it."""
    array = pa.array(np.random.default_rng(28).normal(size=ROWS))
    test = row_test("a > 0", Schema((Column("a", Kind.FLOAT, "double"),)), {})
    mask = test.of({"a": array}, ROWS)
    evaluated = least_cpu(lambda: test.of({"a": array}, ROWS), rounds)
    filtered = least_cpu(lambda: array.filter(mask), rounds)
    return _shorten(evaluated / ROWS * 1e9), _shorten(filtered / ROWS * 1e9)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument("--only", choices=("folds", "reading"))
    given = options.parse_args()
    known = fold_costs.load_fold_costs() if given.only else None
    columns = known.columns if known and given.only == "reading" else measure_folds(given.rounds)
    reading, jobs = (known.reading, known.jobs) if known and given.only == "folds" else measure_reading()
    machine = describe_machine()
    costs = FoldCosts(
        f"{machine['cores']} cores of {machine['processor']}",
        versions("headgate", "pyspark", "pyarrow", "numpy", "datasketches", "pandas", "polars"),
        columns,
        reading,
        jobs,
        *measure_predicates(given.rounds),
    )
    TARGET.write_text(fold_costs.format_fold_costs(costs), encoding="utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
