"""Scripts that need packages of their own, run by uv in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run_script(script: Path, *words: str) -> str:
    """What a script prints that says at its top which packages it needs."""
    command = [_uv(), "run", "--quiet", "--no-project", "--script", str(script), *words]
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=outside)
    if done.returncode:
        raise RuntimeError(f"{script.name} ended with {done.returncode}: {done.stderr[-2_000:]}")
    return done.stdout


def shrink(pictures: Sequence[Path]) -> None:
    """Fewer colours, fewer bytes."""
    run_script(Path(__file__).parent / "peers" / "shrink_pictures.py", *map(str, pictures))


def _uv() -> str:
    return os.environ.get("UV") or shutil.which("uv") or "uv"
