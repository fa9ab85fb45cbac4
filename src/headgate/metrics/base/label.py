"""How people call a metric and read its values: declared on the metric, used wherever one is shown."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ValueFormat(StrEnum):
    """How a value is printed."""

    NUMBER = "number"
    COUNT = "count"  # as a whole number
    SHARE = "share"  # as a percentage
    MISSING = "missing"  # what lacks to the whole, as a percentage: people ask how much is empty
    FLAG = "flag"  # as yes or no


class Label(msgspec.Struct, frozen=True):
    """The plain words for a metric.

    `phrase` says a value in a sentence, `{}` stands for it; it is empty where people must read about the metric before
    they understand it. `name` is the title of a chart, by default the phrase without its value. Of two metrics that
    moved equally far, the one with the lower `rank` is told first.

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
