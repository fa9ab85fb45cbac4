"""A standalone Spark cluster on this machine: a master and two workers, on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyspark

HOME = Path(pyspark.__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headgate-ci"
UV = os.environ.get("UV", "uv")
NEEDED = ("numpy", "pyarrow", "msgspec", "datasketches")
_START_SECONDS = 90


class Cluster:
    """The master and its workers, each a process of its own; `with` ends them."""

    def __init__(self, memory: str = "2g") -> None:
        self.memory = memory
        self.folder = Path(tempfile.mkdtemp(prefix="headgate-cluster-"))
        self.port = _find_free_port()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def __enter__(self) -> Cluster:
        self._start("Master", "--port", str(self.port))
        _wait_until(lambda: _is_open(self.port))
        for _ in range(2):
            self._start("Worker", "--cores", "1", "--memory", self.memory, self.address)
        _wait_until(lambda: self._count("Successfully registered with master") == 2)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, role: str, *options: str) -> None:
        number = len(self._processes)
        # without PYTHONPATH: executors must not find the package of this checkout
        words = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
        words |= {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
        words |= {"SPARK_WORKER_DIR": str(self.folder / f"work{number}"), "SPARK_DAEMON_MEMORY": "512m"}
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{role.lower()}.{role}"]
        with (self.folder / f"{number}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [*command, "--host", "127.0.0.1", "--webui-port", "0", *options],
                    env=words,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def _count(self, text: str) -> int:
        logs = (file.read_text(encoding="utf-8", errors="replace") for file in self.folder.glob("*.log"))
        return sum(text in log for log in logs)


def make_environment(missing: Sequence[str] = ()) -> str:
    """The Python of executors, with what a scan needs but for some packages, and without this package."""
    place = CACHE / "clusters" / ("-".join(("without", *missing)) if missing else "whole")
    python = place / "bin" / "python"
    if not python.is_file():
        subprocess.run([UV, "venv", "--quiet", "--clear", "--python", "3.11", str(place)], check=True)
        packages = [name for name in NEEDED if name not in missing]
        subprocess.run([UV, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)
        if missing:  # others may have brought them
            subprocess.run([UV, "pip", "uninstall", "--quiet", "--python", str(python), *missing], check=True)
    return str(python)


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_until(is_so: object) -> None:
    assert callable(is_so)
    end = time.monotonic() + _START_SECONDS
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"the cluster did not start within {_START_SECONDS} seconds")
        time.sleep(0.2)
