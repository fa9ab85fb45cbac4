"""Expect of columns that follow from the date of a batch exactly what the date says."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.learn.dated_columns import ENDS
from headgate.learn.past import Past
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import OneOf
from headgate.values.proposal import Proposal
from headgate.values.schema import TEMPORAL


def propose_dates(past: Past) -> Iterator[Proposal]:
    """Expect the month of the batch in a column that always held the month, and so on.

    These proposals cost nothing: a column that was the month in all runs, over several months, is the month.
    """
    kinds = {column.label: column.kind for column in past.schema.columns}
    for label, column in past.dated.items():
        if column.expected:
            predicate = OneOf(column.expected, moments=kinds[label] in TEMPORAL)
            note = f"the {column.function} of the batch in all {len(past)} runs"
            for name in ENDS:
                yield Proposal(
                    Expectation(MetricKey(name, (label,)), predicate, Source.HISTORY, false_alarm=0.0), note=note
                )
