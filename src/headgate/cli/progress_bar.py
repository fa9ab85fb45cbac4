"""How far long work has come, on a terminal: what is done, at which stage, how many rows, how quick."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headgate.engine.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console


DEFAULT_STAGE = "scanning"


@contextlib.contextmanager
def show_progress_bar(console: Console, title: str, stage: str = "") -> Iterator[Callable[[Progress], None]]:
    """A line that moves while the work goes on, and is gone when it is done."""
    from rich import progress as shown
    from rich.markup import escape

    bar = shown.Progress(
        shown.SpinnerColumn(),
        shown.TextColumn("{task.description}"),
        shown.BarColumn(bar_width=20),
        shown.TextColumn("{task.fields[said]}"),
        shown.TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(escape(title), total=None, said=escape(stage))
        began: list[float] = []

        def update_bar(progress: Progress) -> None:
            began.append(time.monotonic()) if not began else None
            said = format_progress(progress, time.monotonic() - began[0])
            bar.update(task, completed=progress.done, total=progress.total or None, said=escape(said))

        yield update_bar


def format_progress(progress: Progress, seconds: float) -> str:
    """Stage, what is done, and the rate.

    >>> format_progress(Progress(3, 8, stage="stage 1 of 2"), 2.0)
    'stage 1 of 2, 3 of 8 tasks, 1.5 tasks/s'
    >>> format_progress(Progress(200_000, 0, rows=200_000), 4.0)
    'scanning, 200,000 rows, 50,000 rows/s'
    """
    parts = [progress.stage or DEFAULT_STAGE]
    if progress.rows is not None:
        parts.append(f"{progress.rows:,} rows" + _format_rate(progress.rows, seconds, "rows"))
    else:
        parts.append(f"{progress.done:,} of {progress.total:,} tasks" + _format_rate(progress.done, seconds, "tasks"))
    if progress.bytes:
        parts.append(f"{progress.bytes / 1e6:,.0f} MB" + _format_rate(progress.bytes / 1e6, seconds, "MB"))
    return ", ".join(parts)


def _format_rate(count: float, seconds: float, unit: str) -> str:
    if seconds < 0.5 or not count:  # too early to say
        return ""
    each = count / seconds
    return f", {each:,.0f} {unit}/s" if each >= 10 else f", {each:,.1f} {unit}/s"
