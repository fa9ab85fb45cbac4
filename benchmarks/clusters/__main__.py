# ruff: noqa: E501
"""`python -m benchmarks.clusters`: cases on a standalone cluster with two workers; writes docs/clusters-benchmark.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.clusters.cluster import Cluster, make_environment
from benchmarks.clusters.job import CASES
from benchmarks.timing import versions

RESULTS = Path(__file__).parent / "results.json"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clusters-benchmark.md"
_SECONDS = 1_200


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.clusters", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--write", action="store_true", help="keep what was found, and write the page")
    given = parser.parse_args()
    wrong = 0
    with Cluster() as cluster:
        for name in given.cases or CASES:
            found = run_case(name, cluster)
            wrong += not found["right"]
            print(f"{name}: {json.dumps(found)}", flush=True)
            if given.write:
                _keep(name, found)
    sys.exit(1 if wrong else 0)


def run_case(name: str, cluster: Cluster) -> dict[str, Any]:
    """One case, in a process of its own."""
    _, missing, _ = CASES[name]
    words = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "HEADGATE_CLUSTER": str(cluster.folder),
    }
    words |= {"PYSPARK_PYTHON": make_environment(missing), "PYSPARK_DRIVER_PYTHON": sys.executable}
    command = [sys.executable, "-m", "benchmarks.clusters.job", name, cluster.address]
    done = subprocess.run(
        command,
        env=words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        return {"right": False, "jobs": 0, "seconds": 0.0, "message": "".join(last)[:300]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def _keep(name: str, found: dict[str, Any]) -> None:
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["cases"] if RESULTS.is_file() else {}
    whole = {"versions": versions("pyspark", "pyarrow"), "cases": {**known, name: found}}
    RESULTS.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text("\n".join([*_describe(whole), ""]), encoding="utf-8")


def _describe(whole: dict[str, Any]) -> Iterator[str]:
    yield "# A cluster"
    yield ""
    yield f"Written by `make clusters CASES=--write`; do not edit. A standalone Spark {whole['versions']['pyspark']} with a master and two workers of one core and 2 GB on one machine; executors have 1 GB and a Python of their own, in which this package is not installed. Values are held against those of the engine without Spark. The first scan of a session takes a second job: the first one finds that executors lack the code of the package, which is sent then. That is so for any number of columns."
    yield ""
    yield "| case | result | jobs | seconds | message |"
    yield "|---|---|---|---|---|"
    for name, each in whole["cases"].items():
        jobs = each["jobs"] if isinstance(each["jobs"], int) else ", then ".join(map(str, each["jobs"]))
        result = "right" if each["right"] else "wrong"
        yield f"| {name} | {result} | {jobs} | {each['seconds']:.0f} | {_shorten(each.get('message', ''))} |"


def _shorten(message: str) -> str:
    return message.replace("|", "/").replace(str(Path.home()), "~")


if __name__ == "__main__":
    main()
