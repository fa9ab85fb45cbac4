"""mypy and pyright, each in its strict mode, over one file that uses the installed package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.typing.conftest import clean_environment

Errors = dict[int, list[str]]  # by line


def run_mypy(file: Path, python: Path) -> Errors:
    done = _run([sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--python-executable={python}"], file)
    found: Errors = {}
    for line in done.stdout.splitlines():
        if matched := re.match(r"[^:]+:(\d+): error: (.*)", line):
            found.setdefault(int(matched[1]), []).append(matched[2])
    _assert_checked(done, found)
    return found


def run_pyright(file: Path, python: Path) -> Errors:
    (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "pythonVersion": "3.11"}')
    done = _run([sys.executable, "-m", "pyright", "--outputjson", f"--pythonpath={python}"], file)
    found: Errors = {}
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            found.setdefault(each["range"]["start"]["line"] + 1, []).append(each["message"])
    _assert_checked(done, found)
    return found


CHECKERS: dict[str, Callable[[Path, Path], Errors]] = {"mypy": run_mypy, "pyright": run_pyright}


def _run(command: list[str], file: Path) -> subprocess.CompletedProcess[str]:
    words = [*command, file.name]
    return subprocess.run(words, cwd=file.parent, env=clean_environment(), capture_output=True, text=True, check=False)


def _assert_checked(done: subprocess.CompletedProcess[str], found: Errors) -> None:
    """A checker that could not start has found nothing, which is not the same as nothing to find."""
    assert done.returncode == bool(found), done.stdout + done.stderr
