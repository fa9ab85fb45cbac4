"""What a rule may need to become an expectation: the schema of the batch, the time, other tables, past values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from headgate.values.key import MetricKey
from headgate.values.predicate import Pending, Predicate
from headgate.values.schema import Column, Kind, Schema

_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_ANY_SCHEMA = Schema((Column("any", Kind.OTHER, "any"),))


class RuleContext(Protocol):
    """The context of one judged batch. Only what a rule needs is requested, since some answers cost a scan."""

    @property
    def schema(self) -> Schema: ...

    @property
    def now(self) -> datetime: ...

    def rows_of(self, table: str) -> int:
        """How many rows another table has."""
        ...

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        """The predicate that a detector derives for the next value of a metric from its past values."""
        ...


class AnyRuleContext:
    """A context without a batch, or with nothing of it but its schema.

    It tells whether the arguments of a rule are valid, and what a rule of the columns alone expects.
    """

    now = _NO_DAY

    def __init__(self, schema: Schema = _ANY_SCHEMA) -> None:
        self.schema = schema

    def rows_of(self, table: str) -> int:
        return len(table)

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        return Pending(f"{metric} has no past for {detector}")
