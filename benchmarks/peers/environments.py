"""An environment of its own for each system, made by uv from what its script says at its top, kept in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from benchmarks.timing import CACHE

ROOT = Path(__file__).parents[2]
PYTHON = "3.11"
SYSTEMS = Path(__file__).parent / "systems"
FOLDER = CACHE / "peers" / "environments"
CI_UV = Path.home() / ".cache" / "headgate-ci" / "uv" / "bin" / "uv"


class NotInstalled(Exception):
    """What uv said when a system could not be installed."""


def script_of(name: str) -> Path:
    return SYSTEMS / f"with_{name}.py"


def read_header(script: Path) -> str:
    """The block of PEP 723: which Python and which packages."""
    lines = script.read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[lines.index("# /// script") : lines.index("# ///") + 1])


def prepare_environment(name: str) -> Path:
    """The interpreter of the system's environment; made at the first time and whenever the header has changed."""
    script = script_of(name)
    folder = FOLDER / name
    header = read_header(script)
    digest = hashlib.sha256(header.encode()).hexdigest()
    marker = folder / "header.sha256"
    if not marker.exists() or marker.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        _run(_find_uv(), "venv", "--quiet", "--python", PYTHON, str(folder))
        links = ("--find-links", _run(str(ROOT / ".ci" / "spark-wheel"), find_spark(header)))
        # the sources of a header are not always followed, and others may have published a package of our name
        own = ("-e", str(ROOT)) if "tool.uv.sources" in header else ()
        _run(_find_uv(), "pip", "install", "--quiet", "--python", str(folder), *links, *own, "-r", str(script))
        marker.write_text(digest)
    return folder / "bin" / "python"


def find_spark(header: str) -> str:
    """The requirement of PySpark. Its wheel is made once for all: uv would build one for each environment."""
    found = re.search(r'"(pyspark==[0-9.]+)"', header)
    if not found:
        raise NotInstalled("the header names no version of pyspark")
    return found[1]


def _run(*command: str) -> str:
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=outside | {"UV": _find_uv()})
    if done.returncode:
        raise NotInstalled(" ".join(done.stderr[-1_500:].split()))
    return done.stdout.strip()


def _find_uv() -> str:
    return os.environ.get("UV") or shutil.which("uv") or str(CI_UV)
