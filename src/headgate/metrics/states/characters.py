"""How many characters of each class the values of a text column have."""

from __future__ import annotations

from headgate.metrics.base.batch import ColumnBatch
from headgate.values.state import Counts


class Characters(Counts, frozen=True, tag="characters"):
    """Characters by class, over so many values; the classes are those of `metrics.base.text`."""

    values: int = 0
    letters: int = 0
    digits: int = 0
    punctuation: int = 0
    spaces: int = 0
    other: int = 0

    @classmethod
    def of(cls, batch: ColumnBatch) -> Characters:
        return cls(values=batch.present, **batch.classes)
