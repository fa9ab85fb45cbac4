"""Rows of another time are in the batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.learn.metric_traits import OUTSIDE_PERIOD
from headgate.values.key import MetricKey
from headgate.values.schema import TEMPORAL

_FEWEST = 0.01


@fault
class OtherPartition(KnownFault):
    """Rows whose times are those of another batch, beside the rows of this one or instead of them."""

    name: ClassVar = "other_partition"

    def fit_table(self, table: TablePair) -> Iterator[Fit]:
        for label, pair in table.pairs.items():
            if pair.before.kind not in TEMPORAL:
                continue
            key = MetricKey(OUTSIDE_PERIOD, (label,))
            outside = table.read_number(key)
            if outside is None or key not in table.failed:
                continue
            series = table.past.series(key) if any(each.key == key for each in table.past.metrics) else ()
            usual = max((float(each) for each in series if each == each), default=0.0)
            if outside - usual > _FEWEST:
                what = f"{format_share(outside)} of the rows are of another time, by {label}"
                yield Fit(self.name, what, 0.12, (label,), {"share": round(outside, 6)}, outside, 0.05)
