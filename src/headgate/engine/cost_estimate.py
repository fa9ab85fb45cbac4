"""What a scan is estimated to cost, as a table: by column and state, with what it is estimated from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.display.blocks import Grid, Note
from headgate.display.numbers import format_share
from headgate.display.page import Page, Paged
from headgate.display.table import Table

_MOST_SHOWN = 40  # lines that a terminal or a notebook cell shows
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
SHARED, READ, TEST, JOB = "(shared)", "(read)", "(predicate)", "(job)"
"""The names of work that is no fold."""
UNMEASURED = "?"
"""Follows the name of a state whose cost nobody measured."""


class CostItem(msgspec.Struct, frozen=True):
    """One line of an estimate.

    Args:
        columns: The columns that it is about; none for what is done once for the whole scan.
        work: The state that is folded. In parentheses other work: reading, what the states of a column share, the job.
        seconds: CPU seconds for all rows.
        nanoseconds: CPU nanoseconds for each row, without what a batch or a job costs however few rows it has.
        bytes: The size of the state, about.
        metrics: The metrics that read the state.
        where: The predicate of the rows that are folded.
        is_measured: False if nobody measured the cost of this state, and that of others stands for it.
    """

    columns: tuple[str, ...]
    work: str
    seconds: float
    nanoseconds: float = 0.0
    bytes: float = 0.0
    metrics: tuple[str, ...] = ()
    where: str | None = None
    is_measured: bool = True

    @property
    def label(self) -> str:
        """The columns, and the predicate of the rows."""
        names = ", ".join(self.columns)
        return names if self.where is None else f"{names} where {self.where}".lstrip()


class Saving(msgspec.Struct, frozen=True):
    """What is saved by leaving out a column, or a state with all metrics that read it."""

    what: str
    seconds: float
    is_column: bool


class CostEstimate(Paged, msgspec.Struct, frozen=True, kw_only=True):
    """What a scan would cost, the most expensive first. `hg.explain_cost` makes it; it prints as a table.

    Args:
        rows: The rows that it is for.
        knows_rows: Whether that is the number of rows of the batch, or what the caller asked for.
        items: The parts of the cost, the most expensive first.
        reading: How the rows are read.
        text_bytes: How long texts are taken to be.
        seconds_if_few: CPU seconds if the texts of each column are few different ones; None if no column has texts.
        saving: What is best left out, if that saves more than a third.
        failed: The metrics that cannot be computed, each with the reason. They cost nothing.
        basis: On what the constants were measured.
    """

    rows: int
    knows_rows: bool
    items: tuple[CostItem, ...]
    reading: str
    text_bytes: float
    seconds_if_few: float | None = None
    saving: Saving | None = None
    failed: dict[str, str] = {}
    basis: str = ""

    @property
    def seconds(self) -> float:
        """CPU seconds of all processes together."""
        return sum(item.seconds for item in self.items)

    @property
    def bytes(self) -> float:
        """The size of all states, about."""
        return sum(item.bytes for item in self.items)

    def by_column(self) -> dict[str, float]:
        """CPU seconds by column, the most expensive first. What is done for several columns counts for each in part.

        >>> read = CostItem(("a", "b"), "groups", 3.0)
        >>> job = CostItem((), "(job)", 1.0)
        >>> CostEstimate(rows=9, knows_rows=True, items=(read, job), reading="", text_bytes=24).by_column()
        {'a': 1.5, 'b': 1.5}
        """
        sums: dict[str, float] = {}
        for item in self.items:
            for name in item.columns:
                sums[name] = sums.get(name, 0.0) + item.seconds / len(item.columns)
        return dict(sorted(sums.items(), key=lambda pair: -pair[1]))

    # --- for people

    def table(self, most: int | None = None) -> Table:
        """A table of one line for each part of the cost, for the first `most` or all."""
        headers = ("column", "state", "ns a row", "CPU s", "bytes", "metrics")
        rows = tuple(_format_item(item) for item in self.items[:most])
        return Table(headers, rows, numeric=frozenset({2, 3, 4}))

    def page(self) -> Page:
        grid = Grid(self.table(_MOST_SHOWN), widest=32, last=60)
        notes = list(self._list_notes())
        return Page(self._title(), blocks=(grid, *(Note(note, apart=at == 0) for at, note in enumerate(notes))))

    def _title(self) -> str:
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        states = sum(bool(item.metrics) for item in self.items)
        size = f"{states:,} state{'s' * (states != 1)} of about {format_bytes(self.bytes)}"
        return f"About {format_seconds(self.seconds)} CPU seconds for {rows}, {size}"

    def _list_notes(self) -> Iterator[str]:
        more = len(self.items) - _MOST_SHOWN
        if more > 0:
            yield f"... and {more:,} more; estimate.table().text() has them all"
        if self.saving is not None:
            yield self._describe_saving(self.saving)
        yield f"Reading: {self.reading}."
        if not self.knows_rows:
            yield f"{self.rows:,} rows are assumed: how many there are is not known without a scan. Pass rows=."
        if self.seconds_if_few is not None:
            few = format_seconds(self.seconds_if_few)
            yield (
                f"Texts are taken to have {self.text_bytes:g} bytes and to differ from row to row; "
                f"if few differ, it is about {few} CPU seconds."
            )
        if any(item.work == SHARED for item in self.items):
            yield f"{SHARED} is what states of one column have in common, such as sorting: the column pays for it once."
        if any(item.where for item in self.items):
            yield "Predicates are taken to be true of every row."
        if self.failed:
            yield f"Not computed: {', '.join(self.failed)}."
        if any(not item.is_measured for item in self.items):
            yield f"{UNMEASURED} marks a state whose cost was not measured; that of others stands for it."
        yield f"This is an estimate from constants that were measured on {self.basis}. Other machines and data differ."

    def _describe_saving(self, saving: Saving) -> str:
        what = f"the column {saving.what}" if saving.is_column else saving.what
        share = format_share(saving.seconds / self.seconds, digits=0)
        return f"Leave out {what} to save the most: about {format_seconds(saving.seconds)} CPU seconds, {share}."


def _format_item(item: CostItem) -> tuple[str, ...]:
    return (
        item.label,
        item.work if item.is_measured else f"{item.work} {UNMEASURED}",
        f"{item.nanoseconds:,.1f}" if item.nanoseconds else "",
        format_seconds(item.seconds),
        format_bytes(item.bytes) if item.bytes else "",
        ", ".join(item.metrics),
    )


def format_seconds(seconds: float) -> str:
    """Seconds in two digits, and in all of the whole ones.

    >>> format_seconds(0.01234), format_seconds(1.26), format_seconds(1234.5), format_seconds(1e-7)
    ('0.012', '1.3', '1,234', '0')
    """
    if seconds >= 10:
        return f"{seconds:,.0f}"
    return f"{float(f'{seconds:.2g}'):.10g}" if seconds >= 1e-5 else "0"


def format_bytes(count: float) -> str:
    """A number of bytes in two or three digits.

    >>> format_bytes(86), format_bytes(4170), format_bytes(25e6)
    ('86 B', '4.2 kB', '25 MB')
    """
    for unit, size in _UNITS:
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f} {unit}"
    return f"{count:.0f} B"
