"""Files and folders that survive a power cut: each step is synced, and has a fault point before it for tests."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal

from headgate.store.fault_points import fault_point


def write_durably(file: Path, data: bytes, *, mode: Literal["wb", "xb"] = "wb", points: tuple[str, str]) -> None:
    """Write a file and sync it; `points` are the fault points before the write and before the sync."""
    before_write, before_sync = points
    fault_point(before_write)
    with open(file, mode) as opened:
        opened.write(data)
        opened.flush()
        fault_point(before_sync)
        os.fsync(opened.fileno())


def make_durable(folder: Path, *, sync_point: str, make_point: str = "") -> None:
    """Create a folder and its parents, and sync each to its parent."""
    if folder.is_dir():
        return
    make_durable(folder.parent, sync_point=sync_point, make_point=make_point)
    if make_point:
        fault_point(make_point)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    sync_folder(folder.parent, sync_point)


def sync_folder(folder: Path, point: str) -> None:
    """Make the names in a folder durable; only POSIX systems can."""
    if os.name != "posix":
        return
    fault_point(point)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
