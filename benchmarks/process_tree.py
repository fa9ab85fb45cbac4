"""CPU seconds and memory of a process and all that it started, read from /proc (Linux)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
MEGABYTE = 1_000_000
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """One process: what it used itself, and what those of its children used that ended and were waited for."""

    pid: int
    parent: int
    name: str
    own_ticks: int
    ended_ticks: int
    rss_bytes: int

    @property
    def cpu_seconds(self) -> float:
        return (self.own_ticks + self.ended_ticks) / TICKS


def read_tree(root: int) -> list[ProcessStat]:
    """The process and all below it; those that end meanwhile are left out, as their parent counts them from then on."""
    every = {process.pid: process for process in _read_all()}
    below: dict[int, list[int]] = {}
    for process in every.values():
        below.setdefault(process.parent, []).append(process.pid)
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        if pid in every:
            found.append(every[pid])
            waiting += below.get(pid, [])
    return found


def cpu_seconds(root: int) -> float:
    """CPU seconds of the whole tree since it began, in user and kernel mode, those of ended children included."""
    return sum(process.cpu_seconds for process in read_tree(root))


def _read_all() -> Iterator[ProcessStat]:
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (process := _read(folder)):
            yield process


def _read(folder: Path) -> ProcessStat | None:
    try:
        text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # the name stands in brackets and may itself hold spaces and brackets
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    user, system, ended_user, ended_system = (int(fields[at]) for at in (11, 12, 13, 14))
    return ProcessStat(
        pid=int(folder.name),
        parent=int(fields[1]),
        name=name,
        own_ticks=user + system,
        ended_ticks=ended_user + ended_system,
        rss_bytes=int(fields[21]) * PAGE,
    )


def _read_pss(pid: int) -> int:
    """Proportional set size: pages that forked workers share are counted once, in shares."""
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@dataclass
class MemoryPeak:
    """The largest sums over the tree, and the largest single process of each role, in megabytes."""

    rss: float = 0.0
    pss: float = 0.0
    driver: float = 0.0
    jvm: float = 0.0
    worker: float = 0.0

    def to_dict(self) -> dict[str, float]:
        return {
            "rss_mb": round(self.rss, 1),
            "pss_mb": round(self.pss, 1),
            "driver_python_pss_mb": round(self.driver, 1),
            "jvm_pss_mb": round(self.jvm, 1),
            "largest_worker_pss_mb": round(self.worker, 1),
        }


@dataclass
class MemoryWatch:
    """Samples the memory of a tree in a thread of its own, while the `with` block runs."""

    root: int
    every_seconds: float = 0.1
    pss_every: int = 5  # reading PSS walks the page tables of the JVM, so it is done less often
    peak: MemoryPeak = field(default_factory=MemoryPeak)

    def __enter__(self) -> MemoryWatch:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.sample(with_pss=True)

    def _watch(self) -> None:
        turn = 0
        while not self._ended.wait(self.every_seconds):
            turn += 1
            self.sample(with_pss=turn % self.pss_every == 1)

    def sample(self, with_pss: bool) -> None:
        processes = read_tree(self.root)
        self.peak.rss = max(self.peak.rss, sum(process.rss_bytes for process in processes) / MEGABYTE)
        if not with_pss:
            return
        sizes = [(process, _read_pss(process.pid) / MEGABYTE) for process in processes]
        self.peak.pss = max(self.peak.pss, sum(size for _, size in sizes))
        for process, size in sizes:
            role = "driver" if process.pid == self.root else "jvm" if process.name == "java" else "worker"
            setattr(self.peak, role, max(getattr(self.peak, role), size))
