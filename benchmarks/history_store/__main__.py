"""`python -m benchmarks.history_store [--quick] [--only NAME]`: a JSON of figures, and the page made from it."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.history_store import data, measure
from benchmarks.history_store.database import Database, databases, fsync_milliseconds
from benchmarks.history_store.page import write_page

RESULTS = Path(__file__).parent / "results"
QUICK = measure.Scale((30, 60, 120), 600, repetitions=5, commits=5, datasets=20, long=2_000)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="a small history; nothing is written")
    options.add_argument("--only", default="", help="run what has this in its name; the other results stay as they are")
    given = options.parse_args()
    with databases() as kinds:
        for kind, make in kinds.items():
            for name, experiment in _experiments(QUICK if given.quick else measure.Scale()):
                title = f"{kind}: {name}"
                if given.only in title:
                    database = make()
                    result = {"facts": _facts(database), **experiment(database)}
                    print(f"{title}: {json.dumps(result)}", flush=True)
                    if not given.quick:
                        _keep(title, result)


def _experiments(scale: measure.Scale) -> Iterator[tuple[str, Callable[[Database], measure.Figures]]]:
    yield "random doubles", lambda database: measure.grown(database, data.random_doubles, scale)
    yield "mixture", lambda database: measure.grown(database, data.mixture, scale)
    yield "several writers", lambda database: measure.several_writers(database, scale)
    yield "runs with states", lambda database: measure.with_states(database, scale)
    yield "among many datasets", lambda database: measure.among_many(database, scale)
    yield "long history", lambda database: measure.long_history(database, scale)


def _facts(database: Database) -> dict[str, Any]:
    """On what it was measured, and how busy and how slow that was."""
    names = ("sqlalchemy", "psycopg", "numpy", "msgspec")
    return {
        "database": database.version,
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "fsync_ms": round(fsync_milliseconds(), 2),
    }


def _keep(name: str, result: dict[str, Any]) -> None:
    """Put one result beside the others."""
    file = RESULTS / "history_store.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    found[name] = result
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


if __name__ == "__main__":
    main()
