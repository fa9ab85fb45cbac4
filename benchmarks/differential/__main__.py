"""`python -m benchmarks.differential [--quick] [--only NAME]`: differential computation against scanning all again."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headgate as hg
from benchmarks.differential import data
from benchmarks.differential.many import many_parts, view_times
from benchmarks.differential.page import write_page
from benchmarks.differential.suites import FLIGHTS_SUITES, SUITES
from benchmarks.timing import in_turn, medians, seconds, session, versions

RESULTS = Path(__file__).parent / "results"
BY = ["week_day", "controversiality"]
DELTAS = 30
SIZES = (1, 2, 10, 20, 30)  # deltas at which everything is scanned again
FULL_ROUNDS = 2  # in which that is done: it shows a line, and takes most of the time

Run = Callable[[], dict[str, Any]]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="a tenth of the rows, 1 round; nothing is written")
    options.add_argument("--only", default="", help="run what has this in its name; the other results stay as they are")
    options.add_argument("--rounds", type=int, default=0)
    given = options.parse_args()
    rounds = 1 if given.quick else max(5, given.rounds)
    for name, run in _all(rounds, given.quick):
        if given.only in name:
            result = run()
            print(f"{name}: {json.dumps(result['summary'])}", flush=True)
            if not given.quick:
                _keep(name, result)


def _all(rounds: int, quick: bool) -> Iterator[tuple[str, Run]]:
    """What needs no Spark comes first: a JVM that has just started is busy compiling itself."""
    yield "many parts", lambda: _many(2_000, rounds, quick)
    # fewer rows than the labels that a summary holds: every column of different values fills its summaries
    yield "many small parts", lambda: _many(500, rounds, quick)
    for suite, asked in FLIGHTS_SUITES.items():
        yield f"flights {suite}", partial(_flights, asked, rounds)
    rows = data.ROWS // 10 if quick else data.ROWS
    for suite, asked in SUITES.items():
        yield f"replacement {suite}", partial(_replacement, rows, asked, rounds)
        yield f"views {suite}", partial(_views, rows, asked, rounds)
    for suite, asked in SUITES.items():
        yield f"append {suite}", partial(_append, rows, asked, rounds, SIZES[1:2] if quick else SIZES)
    yield "kept groups", partial(_kept, rows, rounds)


def _keep(name: str, result: dict[str, Any]) -> None:
    file = RESULTS / "differential.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    found[name] = {"versions": versions("pyspark", "pyarrow", "numpy", "datasketches", "msgspec"), **result}
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


def _read(root: Path, paths: Sequence[str]) -> Any:
    """Comments under their partitions' folders; the schema is told, so that reading starts no job of its own."""
    return session().read.schema(_schema(root)).option("basePath", str(root)).parquet(*paths)


@cache
def _schema(root: Path) -> Any:
    found = session().read.parquet(str(root / data.partitions()[0] / "part-00.parquet")).schema
    return found.add("week_day", "integer").add("controversiality", "integer")


def _replacement(rows: int, asked: Sequence[str], rounds: int) -> dict[str, Any]:
    root = data.comments(rows)
    everything = _read(root, [str(root)])
    built: list[hg.Parts] = []
    initial = seconds(lambda: built.append(hg.analyze(everything, asked, by=BY)))
    parts, names = built[0], iter(data.partitions() * 2)

    def replaced() -> None:
        newer = hg.analyze(_read(root, [str(root / next(names))]), asked, by=BY)
        assert len(newer) == 1
        (parts | newer).view().outcomes  # noqa: B018

    taken = in_turn({"full": lambda: hg.analyze(everything, asked).outcomes, "differential": replaced}, rounds)
    return _compared(taken, rows=everything.count(), partitions=len(parts), initial_seconds=initial)


def _views(rows: int, asked: Sequence[str], rounds: int) -> dict[str, Any]:
    root = data.comments(rows)
    everything = _read(root, [str(root)])
    parts = hg.analyze(everything, asked, by=BY)
    choices: dict[str, tuple[str, dict[str, Any]]] = {
        "one weekday": ("week_day = 3", {"week_day": 3}),
        "not controversial": ("controversiality = 0", {"controversiality": 0}),
        "weekend, controversial": (
            "week_day >= 5 AND controversiality = 1",
            {"week_day": [5, 6], "controversiality": 1},
        ),
        "workdays": ("week_day < 5", {"week_day": range(5)}),
    }
    steps: dict[str, Callable[[], Any]] = {}
    for name, (where, chosen) in choices.items():
        steps[f"full: {name}"] = partial(lambda where: hg.analyze(everything.where(where), asked).outcomes, where)
        steps[f"differential: {name}"] = partial(lambda chosen: parts.view(**chosen).outcomes, chosen)
    found = in_turn(steps, rounds)
    middle = medians(found)
    slowest = max(middle[name] for name in middle if name.startswith("differential"))
    return {"rows": everything.count(), "seconds": found, "median_seconds": middle, "summary": {"slowest": slowest}}


def _append(rows: int, asked: Sequence[str], rounds: int, sizes: Sequence[int]) -> dict[str, Any]:
    """30 deltas one after the other; at some sizes everything is scanned again, in some of the rounds."""
    root = data.comments(rows)
    frames = [_read(root, data.delta(root, number)) for number in range(DELTAS)]
    taken: dict[str, list[list[float]]] = {"differential": [[] for _ in frames], "full": [[] for _ in frames]}
    hg.analyze(frames[0], asked).outcomes  # noqa: B018
    for turn in range(rounds):
        state = hg.analyze(frames[0], asked)
        for number in range(1, DELTAS):
            sums: list[hg.Analysis] = []

            def grow(number: int = number, state: hg.Analysis = state, sums: list[hg.Analysis] = sums) -> None:
                sums.append(state + hg.analyze(frames[number], asked))
                sums[0].outcomes  # noqa: B018

            taken["differential"][number].append(seconds(grow))
            state = sums[0]
        for size in sizes if turn < FULL_ROUNDS else ():
            whole = _read(root, [path for number in range(size) for path in data.delta(root, number)])
            taken["full"][size - 1].append(seconds(lambda whole=whole: hg.analyze(whole, asked).outcomes))
    middle = {name: [statistics.median(each) if each else None for each in spent] for name, spent in taken.items()}
    second, thirtieth = (statistics.median(taken["differential"][at]) for at in (1, DELTAS - 1))
    summary = {"second": second, "thirtieth": thirtieth, "ratio": thirtieth / second}
    return {"rows_a_delta": rows * data.WEEKDAYS, "seconds": taken, "median_seconds": middle, "summary": summary}


def _kept(rows: int, rounds: int) -> dict[str, Any]:
    """Replacing one partition when every row is its own group: tables kept as Parquet and merged by Spark."""
    root = data.comments(rows)
    everything = _read(root, [str(root)])
    asked = ("uniqueness(id)", "count_distinct(id)")
    with TemporaryDirectory(prefix="headgate-") as folder:
        parts, names = hg.analyze(everything, asked, by=BY, keep=folder), iter(data.partitions() * 2)

        def replaced() -> None:
            newer = hg.analyze(_read(root, [str(root / next(names))]), asked, by=BY, keep=folder)
            view = (parts | newer).view().resolve(session())
            assert view.value("uniqueness(id)") == 1.0

        taken = in_turn({"full": lambda: hg.analyze(everything, asked).outcomes, "differential": replaced}, rounds)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*.parquet")) / (14 + rounds + 1) * 14
    return _compared(taken, rows=everything.count(), partitions=len(parts), parquet_mb=size / 1e6)


def _flights(asked: Sequence[str], rounds: int) -> dict[str, Any]:
    """The real set, on the local engine: 14 partitions by weekday and whether the flight was cancelled."""
    table = data.flights()
    by = ["week_day", "cancelled"]
    parts = hg.analyze(table, asked, by=by)
    slices = {part: _rows_of(table, part) for part in parts}
    names = iter([*slices] * 20)

    def replaced() -> None:
        newer = hg.analyze(slices[next(names)], asked, by=by)
        (parts | newer).view().outcomes  # noqa: B018

    steps = {
        "full": lambda: hg.analyze(table, asked).outcomes,
        "differential": replaced,
        "view": lambda: parts.view(cancelled=False).outcomes,
    }
    return _compared(in_turn(steps, max(rounds, 14)), rows=len(table), partitions=len(parts))


def _rows_of(table: Any, part: tuple[str | None, ...]) -> Any:
    import pyarrow.compute as pc

    day, cancelled = part
    return table.filter(
        pc.and_(pc.equal(table["week_day"], int(day or 0)), pc.equal(table["cancelled"], cancelled == "true"))
    )


def _many(rows: int, rounds: int, quick: bool) -> dict[str, Any]:
    return view_times(many_parts(200 if quick else 2_000, rows), rows, max(rounds, 7))


def _compared(taken: dict[str, list[float]], **facts: Any) -> dict[str, Any]:
    middle = medians(taken)
    ratios = [full / part for full, part in zip(taken["full"], taken["differential"], strict=True)]
    summary = {
        "full": middle["full"],
        "differential": middle["differential"],
        "ratio": middle["full"] / middle["differential"],
    }
    return {**facts, "seconds": taken, "median_seconds": middle, "ratio_by_round": ratios, "summary": summary}


if __name__ == "__main__":
    main()
