"""The columns of a batch: their labels, and the few kinds of type that folds tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a fold needs to know of a column's type. Widths, scales, units and encodings are the engine's matter."""

    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BINARY = "binary"
    OTHER = "other"  # nested, interval, variant, void: they reach folds as present or not, nothing more


NUMERIC = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.BOOLEAN})
TEMPORAL = frozenset({Kind.DATE, Kind.TIMESTAMP})
ORDERED = NUMERIC | TEMPORAL
TEXT = frozenset({Kind.STRING})
BYTES = frozenset({Kind.STRING, Kind.BINARY})
HASHABLE = ORDERED | BYTES
ANY = HASHABLE | {Kind.OTHER}

_EMPTY = frozenset({"null", "void"})  # in Arrow's words and in Spark's


class Column(msgspec.Struct, frozen=True):
    """One column: the label people use, its kind, and the type as its engine spells it."""

    label: str
    kind: Kind
    type: str

    @property
    def empty(self) -> bool:
        """Whether its type says that it holds nothing but nulls: an optional column on a day without a value."""
        return self.type in _EMPTY


class Schema(msgspec.Struct, frozen=True):
    """The columns of a batch in order. Labels are unique: the second column named `a` is labelled `a#2`."""

    columns: tuple[Column, ...] = ()

    @classmethod
    def of(cls, columns: Iterable[tuple[str, Kind, str]]) -> Schema:
        given = list(columns)
        labels = unique_labels([name for name, _, _ in given])
        return cls(tuple(Column(label, kind, text) for label, (_, kind, text) in zip(labels, given, strict=True)))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(column.label for column in self.columns)

    def positions(self) -> dict[str, int]:
        return {column.label: at for at, column in enumerate(self.columns)}


def unique_labels(names: list[str]) -> list[str]:
    """Every name kept, repeats numbered past whatever is taken.

    >>> unique_labels(["a", "b", "a", "a#2"])
    ['a', 'b', 'a#3', 'a#2']
    """
    taken = set(names)
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        label = name
        while seen[name] > 1 and label in taken:
            label = f"{name}#{seen[name]}"
            seen[name] += label in taken
        taken.add(label)
        labels.append(label)
    return labels
