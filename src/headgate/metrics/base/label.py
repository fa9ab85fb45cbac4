"""The plain name of a metric and the format of its values, declared on the metric and used wherever it is shown."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ValueFormat(StrEnum):
    """How a value is printed."""

    NUMBER = "number"
    COUNT = "count"  # as a whole number
    SHARE = "share"  # as a percentage
    MISSING = "missing"  # 1 - value as a percentage: readers want the share of nulls, or of what is not finite
    FLAG = "flag"  # as yes or no


class Label(msgspec.Struct, frozen=True):
    """The plain words for a metric.

    `phrase` is a text with `{}` in place of the value; it is empty if readers need an explanation of the metric.
    `name` is the title of a chart, by default the phrase without the value. Of two metrics that moved equally far, the
    one with the lower `rank` is shown first.

    >>> Label("{} rows").title, Label(name="entropy").title
    ('rows', 'entropy')
    """

    phrase: str = ""
    name: str = ""
    value_format: ValueFormat = ValueFormat.NUMBER
    rank: int = 99

    @property
    def title(self) -> str:
        return self.name or self.phrase.replace("{}", "").strip()
