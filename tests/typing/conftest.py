"""The package as its users have it: built as a wheel and installed into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env=clean_environment())


def clean_environment() -> dict[str, str]:
    """Without the paths by which the checkout would be found."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY"))}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel of this checkout and what it depends on."""
    home = tmp_path_factory.mktemp("installed")
    uv = shutil.which(os.environ.get("UV", "uv"))
    python = home / "env" / "bin" / "python"
    if uv is None:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", home, ROOT)
        run(sys.executable, "-m", "venv", home / "env")
        run(python, "-m", "pip", "install", "--quiet", *home.glob("*.whl"))
    else:
        run(uv, "build", "--quiet", "--wheel", "--out-dir", home, ROOT)
        run(uv, "venv", "--quiet", "--python", sys.executable, home / "env")
        run(uv, "pip", "install", "--quiet", "--python", python, *home.glob("*.whl"))
    return python
