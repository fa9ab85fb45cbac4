"""Column profiles for the tests of suggestion rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from headgate.learn.rules.column import ColumnProfile
from headgate.learn.rules.profile import profile
from headgate.learn.rules.rule import Suggestion, suggestion_rules


def column_of(values: Sequence[Any] | pa.Array, name: str = "c") -> ColumnProfile:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return profile(pa.table({name: array}))[name]


def suggested(rule: str, values: Sequence[Any] | pa.Array, name: str = "c", table: str = "") -> list[Suggestion]:
    """What one rule suggests for a column of these values."""
    return list(suggestion_rules()[rule].suggest(column_of(values, name), table))


def texts(rule: str, values: Sequence[Any] | pa.Array, name: str = "c", table: str = "") -> list[str]:
    return [str(each) for each in suggested(rule, values, name, table)]
