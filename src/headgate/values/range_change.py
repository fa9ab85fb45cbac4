"""How the expected range of a metric changes if a batch is accepted."""

from __future__ import annotations

import msgspec

from headgate.values.key import MetricKey
from headgate.values.predicate import Predicate
from headgate.values.schema import Kind


class RangeChange(msgspec.Struct, frozen=True):
    """What is expected of a metric of the next batch now, and what would be if one or several batches were accepted.

    `before` or `after` is None if nothing is expected of the metric. `accepted_values` are the values of the batches,
    in their order. `kind` is that of the column.

    >>> from headgate.values.predicate import Between
    >>> change = RangeChange(MetricKey("mean", ("price",)), Between(19, 29), Between(14, 34), (30.0, 2437.0))
    >>> change.is_changed, change.values_outside
    (True, (2437.0,))
    """

    metric: MetricKey
    before: Predicate | None
    after: Predicate | None
    accepted_values: tuple[float, ...] = ()
    kind: Kind | None = None

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    @property
    def values_outside(self) -> tuple[float, ...]:
        """The accepted values outside of the range after. They are remembered: a batch that is like theirs passes."""
        after = self.after
        return () if after is None else tuple(each for each in self.accepted_values if not after.holds(each))
