"""`python -m benchmarks.platforms [LANE ...]`: installs the package beside what platforms have, and runs it there."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.platforms.lane import Lane, build_wheel, list_lanes
from benchmarks.platforms.page import write_page

RESULTS = Path(__file__).parent / "results.json"
SESSIONS = ("classic", "connect")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.platforms", description=__doc__)
    parser.add_argument("lanes", nargs="*", metavar="LANE", help=f"of {', '.join(list_lanes())}; all by default")
    parser.add_argument("--sessions", default=",".join(SESSIONS), help="classic, connect, or both")
    parser.add_argument("--write", action="store_true", help="keep what was found, and write the page")
    given = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        for name in given.lanes or list_lanes():
            found = Lane(name).measure(wheel, tuple(given.sessions.split(",")))
            wrong += [f"{name}: {each}" for each in find_faults(found)]
            print(describe_lane(name, found), flush=True)
            if given.write:
                _keep(name, found)
    for line in wrong:
        print(f"platforms: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


def find_faults(found: dict[str, Any]) -> list[str]:
    """What must not be: a package that was replaced, another value, a second job, an error."""
    faults = [f"{package} was replaced: {change}" for package, change in found["replaced"].items()]
    for kind in SESSIONS:
        measured = found.get(kind)
        if (
            measured is not None
            and "missing" not in measured
            and (measured.get("error") or measured["wrong"] or measured["jobs"] != 1)
        ):
            faults.append(f"{kind}: {measured.get('error') or measured}")
    return faults


def describe_lane(name: str, found: dict[str, Any]) -> str:
    """One line of what was found."""
    runs = [f"{kind} {_describe_session(found[kind])}" for kind in SESSIONS if kind in found]
    replaced = ", ".join(f"{package} {change}" for package, change in found["replaced"].items()) or "nothing replaced"
    return f"{name}: Python {found['python']}, Spark {found['versions']['pyspark']}, {replaced}; {'; '.join(runs)}"


def _describe_session(found: dict[str, Any]) -> str:
    told: str = (
        found.get("missing") or found.get("error") or "{metrics} metrics, {jobs} job, {seconds} s".format(**found)
    )
    return told


def _keep(name: str, found: dict[str, Any]) -> None:
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    known = dict(sorted({**known, name: found}.items()))
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    write_page(known)


if __name__ == "__main__":
    main()
