"""A lane: what a platform has installed, in an environment of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

LANES = Path(__file__).parent / "lanes"
ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headgate-ci"
UV = os.environ.get("UV", "uv")


class Lane:
    """The pins of a platform, one in a line; its first two lines are its name and its Python."""

    def __init__(self, name: str) -> None:
        lines = (LANES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        self.name = name
        self.title = lines[0].removeprefix("# ")
        self.wanted_python = lines[1].removeprefix("# python ")
        self.pins = [line for line in lines[2:] if line]
        self.spark = next(pin for pin in self.pins if pin.startswith("pyspark")).partition("==")[2]
        self.place = CACHE / "platforms" / name

    @cached_property
    def interpreter(self) -> str:
        return str(self.place / "bin" / "python")

    def measure(self, wheel: Path, sessions: tuple[str, ...]) -> dict[str, Any]:
        """Make the platform, install the package on it, and run the smoke test through each kind of session."""
        try:
            return self._measure(wheel, sessions)
        finally:
            shutil.rmtree(self.place, ignore_errors=True)

    def _measure(self, wheel: Path, sessions: tuple[str, ...]) -> dict[str, Any]:
        python = self._create()
        before = self._list_packages()
        self._run(UV, "pip", "install", "--quiet", "--python", self.interpreter, str(wheel))
        after = self._list_packages()
        replaced = {
            name: f"{old} -> {after.get(name, 'gone')}" for name, old in before.items() if after.get(name) != old
        }
        added = sorted(after.keys() - before.keys() - {"headgate"})
        found = {kind: self._smoke(kind) for kind in sessions}
        return {
            "title": self.title,
            "wanted_python": self.wanted_python,
            "python": python,
            "pins": self.pins,
            "replaced": replaced,
            "added": added,
            "versions": {
                name: after[name] for name in ("numpy", "pandas", "pyarrow", "pyspark", "datasketches", "msgspec")
            },
            **found,
        }

    def _create(self) -> str:
        """The environment with the platform's packages alone. Says its Python, 3.11 if the platform's cannot be had."""
        for version in dict.fromkeys((self.wanted_python, "3.11")):
            made = self._try(UV, "venv", "--quiet", "--clear", "--python", find_python(version), str(self.place))
            if made.returncode == 0:
                break
        else:
            raise SystemExit(f"{self.name}: {made.stderr}")
        needs = [pin.replace("pyspark", "pyspark[connect]", 1) for pin in self.pins]
        wheels = self._run(str(ROOT / ".ci" / "spark-wheel"), f"pyspark=={self.spark}").strip()
        self._run(
            *(UV, "pip", "install", "--quiet", "--python", self.interpreter, "--find-links", wheels),
            *(*needs, "setuptools"),
        )
        return self._run(self.interpreter, "-c", "import platform; print(platform.python_version())").strip()

    def _list_packages(self) -> dict[str, str]:
        listed = self._run(UV, "pip", "list", "--format", "json", "--python", self.interpreter)
        return {each["name"]: each["version"] for each in json.loads(listed)}

    def _smoke(self, kind: str) -> dict[str, Any]:
        """What `tests/spark/smoke.py` measures, with the installed package and not the one of the checkout."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "found.json"
            options = ["--json", str(report), *(["--connect"] if kind == "connect" else [])]
            if kind == "connect" and self.spark.startswith("3."):
                jar = fetch_jar(f"org.apache.spark:spark-connect_2.12:{self.spark}")
                if jar is None:
                    return {"missing": "the jar of its Connect server could not be fetched"}
                options += ["--jars", jar]
            words = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            done = self._try(self.interpreter, str(ROOT / "tests" / "spark" / "smoke.py"), *options, env=words)
            if not report.is_file():
                return {"error": _last_line(done.stderr)}
            found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
            return found | ({"error": _last_line(done.stderr)} if done.returncode else {})

    def _run(self, *command: str) -> str:
        done = self._try(*command)
        if done.returncode:
            raise SystemExit(f"{self.name}: {' '.join(command)}\n{done.stderr}")
        return done.stdout

    def _try(self, *command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL, cwd=ROOT
        )


def find_python(version: str) -> str:
    """The interpreter of a version that pyenv has, where uv does not look; else the version, which uv finds."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(each) for each in sorted(versions.glob(f"{version}.*/bin/python"))), version)


def build_wheel(folder: Path) -> Path:
    """The package of this checkout."""
    subprocess.run(
        [UV, "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", str(folder), str(ROOT)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    (wheel,) = folder.glob("headgate-*.whl")
    return wheel


def fetch_jar(artifact: str) -> str | None:
    """The path of an artifact of Maven Central; None if it has none, or does not answer."""
    _, name, version = artifact.split(":")
    jar = CACHE / "jars" / f"{name}-{version}.jar"
    if not jar.is_file():
        jar.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["mvn", "-q", "-B", "-U", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={jar.parent}"],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    return str(jar) if jar.is_file() else None


def list_lanes() -> list[str]:
    return sorted(file.stem for file in LANES.glob("*.txt"))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if re.search(r"\S", line)]
    return lines[-1][:300] if lines else "no message"
