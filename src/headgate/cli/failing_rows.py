"""Rows that broke something: for `headgate rows`, and for reports of datasets that show values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headgate.display.page import Page
    from headgate.display.table import Table
    from headgate.evaluate.row_rules import RowFinder
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.project import Dataset

REASONS = "headgate_reasons"
MAX_EXAMPLES = 10
_MAX_CELL_LENGTH = 200  # characters of a value


class RowExamples(NamedTuple):
    """The first of the rows that break something, each with its values by column and the rules that it breaks."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    reasons: tuple[tuple[str, ...], ...]
    total: int

    def table(self, only: Sequence[str] = ()) -> Table:
        """A row for each with its reasons last; of these columns, if they are named."""
        return self._make_table(only, ["; ".join(why) for why in self.reasons])

    def page(self, title: str, only: Sequence[str] = ()) -> Page:
        """The reasons once, each with a letter, then the rows with their letters."""
        from headgate.display.blocks import Grid, Point, Points
        from headgate.display.page import Page

        every = dict.fromkeys(why for each in self.reasons for why in each)
        letters = {why: _reason_letter(at) for at, why in enumerate(every)}
        points = tuple(Point(why, mark=letter) for why, letter in letters.items())
        table = self._make_table(only, [" ".join(letters[why] for why in each) for each in self.reasons])
        return Page(title, blocks=(Points(points), Grid(table)))

    def _make_table(self, only: Sequence[str], last: Sequence[str]) -> Table:
        from headgate.display.table import Table

        columns = [name for name in self.columns if not only or name in only]
        cells = [tuple(format_cell(row[name]) for name in columns) for row in self.rows]
        lines = tuple((*row, why) for row, why in zip(cells, last, strict=True))
        numbers = (int, float, type(None))
        numeric = [all(isinstance(row[name], numbers) for row in self.rows) for name in columns]
        return Table((*columns, "breaks"), lines, frozenset(at for at, is_so in enumerate(numeric) if is_so))


def _reason_letter(at: int) -> str:
    """A short name for the reason at a place.

    >>> _reason_letter(0), _reason_letter(25), _reason_letter(26)
    ('a', 'z', 'a1')
    """
    round_, place = divmod(at, 26)
    return chr(ord("a") + place) + (str(round_) if round_ else "")


def find_failing_rows(
    dataset: Dataset, partition: str, verdict: BatchVerdict | None, limit: int, count_all: bool = True
) -> RowExamples:
    """The rows of a batch to blame for a verdict. Of one that was read from the history, the declared checks are judged
    against the data again, and what else it found is added. Not `count_all`, only the first rows are looked for."""
    data = dataset.read(partition)
    if verdict is not None and verdict.has_rows:
        return _collect_rows(verdict.rows(data), limit, count_all)
    return _collect_rows(_find_again(dataset, partition, data, verdict).rows(data), limit, count_all)


def _find_again(dataset: Dataset, partition: str, data: Any, verdict: BatchVerdict | None) -> RowFinder:
    from headgate.evaluate.row_rules import JudgedExpectation, RowFinder
    from headgate.evaluate.verify import verify
    from headgate.metrics.base.registry import from_key, metrics
    from headgate.values.expectation import Source

    gate = dataset.gate
    judged: list[JudgedExpectation] = []
    if gate.checks:
        again = verify(data, gate.checks, store=gate.store, dataset=gate.dataset, partition=partition)
        judged += again.judged
    learned = [] if verdict is None else [e for e in verdict.failures if e.expectation.source is not Source.DECLARED]
    for number, each in enumerate(learned, len(judged)):
        if each.expectation.metric.name in metrics():  # a distance between batches is of no single row
            judged.append(JudgedExpectation("learned", number, from_key(each.expectation.metric), each))
    return RowFinder(judged)


def _collect_rows(found: Any, limit: int, count_all: bool) -> RowExamples:
    """The first rows as plain values, whatever engine found them."""
    from headgate.engine.batch import is_spark

    if is_spark(found):
        rows = [each.asDict(recursive=True) for each in found.limit(limit).collect()]
        total = found.count() if count_all and len(rows) == limit else len(rows)  # fewer than the limit are all
        columns = tuple(found.columns)
    else:
        total, columns = found.num_rows, tuple(found.column_names)
        rows = found.slice(0, limit).to_pylist()
    reasons = tuple(tuple(dict.fromkeys(each["rule"] for each in row.pop(REASONS) or ())) for row in rows)
    return RowExamples(tuple(name for name in columns if name != REASONS), tuple(rows), reasons, total)


def format_cell(value: Any) -> str:
    """A value of the data as a cell.

    >>> format_cell(None), format_cell("a\\nb"), format_cell(1.5)
    ('null', 'a\\nb', '1.5')
    """
    return "null" if value is None else str(value)[:_MAX_CELL_LENGTH]


def examples_of(dataset: Dataset, verdict: BatchVerdict) -> Table | None:
    """Rows for a report: only of datasets that say `show_values: true`, and never a reason to have no report."""
    settings = dataset.settings
    if not settings.show_values or verdict.passed:
        return None
    try:
        found = find_failing_rows(dataset, verdict.partition, verdict, MAX_EXAMPLES, count_all=False)
    except Exception:
        return None
    wanted = [*settings.keys, *(name for cause in verdict.causes for name in cause.columns)]
    return found.table(wanted) if found.rows else None
