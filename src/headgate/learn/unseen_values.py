"""Finds the rows of a batch whose value in a column no run before had.

Tested by `tests/gate/test_unseen_values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from headgate.learn.past import Past
from headgate.metrics.base.hashing import hash_label
from headgate.metrics.base.metric import FailingRows
from headgate.metrics.base.sql import quote_name, quote_value
from headgate.metrics.distances.new_values import NewValues
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.key import MetricKey
from headgate.values.schema import Kind
from headgate.values.state import State

_EXACT = frozenset({Kind.STRING, Kind.INTEGER, Kind.BOOLEAN})
"""Kinds whose values Spark casts to the texts by which they are counted."""


def get_frequencies_key(column: str) -> MetricKey:
    """The key of the values of a column, with their counts."""
    return MetricKey("frequent_values", (column,))


def choose_name(secret: bytes | None, now: Frequencies) -> Callable[[str], str]:
    """What the runs before know a text of the batch by: its hash in a store that hides values."""
    return str if secret is None or now.hashed else partial(hash_label, secret=secret)


def find_unseen_rows(past: Past | None, failed: MetricKey, states: Mapping[MetricKey, State]) -> FailingRows | None:
    """The rows with values that no run before had; None if these values are not all known.

    Args:
        past: The runs before.
        failed: What the batch failed by. Only `new_values` is about such rows.
        states: The states of the batch, with values that are not hashed.
    """
    if past is None or failed.name != NewValues.name:
        return None
    (column,) = failed.columns
    kinds = {each.label: each.kind for each in past.schema.columns if not each.repeated}
    now, before = states.get(get_frequencies_key(column)), past.merged.get(get_frequencies_key(column))
    if kinds.get(column) not in _EXACT or not (isinstance(now, Frequencies) and isinstance(before, Frequencies)):
        return None
    if now.lost or before.lost or (now.hashed and past.secret is not None):
        return None
    known, name = before.labels(), choose_name(past.secret, now)
    unseen = [text for text in now.labels() if name(text) not in known]
    if not unseen:
        return None
    test = f"CAST({quote_name(column)} AS STRING) IN ({', '.join(map(quote_value, unseen))})"
    return FailingRows((column,), test, message="no run before had this value")
