"""On what a figure was measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from benchmarks.timing import cores


def describe_machine() -> dict[str, str | int | float]:
    """The processor, the memory, the system, and how busy the machine was in the last minute."""
    return {
        "processor": _find("/proc/cpuinfo", "model name"),
        "cores": cores(),
        "memory_gb": round(int(_find("/proc/meminfo", "MemTotal").split()[0]) / 1e6, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
    }


def _find(file: str, key: str) -> str:
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "0"
