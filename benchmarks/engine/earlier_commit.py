"""`python -m benchmarks.engine.earlier_commit [COMMIT] [--quick]`: the local engine beside that of an earlier commit.

Both run in a process of their own with the same libraries, and take turns. The earlier source is unpacked under the
cache.
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.engine import data
from benchmarks.peers.peer_process import PeerProcess
from benchmarks.timing import CACHE

ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).parent / "scan_server.py"
BEFORE = "c3cf1c7"  # the last commit before tasks read files and folds were made faster
SOURCES = CACHE / "engine" / "sources"
LOGS = CACHE / "engine" / "logs"
LIMIT = 600.0
WARM = 2
TITLE = "local engine beside an earlier commit"


class Case(NamedTuple):
    """A table, and how many scans of it are one measurement."""

    rows: int
    columns: int
    scans: int

    @property
    def name(self) -> str:
        return f"{self.rows:,} x {self.columns}"


CASES = (Case(1_000, 10, 60), Case(100_000, 40, 3), Case(1_000_000, 40, 1))
QUICK = (Case(1_000, 10, 3),)


def main() -> None:
    from benchmarks.engine.__main__ import keep_result

    options = argparse.ArgumentParser(prog="benchmarks.engine.earlier_commit", description=__doc__)
    options.add_argument("commit", nargs="?", default=BEFORE)
    options.add_argument("--quick", action="store_true", help="the smallest table and 3 rounds; nothing is written")
    options.add_argument("--rounds", type=int, default=0)
    given = options.parse_args()
    cases, rounds = (QUICK, 3) if given.quick else (CASES, 7)
    found = compare_commits(given.commit, cases, given.rounds or rounds)
    for name, case in found["cases"].items():
        print(f"{name}: {case['before']:.4g} s before, {case['now']:.4g} s now: {case['ratio']:.2f} of it", flush=True)
    if not given.quick:
        keep_result(TITLE, found)


def compare_commits(commit: str, cases: tuple[Case, ...], rounds: int) -> dict[str, Any]:
    """For each case the CPU seconds of a scan before and now: medians of rounds that take turns."""
    now, before = ROOT / "src", unpack_source(commit)
    found: dict[str, Any] = {}
    with _serve(before, "before") as one, _serve(now, "now") as other:
        for case in cases:
            request = {"table": str(data.mixed(case.rows, case.columns)), "scans": case.scans}
            spent = _take_turns((lambda r=request: _ask(one, r), lambda r=request: _ask(other, r)), rounds)
            medians = [statistics.median(each) for each in spent]
            found[case.name] = {
                "before": medians[0],
                "now": medians[1],
                "ratio": medians[1] / medians[0],
                "rounds": {"before": spent[0], "now": spent[1]},
            }
    return {"commit": commit, "cases": found}


def unpack_source(commit: str) -> Path:
    """The folder with the source of a commit."""
    folder = SOURCES / _run_git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        unpacked = Path(tempfile.mkdtemp(dir=SOURCES))
        with tarfile.open(fileobj=io.BytesIO(_run_git("archive", commit, "src"))) as archive:
            archive.extractall(unpacked, filter="data")
        unpacked.rename(folder)
    return folder / "src"


def _run_git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True).stdout


def _serve(source: Path, name: str) -> PeerProcess:
    return PeerProcess(Path(sys.executable), SERVER, LOGS / name, (str(source),))


def _ask(server: PeerProcess, request: dict[str, Any]) -> float:
    return float(server.ask(request, LIMIT)["cpu"])


def _take_turns(ways: tuple[Callable[[], float], ...], rounds: int) -> list[list[float]]:
    """What each way says it took, round after round; each round begins with another one."""
    spent: list[list[float]] = [[] for _ in ways]
    for at in range(WARM + rounds):
        for turn in range(len(ways)):
            place = (at + turn) % len(ways)
            taken = ways[place]()
            if at >= WARM:
                spent[place].append(taken)
    return spent


if __name__ == "__main__":
    main()
