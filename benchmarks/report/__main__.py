"""`python -m benchmarks.report`: each tool writes its page of one job, a browser looks at it; writes results.

Tools run with uv, each in an environment of its own. `--only NAME...` leaves the figures of the others as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.report import job, ours, page
from benchmarks.report.chromium import opened
from benchmarks.report.look import Words, measured
from benchmarks.report.scripts import run_script, shrink
from benchmarks.timing import CACHE, versions
from benchmarks.values_mode import VALUES

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "peers.json"
PICTURES = HERE.parents[1] / "docs" / "pictures" / "peers"
TOOLS = ("headgate", "pointblank", "great_expectations", "evidently", "ydata_profiling", "whylogs")
ROUNDS = 3


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--only", nargs="+", choices=TOOLS, default=TOOLS)
    names = wanted.parse_args().only
    folder = CACHE / "report-peers"
    job.write(folder / "job")
    if "headgate" in names:
        ours.remember(folder / "job" / "history")
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["tools"] if RESULTS.exists() else {}
    with opened() as browser:
        for name in names:
            print(name, flush=True)
            known[name] = _measured(browser, name, folder)
        about = versions("pyarrow", "playwright") | {"chromium": browser.version}
    found = {"versions": about, "tools": {name: known[name] for name in TOOLS if name in known}}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    shrink([file for name in names for file in PICTURES.glob(f"{name}-*.png")])
    page.write(found)


def _measured(browser: Any, name: str, folder: Path) -> dict[str, Any]:
    told = [_run(name, folder / "job", folder / name) for _ in range(ROUNDS)]
    seen = measured(browser, folder / name / told[-1]["page"], _words(), PICTURES / name)
    site = folder / name / told[-1].get("site", told[-1]["page"])
    files = [each for each in ([site] if site.is_file() else site.rglob("*")) if each.is_file()]
    return {
        "version": _version(name),
        **({"values": VALUES} if name == "headgate" else {}),
        "judge seconds": round(statistics.median(each["judge"] for each in told), 3),
        "write seconds": round(statistics.median(each["write"] for each in told), 3),
        "files": len(files),
        "bytes of all files": sum(each.stat().st_size for each in files),
        **seen,
    }


def _words() -> Words:
    """What a reader needs to be told, in the ways in which it may be written."""
    now, _ = job.means()
    observed = {form for value in (int(now), round(now)) for form in (f"{value:,}", str(value))}
    allowed = next(each["between"][1] for each in job.EXPECTATIONS if each["kind"] == "mean")
    return {
        "column": (job.BROKEN,),
        "observed": tuple(sorted(observed)),
        "allowed": (f"{allowed:,}", str(allowed)),
    }


def _run(name: str, made: Path, out: Path) -> dict[str, Any]:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if name == "headgate":
        command = [sys.executable, "-m", "benchmarks.report.ours", str(made), str(out)]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    else:
        said = run_script(HERE / "peers" / f"with_{name}.py", str(made), str(out))
    return json.loads(said.strip().splitlines()[-1])


def _version(name: str) -> str:
    if name == "headgate":
        about = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
        return str(about["project"]["version"])
    pins = re.search(r'"[a-z-]+(?:\[[a-z]+\])?==([0-9.]+)"', (HERE / "peers" / f"with_{name}.py").read_text("utf-8"))
    return pins[1] if pins else ""


if __name__ == "__main__":
    main()
