"""Replays every feed run by run: which forms of the program hold clean runs, broken batches and real incidents."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import headgate as hg
import headgate.learn.history as learned
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import SHORTEST, Incident, batch_of, corrected, incidents, is_incident
from benchmarks.history.series import CACHE, analysed, fingerprint
from benchmarks.history.table_cases import TableCase, table_cases
from benchmarks.history.tables import Programs, Trained, past_of, runs_before
from benchmarks.values_mode import VALUES
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.schema import propose_schema

LONG = 500  # runs from which on a feed is replayed in four parts
ENOUGH = 100  # clean runs of a feed; of longer ones every second, third, ... is judged
Row = dict[str, Any]


def replayed(workers: int = 2) -> list[Row]:
    """Every judged batch of every feed; kept outside the project, so that a replay that was cut short goes on."""
    jobs = [(feed, part) for feed in feeds(SHORTEST) for part in range(_parts(feed))]
    jobs.sort(key=lambda job: -job[0].path.stat().st_size * (1 + (job[0].name == "reported_hospital_utilization")))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return [row for found in pool.map(_part, jobs) for row in found]


def kept() -> list[Row]:
    """What has been replayed so far."""
    return [
        row
        for file in sorted(CACHE.glob(f"*.{_made_by()}.replay.json"))
        for row in json.loads(file.read_text(encoding="utf-8"))
    ]


def _made_by() -> str:
    """A replay is made again when the learner has changed; one of hidden values is kept beside one of plain ones."""
    return f"{fingerprint(Path(learned.__file__).parent)}.{VALUES}"


def _parts(feed: Feed) -> int:
    return 4 if len(analysed(feed)) > LONG else 1


def _part(job: tuple[Feed, int]) -> list[Row]:
    feed, part = job
    file = CACHE / f"{feed.folder}.{feed.name}.{part}.{_made_by()}.replay.json"
    if not file.exists():
        rows = _replay(feed, part)
        file.write_text(json.dumps(rows), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def _replay(feed: Feed, part: int) -> list[Row]:
    batches = analysed(feed)
    cases, found = _by_place(feed), _incidents(feed)
    size = -(-len(batches) // _parts(feed))
    trained = Trained()
    rows: list[Row] = []
    for at in range(part * size, min(len(batches), (part + 1) * size)):
        listed = is_incident(feed.title, batches[at].partition)
        clean = not listed and at % -(-len(batches) // ENOUGH) == 0
        if clean or at in cases or at in found:
            runs = runs_before(feed, at, MIN_RUNS if at in found else 30)
            if runs:
                past = past_of(feed, at, runs)
                programs = Programs.of(feed, runs, past, trained.damage(at, past))
                rows += _judged(feed, at, programs, clean, cases.get(at, []), found.get(at, []))
    return rows


def _judged(
    feed: Feed, at: int, programs: Programs, clean: bool, cases: list[TableCase], listed: list[tuple[Incident, str]]
) -> list[Row]:
    batch = analysed(feed)[min(at, len(analysed(feed)) - 1)]
    about = {"feed": feed.title, "at": at, "partition": batch.partition, "runs": len(programs.past)}
    rows: list[Row] = []
    if clean:
        clauses = {name: len(made.clauses) for name, made in programs.made.items()}
        shape = sum(1 for _ in propose_schema(programs.past))  # clauses about columns and types, in every program
        costs = {name: made.cost for name, made in programs.made.items()}
        columns = len(programs.past.schema.columns)
        held = programs.held(batch.analysis)
        rows.append(
            {
                **about,
                "what": "clean",
                "held": held,
                "clauses": clauses,
                "costs": costs,
                "columns": columns,
                "shape": shape,
            }
        )
    for case in cases:
        held = {name: why[:1] for name, why in programs.held(case.analysis).items()}
        rows.append({**about, "what": "case", "column": case.column, "issue": case.issue, "held": held})
    for incident, partition in listed:
        table, right = batch_of(incident, partition), corrected(incident, partition)
        row = {**about, "what": "incident", "row": incident.row, "partition": partition, "type": incident.type}
        if table is not None:
            row["held"] = programs.held(hg.analyze(table))
        if right is not None:
            row["corrected"] = programs.held(hg.analyze(right))
        rows.append(row)
    return rows


def _by_place(feed: Feed) -> dict[int, list[TableCase]]:
    found: dict[int, list[TableCase]] = defaultdict(list)
    if len(analysed(feed)) >= 60:
        for case in table_cases(feed, analysed(feed)):
            found[case.at].append(case)
    return found


def _incidents(feed: Feed) -> dict[int, list[tuple[Incident, str]]]:
    """The incidents of a feed by the place of their batch, or of the batch before which they were published."""
    partitions = [batch.partition for batch in analysed(feed)]
    found: dict[int, list[tuple[Incident, str]]] = defaultdict(list)
    for incident in incidents():
        if incident.title == feed.title:
            for partition in incident.partitions:
                at = next((at for at, each in enumerate(partitions) if each >= partition), len(partitions))
                found[min(at, len(partitions) - 1)].append((incident, partition))
    return found


def drawn(rows: list[Row], count: int, form: str) -> list[Row]:
    """Some clean runs that a form holds, drawn at random, always the same."""
    held = [row for row in rows if row["what"] == "clean" and form in row["held"]]
    return sorted(held, key=lambda row: zlib.crc32(f"{row['feed']} {row['partition']}".encode()))[:count]


if __name__ == "__main__":
    print(f"{len(replayed()):,} batches judged; kept in {Path(CACHE)}")
