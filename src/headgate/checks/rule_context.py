"""What a rule may have to know to become an expectation: the batch's schema, the time, other tables, the past."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from headgate.values.key import MetricKey
from headgate.values.predicate import Pending, Predicate
from headgate.values.schema import Column, Kind, Schema

_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class RuleContext(Protocol):
    """The circumstances of one judged batch. Asked only for what a rule needs, since some answers cost a scan."""

    @property
    def schema(self) -> Schema: ...

    @property
    def now(self) -> datetime: ...

    def rows_of(self, table: str) -> int:
        """How many rows another table has."""
        ...

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        """What a detector says that the next value of a metric must meet, from its past values."""
        ...


class AnyRuleContext:
    """A context in which a rule can be tried before there is a batch, to see whether its arguments are sound."""

    schema = Schema((Column("any", Kind.OTHER, "any"),))
    now = _NO_DAY

    def rows_of(self, table: str) -> int:
        return len(table)

    def band(self, metric: MetricKey, detector: MetricKey) -> Predicate:
        return Pending(f"{metric} has no past for {detector}")
