"""How many characters of each class the values of a text column have."""

from __future__ import annotations

from headgate.analyzers.base.batch import ColumnBatch
from headgate.values.state import State


class Characters(State, frozen=True, tag="characters"):
    """Characters by class, over so many values; the classes are those of `analyzers.base.text`."""

    values: int = 0
    letters: int = 0
    digits: int = 0
    punctuation: int = 0
    spaces: int = 0
    other: int = 0

    @classmethod
    def of(cls, batch: ColumnBatch) -> Characters:
        return cls(values=batch.present, **batch.classes)

    def __add__(self, other: Characters) -> Characters:
        return Characters(
            self.values + other.values,
            self.letters + other.letters,
            self.digits + other.digits,
            self.punctuation + other.punctuation,
            self.spaces + other.spaces,
            self.other + other.other,
        )
