"""Finds the failing rows of a batch, for `headgate rows` and for reports of datasets that show values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headgate.display.page import Page
    from headgate.display.table import Table
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.dataset import Dataset

REASONS = "headgate_reasons"
MAX_EXAMPLES = 10
_MAX_CELL_LENGTH = 200  # characters of a value


class RowExamples(NamedTuple):
    """The first failing rows, each with its values by column and the rules that it breaks."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    reasons: tuple[tuple[str, ...], ...]
    total: int

    def table(self, only: Sequence[str] = ()) -> Table:
        """A table of the rows with the reasons in the last column; `only` limits it to these columns."""
        return self._make_table(only, ["; ".join(why) for why in self.reasons])

    def page(self, title: str, only: Sequence[str] = ()) -> Page:
        """A page with a letter for each reason, then a table of the rows with their letters."""
        from headgate.display.blocks import Grid, Point, Points
        from headgate.display.page import Page

        distinct = dict.fromkeys(why for each in self.reasons for why in each)
        letters = {why: _reason_letter(index) for index, why in enumerate(distinct)}
        points = tuple(Point(why, mark=letter) for why, letter in letters.items())
        table = self._make_table(only, [" ".join(letters[why] for why in each) for each in self.reasons])
        return Page(title, blocks=(Points(points), Grid(table)))

    def _make_table(self, only: Sequence[str], last: Sequence[str]) -> Table:
        from headgate.display.table import Table

        columns = [name for name in self.columns if not only or name in only]
        cells = [tuple(format_cell(row[name]) for name in columns) for row in self.rows]
        lines = tuple((*row, why) for row, why in zip(cells, last, strict=True))
        numbers = (int, float, type(None))
        numeric = frozenset(
            index for index, name in enumerate(columns) if all(isinstance(row[name], numbers) for row in self.rows)
        )
        return Table((*columns, "breaks"), lines, numeric)


def _reason_letter(index: int) -> str:
    """A short name for the reason at this index.

    >>> _reason_letter(0), _reason_letter(25), _reason_letter(26)
    ('a', 'z', 'a1')
    """
    round_, letter = divmod(index, 26)
    return chr(ord("a") + letter) + (str(round_) if round_ else "")


def find_failing_rows(
    dataset: Dataset, partition: str, verdict: BatchVerdict | None, limit: int, count_all: bool = True
) -> RowExamples:
    """The failing rows of a batch.

    Without `count_all`, Spark does not count the rows beyond the limit, which would cost another pass.
    """
    from headgate.gate.recorded_rows import find_recorded_rows

    data = dataset.read(partition)
    if verdict is not None and verdict.has_rows:
        return _collect_rows(verdict.rows(data), limit, count_all)
    return _collect_rows(find_recorded_rows(dataset.gate, partition, data, verdict).rows(data), limit, count_all)


def _collect_rows(data: Any, limit: int, count_all: bool) -> RowExamples:
    """The first rows as plain values, from a Spark DataFrame or an Arrow table."""
    from headgate.engine.batch import is_spark

    if is_spark(data):
        rows = [each.asDict(recursive=True) for each in data.limit(limit).collect()]
        total = data.count() if count_all and len(rows) == limit else len(rows)  # fewer than the limit are all
        columns = tuple(data.columns)
    else:
        total, columns = data.num_rows, tuple(data.column_names)
        rows = data.slice(0, limit).to_pylist()
    reasons = tuple(tuple(dict.fromkeys(each["rule"] for each in row.pop(REASONS) or ())) for row in rows)
    return RowExamples(tuple(name for name in columns if name != REASONS), tuple(rows), reasons, total)


def format_cell(value: Any) -> str:
    """A value of the data as the text of a cell.

    >>> format_cell(None), format_cell("a\\nb"), format_cell(1.5)
    ('null', 'a\\nb', '1.5')
    """
    return "null" if value is None else str(value)[:_MAX_CELL_LENGTH]


def examples_of(dataset: Dataset, verdict: BatchVerdict) -> Table | None:
    """Failing rows for a report, if the dataset says `show_values: true`. An error gives None: the report goes on."""
    settings = dataset.settings
    if not settings.show_values or verdict.passed:
        return None
    try:
        examples = find_failing_rows(dataset, verdict.partition, verdict, MAX_EXAMPLES, count_all=False)
    except Exception:
        return None
    columns = [*settings.keys, *(name for cause in verdict.causes for name in cause.columns)]
    return examples.table(columns) if examples.rows else None
