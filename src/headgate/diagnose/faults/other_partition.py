"""Rows of another time are in the batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from headgate.diagnose.column_pair import ColumnPair, measure_difference
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.learn.metric_traits import OUTSIDE_PERIOD
from headgate.values.key import MetricKey
from headgate.values.schema import TEMPORAL

_FEWEST = 0.01
_ONE = 0.99  # of the rows of a batch that have its value
_BATCHES, _FEW_BATCHES = 5, 4  # values of all batches, at least; values of the rows of one or two batches


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
        for label, pair in table.pairs.items():
            share = _share_of_earlier(pair)
            if _FEWEST < share < 1:
                what = f"{format_share(share)} of the rows are of another batch, by {label}"
                yield Fit(self.name, what, 0.02, (label,), {"share": round(share, 6)}, share, 0.0)


def _share_of_earlier(pair: ColumnPair) -> float:
    """The share of rows of an earlier batch, by a column of texts in which each batch has a value of its own."""
    is_own = max(pair.before.values.values(), default=0.0) >= _ONE and len(pair.merged) >= _BATCHES
    if not pair.is_text or not is_own or len(pair.named) > _FEW_BATCHES:
        return 0.0
    if measure_difference(pair.now.patterns, pair.before.patterns) > 1 - _ONE:  # written in another way
        return 0.0
    known = {name: share for name, share in pair.named.items() if name in pair.merged}
    if len(known) == len(pair.named):  # the batch may have the value of the newest run
        known = {name: share for name, share in known.items() if name not in pair.before.values}
    return sum(known.values())
