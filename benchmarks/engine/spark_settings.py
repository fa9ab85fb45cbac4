"""`python -m benchmarks.engine.spark_settings [--rows 400000] [--rounds 7]`: a scan under newer settings of Spark.

Spark makes the rows, as of a batch that is no plain scan of files. Each setting has a session of its own; they take
turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.engine import data
from benchmarks.peers.environments import script_of
from benchmarks.peers.peer_process import PeerFailed, PeerProcess
from benchmarks.timing import CACHE, cores
from headgate.engine.spark_files import SWITCH

ROWS, COLUMNS = 400_000, 20
WARM = 3
LIMIT = 600.0
TITLE = "settings of Spark"
FOLDER = CACHE / "engine" / "spark-settings"
WAYS: dict[str, dict[str, str]] = {
    "as Spark is": {},
    "pipelined functions": {"spark.python.udf.pipelined.enabled": "true"},  # from Spark 4.3 on
}
"""The settings that are compared, by name. Columnar input (4.2) does not concern `mapInArrow`."""


def main() -> None:
    from benchmarks.engine.__main__ import keep_result

    options = argparse.ArgumentParser(prog="benchmarks.engine.spark_settings", description=__doc__)
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--quick", action="store_true", help="2,000 rows and one round; nothing is written")
    given = options.parse_args()
    rows, rounds = (2_000, 1) if given.quick else (given.rows, given.rounds)
    found = compare_settings(rows, rounds)
    for name, each in found["ways"].items():
        print(f"{name}: {each['cpu']:.2f} CPU s, {each['wall']:.2f} s", flush=True)
    if not given.quick:
        keep_result(TITLE, found)


def compare_settings(rows: int, rounds: int) -> dict[str, Any]:
    """The medians of each way, and the rounds."""
    os.environ.setdefault("PEERS_CORES", str(cores()))
    os.environ.setdefault("PEERS_MEMORY", "2g")
    request = {"do": "prepare", "workload": "states", "paths": [str(data.mixed(rows, COLUMNS))]}
    spent: dict[str, list[dict[str, float]]] = {name: [] for name in WAYS}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(_serve(name)) for name in WAYS}
        for server in servers.values():
            _check(server.ask(request, LIMIT))
        for at in range(WARM + rounds):
            for turn in range(len(WAYS)):
                name = list(WAYS)[(at + turn) % len(WAYS)]
                answer = _check(servers[name].measure({"do": "run", "round": at}, LIMIT))
                if at >= WARM:
                    spent[name].append({key: answer[key] for key in ("cpu", "wall")})
    ways = {
        name: {key: statistics.median(each[key] for each in taken) for key in ("cpu", "wall")}
        for name, taken in spent.items()
    }
    return {"rows": rows, "columns": COLUMNS, "ways": ways, "rounds": spent}


def _check(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise PeerFailed(answer["error"])
    return answer


def _serve(name: str) -> PeerProcess:
    settings = {SWITCH: "false", **WAYS[name]}
    words = tuple(f"{key}={value}" for key, value in settings.items())
    return PeerProcess(Path(sys.executable), script_of("headgate"), FOLDER / name.replace(" ", "-"), words)


if __name__ == "__main__":
    main()
