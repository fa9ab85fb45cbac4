"""The share of values that another table has."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import NO_VALUES, FailingRows, GroupMetric, Membership, too_few
from headgate.metrics.base.registry import metric
from headgate.metrics.states.counts import MatchCount
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.schema import HASHABLE


@metric
class Containment(GroupMetric[MatchCount], frozen=True):
    """|{row : its values stand together in a row of the other table}| / |{row : one of its values is present}|.

    Over one column or several together. Nulls are equal to nulls where there are several columns; a row whose values
    are all null is left out. `table` names the other table, which is given where the batch is measured; `of` its
    column, if that has another name. Exact. Merges over batches that were held against the same table.
    """

    table: str
    of: str = ""
    name: ClassVar = "containment"
    share: ClassVar = True
    state: ClassVar = MatchCount
    accepts: ClassVar = HASHABLE
    fold_parameters: ClassVar = ("table", "of")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of and len(self.inputs) > 1:
            raise MisuseError("containment over several columns needs them under the same names in the other table.")
        if not self.of and len(self.inputs) == 1:
            msgspec.structs.force_setattr(self, "of", self.inputs[0])

    @property
    def memberships(self) -> tuple[Membership, ...]:
        return (Membership(self.table, self.inputs, (self.of,) if self.of else self.inputs),)

    def fold(self, *columns: ColumnBatch) -> MatchCount:
        *keys, found = columns
        inside = keys[0].valid.copy()
        for key in keys[1:]:
            inside |= key.valid
        held = found.valid & inside
        return MatchCount(matched=int(held.sum()), seen=int(inside.sum()))

    def measure(self, state: MatchCount) -> Outcome:
        return Measured(state.matched / state.seen) if state.seen else Undefined(NO_VALUES)

    def failing_rows(self, predicate: Predicate, value: float) -> FailingRows | None:
        message = f"{' and '.join(self.inputs)} {'is' if len(self.inputs) == 1 else 'are'} not in {self.table}"
        absent = FailingRows(self.inputs, absent=self.memberships[0], message=message)
        return absent if too_few(predicate, value) else None
