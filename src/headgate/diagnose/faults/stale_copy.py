"""Data of an earlier batch came again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.faults.schema_changes import match_columns
from headgate.diagnose.table_pair import TablePair
from headgate.values.key import MetricKey

_ALL = 0.6  # of the columns that change from batch to batch


def _has_copies(table: TablePair) -> bool:
    """Whether a run before had the rows of another: then a batch is one for no fault."""
    known = [each for each in table.past.checksums if each is not None and each.rows]
    return len(set(known)) < len(known)


@fault
class StaleCopy(KnownFault):
    """All rows of an earlier batch, or columns that hold what they held in the batch before."""

    name: ClassVar = "stale_copy"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        if table.copy_of:
            is_usual = _has_copies(table) and (table.gone or table.added)
            if not is_usual and not match_columns(table):  # the same rows with a column renamed are no earlier batch
                yield Fit(self.name, f"the rows of {table.copy_of} came again", 0.0, (), {"partition": table.copy_of})
            return
        held = [label for label in table.pairs if table.read_number(MetricKey("unchanged", (label,))) == 1.0]
        changing = [key.columns[0] for key in table.failed if key.name == "unchanged" and key.columns[0] in held]
        if changing:
            what = "holds what it held in the batch before" if len(changing) == 1 else "hold what they held before"
            yield Fit(self.name, what, 0.1, tuple(changing))
