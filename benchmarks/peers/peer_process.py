"""A system that runs in a process of its own and answers one question at a time; it is measured from outside."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.process_tree import MemoryWatch, cpu_seconds, read_tree

Answer = dict[str, Any]
START_SECONDS = 180.0
STOP_SECONDS = 20.0
SETTLE_SECONDS = 5.0


class PeerFailed(Exception):
    """The process ended, took too long, or said something that is no answer."""


class PeerProcess:
    """A server started with the interpreter of its environment; close it, or use it as a context."""

    def __init__(self, interpreter: Path, script: Path, folder: Path, words: tuple[str, ...] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log.txt"
        outside = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK", "PYSPARK"))
        }
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [str(interpreter), str(script), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
                env=outside,
                start_new_session=True,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, question: dict[str, Any], limit: float) -> Answer:
        """Send one line, wait for one line.

        A peer that does not answer within `limit` seconds is ended: its Spark job could not be stopped otherwise.
        """
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            self.close(at_once=True)
            raise PeerFailed(f"no answer within the limit of {limit:g} seconds") from None
        except BrokenPipeError:
            line = None
        if line is None:
            raise PeerFailed(f"the process ended: {self._last_words()}")
        answer: Answer = json.loads(line)
        return answer

    def measure(self, question: dict[str, Any], limit: float) -> Answer:
        """What `ask` gives, with the CPU seconds of the whole tree and its peak memory meanwhile."""
        with MemoryWatch(self.pid) as memory:
            before, began = cpu_seconds(self.pid), time.perf_counter()
            answer = self.ask(question, limit)
            waited, spent = time.perf_counter() - began, cpu_seconds(self.pid) - before
        after = self._settle()
        figures = {"cpu": spent, "cpu_after": after, "waited": waited, "memory": memory.peak.to_dict()}
        return answer | figures

    def _settle(self) -> float:
        """Wait until the tree is nearly idle, so that what it leaves to do does not disturb the next one's turn.

        The JVM compiles and cleans up after a job. The CPU seconds are given, but counted to nothing.
        """
        first = last = cpu_seconds(self.pid)
        deadline = time.perf_counter() + SETTLE_SECONDS
        while time.perf_counter() < deadline:
            time.sleep(0.25)
            now = cpu_seconds(self.pid)
            if now - last < 0.03:
                break
            last = now
        return cpu_seconds(self.pid) - first

    def close(self, at_once: bool = False) -> None:
        """End the process and all below it, by their ids: Python workers are in process groups of their own."""
        assert self._process.stdin
        assert self._process.stdout
        if not at_once:
            with suppress(subprocess.TimeoutExpired, BrokenPipeError):
                self._process.stdin.close()
                self._process.wait(STOP_SECONDS)
        if self._process.poll() is None:
            for process in read_tree(self.pid):
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            self._process.wait()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._reader.join(STOP_SECONDS)
        self._process.stdout.close()

    def _read_lines(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        return " ".join(self.log.read_text(errors="replace")[-600:].split())
