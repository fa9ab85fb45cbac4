"""What a rule may need to become an expectation: the schema of the batch, the time, other tables, past values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from headgate.values.key import MetricKey
from headgate.values.predicate import Pending, Predicate
from headgate.values.schema import Column, Kind, Schema

_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)


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
    """A context without a batch, to test whether the arguments of a rule are valid."""

    schema = Schema((Column("any", Kind.OTHER, "any"),))
    now = _NO_DAY

    def rows_of(self, table: str) -> int:
        return len(table)

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        return Pending(f"{metric} has no past for {detector}")
