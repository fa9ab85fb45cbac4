"""Numbers came as texts, or texts as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from headgate.diagnose.column_pair import SHAPE, ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.values.schema import NUMERIC, TEMPORAL, Kind

_NUMBER_PATTERNS = frozenset({"9", "-9", "9.9", "-9.9", "9,9", "9,9.9", ""})


@fault
class TypeChanged(KnownFault):
    """A column whose type is another one, with about the same values."""

    name: ClassVar = "type_changed"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        before, now = pair.before.kind, pair.now.kind
        if before is now or _group(before) == _group(now) or not pair.now.present:
            return  # an empty column has lost its values, and its type with them
        what = f"is {_name(now)}, it was {_name(before)}"
        yield Fit(self.name, what, _measure_left(pair), (pair.label,), {"from": before.value, "to": now.value})


def _group(kind: Kind) -> str:
    return "time" if kind in TEMPORAL else kind.value


def _name(kind: Kind) -> str:
    names = {Kind.STRING: "text", Kind.INTEGER: "whole numbers", Kind.FLOAT: "numbers with decimals"}
    return names.get(kind, kind.value)


def _measure_left(pair: ColumnPair) -> float:
    """How far the values lie apart, if they are read as what they were."""
    if pair.before.kind in NUMERIC and pair.now.kind is Kind.STRING:
        numbers = pair.now.read_numbers()
        if numbers is None:
            share = sum(part for pattern, part in pair.now.patterns.items() if pattern in _NUMBER_PATTERNS)
            return 0.1 if share > 0.95 else 0.45
        read = replace(pair, now=numbers)
        return min(0.45, 2 * read.find_excess(SHAPE, read.compare_shape(read.cdf_before)))
    return 0.1 if pair.before.kind in NUMERIC and pair.now.kind in NUMERIC else 0.2
