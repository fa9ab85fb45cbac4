"""What every verdict over a batch offers: its status, its judgements, and the failing rows.

Tested by `tests/evaluate/test_row_rules.py` and `tests/gate/test_batch_verdict.py`.
"""

from __future__ import annotations

from typing import Any

from headgate.display.page import Paged
from headgate.engine.row_rule import Values
from headgate.evaluate.row_rules import RowFinder
from headgate.values.errors import MisuseError
from headgate.values.expectation import Judgement, Status
from headgate.values.verdict import Verdict


class JudgedBatch(Paged):
    """A verdict over a batch. Given the same data again, `rows` and `split` find the failing rows."""

    @property
    def verdict(self) -> Verdict:
        """All judgements, in the order of the expectations."""
        raise NotImplementedError

    @property
    def _finder(self) -> RowFinder:
        """What finds rows; raises `MisuseError` where the batch was not judged here."""
        raise NotImplementedError

    @property
    def status(self) -> Status:
        """How it was judged: pass, fail, or error if something could not be evaluated, which is never a pass."""
        return self.verdict.status

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        return self.verdict.judgements

    @property
    def failures(self) -> tuple[Judgement, ...]:
        """What was not met, at any level."""
        return self.verdict.failures

    @property
    def errors(self) -> tuple[Judgement, ...]:
        """What could not be evaluated."""
        return tuple(each for each in self.judgements if each.status is Status.ERROR)

    def rows(self, data: Any, *, values: Values = "plain") -> Any:
        """The rows that break a failed rule, with a column `headgate_reasons`: an array of structs, one for each rule.

        A reason has the fields rule, level, columns, value and message, all texts. One pass and no cap. A failure that
        is not one of single rows (a mean out of range) marks no row.

        Args:
            data: The batch that was judged.
            values: Whether reasons have the values that fail: `plain`, or `hidden`, where they are null. A table may
                mask a column for some readers; a copy of its values in the reasons would not be masked.
        """
        return self._finder.rows(data, values)

    def split(self, data: Any, *, values: Values = "plain") -> tuple[Any, Any]:
        """The rows that break no rule of level error, and those that do, with their reasons.

        Refused where a rule could not be evaluated: rows that nothing is known of are not good. The arguments are those
        of `rows`.
        """
        finder = self._finder
        if self.errors:
            raise MisuseError(
                f"{len(self.errors)} rules could not be evaluated, so which rows are good is not known.",
                hint="verdict.errors says why; verdict.rows(df) has the rows that break the others.",
            )
        return finder.split(data, values)
