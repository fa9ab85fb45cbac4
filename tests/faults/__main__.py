"""`python -m tests.faults` breaks every store, and gates over it, in every way that TRUST.md names, and prints what was
lost, doubled and leaked: nothing."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.faults import (
    cli_kills,
    corrupt,
    disk,
    gate_disk,
    gate_down,
    gate_kills,
    gate_lost,
    gate_races,
    gate_replay,
    kills,
    lost,
    races,
    replay,
)
from tests.faults.backends import BACKENDS, Backend, unique
from tests.faults.formats import golden
from tests.faults.table import Row, printed

_S3_SHARE = 4  # one server answers one request at a time: races on S3 are this much shorter


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    asked.add_argument(
        "--kills",
        type=int,
        default=1_000,
        help="of stores over all backends, as many of gates, and of the command line",
    )
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--quick", action="store_true", help="a short form of everything")
    asked.add_argument("--command-line", action="store_true", help="only kills of the command line")
    asked.add_argument("--backends", nargs="*", choices=sorted(BACKENDS), default=list(BACKENDS))
    given = asked.parse_args()
    if given.quick:
        given.kills = min(given.kills, 60)
    rows = []
    with tempfile.TemporaryDirectory(prefix="headgate-faults-") as folder:
        for row in rows_of(given, Path(folder)):
            rows.append(row)
            print(
                f"  {row.fault}, {row.backend}: {'held' if row.held else 'BROKEN'} in {row.seconds:.1f} s", flush=True
            )
    print("\n".join(["", *printed(rows)]))
    return 0 if all(row.held for row in rows) else 1


def rows_of(given: argparse.Namespace, folder: Path) -> Iterator[Row]:
    quick, seed = given.quick, given.seed
    for name in given.backends:
        with BACKENDS[name](folder) as backend:
            yield cli_kills.killed(backend, folder / f"{name} projects", -(-given.kills // len(given.backends)), seed)
            if given.command_line:
                continue
            yield kills.killed(backend, -(-given.kills // len(given.backends)), seed)
            yield from _races(backend, 25 if quick else 500)
            yield from _replays(backend, seed, 30 if quick else 200)
            if name == "postgresql":
                yield lost.restarted_postgresql(backend, 4, 100 if quick else 250, seed)
            yield from _gates(backend, folder, given)
    if given.command_line:
        return
    if "s3" in given.backends:
        yield lost.dropped_by_s3(folder, 4, 50 if quick else 250, seed)
        yield gate_lost.dropped_by_s3(folder, 4, 12 if quick else 40, seed, 0.1 if quick else 0.03)
    yield from _disks(folder, given.backends)
    flips = 1_000 if quick else 10_000
    yield corrupt.corrupted(corrupt.envelopes(), flips, seed, "states")
    yield corrupt.corrupted(corrupt.objects(folder / "golden"), flips, seed, "objects")
    yield golden(folder)


def _gates(backend: Backend, folder: Path, given: argparse.Namespace) -> Iterator[Row]:
    """The same faults through a gate that publishes to folders."""
    quick, seed = given.quick, given.seed
    yield gate_kills.killed(backend, folder, -(-given.kills // len(given.backends)), seed)
    yield gate_races.raced_for_one_batch(backend, folder, 8, 6 if quick else 50)
    yield gate_races.raced_for_many_batches(backend, folder, 8, 2 if quick else 12)
    yield gate_replay.replay_row(backend, 10 if quick else 30, seed)
    yield gate_down.died_at_every_call(backend, folder)
    if backend.name == "postgresql":
        share = 0.1 if quick else 0.03
        yield gate_lost.restarted_postgresql(backend, folder, 4, 12 if quick else 40, seed, share)


def _races(backend: Backend, commits: int) -> Iterator[Row]:
    share = max(25, commits // _S3_SHARE) if backend.name == "s3" else commits
    for race in (races.raced_for_one_key, races.raced_for_many_keys):
        row = race(backend, 8, share)
        row.notes += f"; 8 x {share}"
        yield row


def _replays(backend: Backend, seed: int, commits: int) -> Iterator[Row]:
    from headgate.store.open import open_store

    url, opened = backend.url(), []

    def reopen() -> object:
        opened.append(open_store(url))
        return opened[-1]

    try:
        yield replay.replay_row(backend.name, reopen, unique("orders"), commits, seed)
        yield replay.order_row(backend.name, reopen, unique("orders"), seed)
    finally:
        for store in opened:
            with suppress(Exception):
                store.close()


def _disks(folder: Path, backends: list[str]) -> Iterator[Row]:
    if "files" in backends:
        yield disk.refused_writes_of_files(folder)
        yield gate_disk.refused_writes(folder)
        small = disk.small_disk(folder / "disk"), gate_disk.small_disk(folder / "gate-disk")
        yield from (row for row in small if row is not None)
    if "sqlite" in backends:
        yield disk.no_pages_left(folder)
        yield gate_disk.no_pages_left(folder / "gate")


if __name__ == "__main__":
    sys.exit(main())
