"""A progress bar for a terminal: stage, tasks or rows done, and the rate."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headgate.display.text import escape_line
from headgate.engine.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console


DEFAULT_STAGE = "scanning"


@contextlib.contextmanager
def show_progress_bar(console: Console, title: str, stage: str = "") -> Iterator[Callable[[Progress], None]]:
    """Show a bar while the work goes on, and erase it at the end. Gives the callback that updates it."""
    from rich import progress as shown
    from rich.markup import escape

    bar = shown.Progress(
        shown.SpinnerColumn(),
        shown.TextColumn("{task.description}"),
        shown.BarColumn(bar_width=20),
        shown.TextColumn("{task.fields[status]}"),
        shown.TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(escape(escape_line(title)), total=None, status=escape(escape_line(stage)))
        started: float | None = None

        def update_bar(progress: Progress) -> None:
            nonlocal started
            if started is None:  # the rate is that of the scan, without what came before it
                started = time.monotonic()
            status = format_progress(progress, time.monotonic() - started)
            bar.update(task, completed=progress.done, total=progress.total or None, status=escape(escape_line(status)))

        yield update_bar


def format_progress(progress: Progress, seconds: float) -> str:
    """The stage, the tasks or rows done, and the rate.

    >>> format_progress(Progress(3, 8, stage="stage 1 of 2"), 2.0)
    'stage 1 of 2, 3 of 8 tasks, 1.5 tasks/s'
    >>> format_progress(Progress(200_000, 0, rows=200_000), 4.0)
    'scanning, 200,000 rows, 50,000 rows/s'
    """
    parts = [progress.stage or DEFAULT_STAGE]
    if progress.rows is not None:
        parts.append(f"{progress.rows:,} rows" + _format_rate(progress.rows, seconds, "rows"))
    else:
        parts.append(
            f"{progress.done:,} of {progress.total:,} {progress.unit}"
            + _format_rate(progress.done, seconds, progress.unit)
        )
    if progress.bytes:
        parts.append(f"{progress.bytes / 1e6:,.0f} MB" + _format_rate(progress.bytes / 1e6, seconds, "MB"))
    return ", ".join(parts)


def _format_rate(count: float, seconds: float, unit: str) -> str:
    if seconds < 0.5 or not count:  # too early for a rate
        return ""
    rate = count / seconds
    return f", {rate:,.0f} {unit}/s" if rate >= 10 else f", {rate:,.1f} {unit}/s"
