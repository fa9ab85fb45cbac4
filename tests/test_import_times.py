"""How long a shell waits: `import headgate` and `headgate --help`, each the median of ten processes."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
RUNS = 10
TRIES = 3
IMPORT = 0.150
HELP = 0.400
HEAVY = {"pyspark", "pyarrow", "numpy", "pydantic", "pandas", "polars", "sqlglot", "sqlalchemy", "jinja2", "httpx"}
TYPE_HELP = "import sys; sys.argv = ['headgate', '--help']; from headgate.cli.app import main; main()"


class Took(NamedTuple):
    """Seconds on the clock, and seconds of a processor."""

    wall: float
    work: float


def started(code: str) -> subprocess.Popen[str]:
    words = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    words["PYTHONPATH"] = str(SOURCE)
    return subprocess.Popen([sys.executable, "-c", code], env=words, stdout=subprocess.PIPE, text=True)


def took(code: str) -> Took:
    began = time.perf_counter()
    with started(code) as process:
        assert process.stdout is not None
        process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Took(time.perf_counter() - began, used.ru_utime + used.ru_stime)


def median(code: str) -> Took:
    found = [took(code) for _ in range(RUNS)]
    return Took(statistics.median(each.wall for each in found), statistics.median(each.work for each in found))


def shown(code: str, limit: float) -> str:
    """Empty if the program is quick enough; else what was measured.

    While others keep the machine busy a clock measures them: an interpreter that does nothing then takes much longer
    than it works, and what counts is the work. On an idle machine both are the same.
    """
    took(code)  # the first one writes the bytecode
    told = []
    for _ in range(TRIES):
        found, bare = median(code), median("pass")
        busy = bare.wall > 2 * bare.work
        if found.wall <= limit or (busy and found.work <= limit):
            return ""
        told.append(f"{found.wall:.3f} s ({found.work:.3f} s of work), an idle interpreter {bare.wall:.3f} s")
    return "; ".join(told)


def modules(code: str) -> set[str]:
    """The packages that a program has imported when it ends."""
    listing = f"""
import json, sys
try:
    exec({code!r})
except SystemExit:
    pass
print("\\n" + json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
    with started(listing) as process:
        said, _ = process.communicate()
    return set(json.loads(said.splitlines()[-1]))


def test_the_package_is_imported_in_150_ms() -> None:
    assert shown("import headgate", IMPORT) == ""


def test_help_is_printed_in_400_ms() -> None:
    assert shown(TYPE_HELP, HELP) == ""


@pytest.mark.parametrize("code", ["import headgate", "import headgate.cli.app", TYPE_HELP])
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    assert modules(code) & HEAVY == set()


def test_what_is_slow_and_what_is_imported_are_seen() -> None:
    assert shown("pass", 0.000_001) != ""
    assert {"headgate", "numpy"} <= modules("import headgate; headgate.Past")
