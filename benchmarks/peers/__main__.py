"""`python -m benchmarks.peers [--quick] [--systems NAME...] [--only CELL]`: Headgate beside each other system.

Each runs in an environment of its own, which uv makes. Results are kept pair by pair, so a run that was interrupted
goes on with `--missing`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers import page
from benchmarks.peers.agreement import compare, find_truth
from benchmarks.peers.environments import NotInstalled, prepare_environment, script_of
from benchmarks.peers.machine import describe_machine
from benchmarks.peers.peer_process import PeerProcess
from benchmarks.peers.rounds import Plan, Result, measure_pair
from benchmarks.peers.store import keep_cell, read_results
from benchmarks.peers.workloads import Cell, list_cells
from benchmarks.timing import CACHE, DATA, cores

OURS = "headgate"
SYSTEMS = (
    OURS,
    "bare",
    "deequ",
    "deequ_registry",
    "dqx",
    "cuallee",
    "pandera",
    "great_expectations",
    "pointblank",
    "soda",
)
ON_LARGE_TABLES = ("bare", "deequ", "deequ_registry")
QUICK = (OURS, "bare", "deequ")
# The licence of DQX allows its use with Databricks services only: whoever has such an agreement asks for it by name.
OPTIONAL = ("deequ_registry", "dqx")
RESULTS = Path(__file__).parent / "results" / "peers.json"
QUICK_RESULTS = CACHE / "peers" / "quick.json"
QUICK_PAGE = QUICK_RESULTS.with_suffix(".md")
DEEQU_JAR = DATA.parent / "peers" / "deequ-2.0.21-spark-4.1.jar"


def main() -> None:
    given = read_options()
    if given.page:
        page.write(read_results(RESULTS))
        return
    plan = Plan(given.warm, given.rounds, given.limit, given.seconds / 3, given.seconds)
    os.environ.setdefault("PEERS_CORES", str(cores()))
    os.environ.setdefault("PEERS_MEMORY", given.memory)
    os.environ.setdefault("PEERS_DEEQU_JAR", str(DEEQU_JAR))
    keep = QUICK_RESULTS if given.quick else RESULTS
    interpreters = prepare_interpreters(given.systems)
    for cell in list_cells(given.quick, given.only):
        run_cell(cell, interpreters, plan, keep, given.missing)
    page.write(read_results(keep), QUICK_PAGE if given.quick else page.PAGE)


def read_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    options.add_argument("--quick", action="store_true", help="tables of a few thousand rows, one warm-up, one round")
    options.add_argument("--systems", nargs="+", choices=SYSTEMS, help="these; Headgate is always among them")
    options.add_argument("--only", default="", help="cells with this in their name, such as 'checks-63 on 1M x 40'")
    options.add_argument("--missing", action="store_true", help="leave out pairs that have results")
    options.add_argument("--warm", type=int, help="warm-up rounds; the first of them is the cold figure")
    options.add_argument("--rounds", type=int, help="measured rounds")
    options.add_argument("--limit", type=float, default=600.0, help="seconds after which a peer is given up")
    options.add_argument("--seconds", type=float, default=900.0, help="after which a pair begins no other round")
    options.add_argument("--memory", default="2g", help="heap of each JVM")
    options.add_argument("--page", action="store_true", help="write the page again from the results")
    given = options.parse_args()
    given.systems = given.systems or (QUICK if given.quick else [each for each in SYSTEMS if each not in OPTIONAL])
    given.warm = (1 if given.quick else 6) if given.warm is None else given.warm
    given.rounds = given.rounds or (1 if given.quick else 5)
    return given


def prepare_interpreters(names: list[str]) -> dict[str, Path | str]:
    """The interpreter of each system, or what uv said where it could not be installed."""
    found: dict[str, Path | str] = {}
    for name in dict.fromkeys([OURS, *names]):
        print(f"environment of {name}", flush=True)
        try:
            found[name] = prepare_environment(name)
        except NotInstalled as error:
            found[name] = str(error)
            print(f"  {error}", flush=True)
    return found


def run_cell(cell: Cell, interpreters: dict[str, Path | str], plan: Plan, results: Path, missing: bool) -> None:
    """Each peer beside Headgate; what was measured is written at once."""
    known = read_results(results)["cells"].get(cell.key, {}).get("pairs", {})
    peers = [name for name in interpreters if name != OURS and not (missing and name in known)]
    peers = [name for name in peers if cell.is_for_all or name in ON_LARGE_TABLES]
    truth = find_truth(cell) if peers else {}
    for name in peers:
        print(f"{cell.key}: {name}", flush=True)
        pair = run_pair(cell, name, interpreters, plan, truth)
        keep_cell(results, cell, name, pair, plan, describe_machine())
        print_pair(name, pair)


def run_pair(
    cell: Cell, name: str, interpreters: dict[str, Path | str], plan: Plan, truth: dict[str, Any]
) -> dict[str, Any]:
    measured_at = datetime.now(UTC).isoformat(timespec="seconds")
    if isinstance(failed := interpreters[name], str):
        return {"measured_at": measured_at, name: {"error": f"not installed: {failed}"}}
    commands: dict[str, Callable[[Path], PeerProcess]] = {
        each: partial(start, each, interpreters[each]) for each in (OURS, name)
    }
    pair = measure_pair(commands, cell.request(), plan)
    for told in pair.values():
        if "cold" in told:
            told["agreement"] = compare(cell, truth, told)
        for key in ("answers", "profile"):
            told.pop(key, None)
    return {"measured_at": measured_at, **pair}


def start(name: str, interpreter: Path | str, folder: Path) -> PeerProcess:
    return PeerProcess(Path(interpreter), script_of(name), folder)


def print_pair(name: str, pair: Result) -> None:
    for each in (OURS, name):
        told = pair.get(each, {})
        if reason := told.get("cannot") or told.get("error"):
            print(f"  {each}: {reason}", flush=True)
        elif told.get("rounds"):
            cpu, last = sorted(one["cpu"] for one in told["rounds"]), told["rounds"][-1]
            agreement = told.get("agreement", {})
            counts = f"{last['jobs']} jobs, {agreement.get('answered')} of {agreement.get('asked')} answers"
            print(f"  {each}: CPU {cpu[len(cpu) // 2]:.2f}, cold {told['cold']['cpu']:.2f}, {counts}", flush=True)
            for wrong in agreement.get("wrong", []):
                print(f"    {wrong}", flush=True)


if __name__ == "__main__":
    main()
