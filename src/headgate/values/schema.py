"""The columns of a batch: their labels, and the few kinds of types that folds distinguish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a fold must know about the type of a column. The engine handles widths, scales, units and encodings."""

    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BINARY = "binary"
    OTHER = "other"  # nested, interval, variant, void: folds see only whether a value is present


NUMERIC = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.BOOLEAN})
TEMPORAL = frozenset({Kind.DATE, Kind.TIMESTAMP})
ORDERED = NUMERIC | TEMPORAL
TEXT = frozenset({Kind.STRING})
BYTES = frozenset({Kind.STRING, Kind.BINARY})
HASHABLE = ORDERED | BYTES
ANY = HASHABLE | {Kind.OTHER}

_EMPTY = frozenset({"null", "void"})  # the names in Arrow and in Spark


class Column(msgspec.Struct, frozen=True):
    """One column: the label people use, its kind, and the type as its engine spells it."""

    label: str
    kind: Kind
    type: str

    @property
    def empty(self) -> bool:
        """Whether its type allows only nulls, such as an optional column in a batch without a value."""
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
        return {column.label: position for position, column in enumerate(self.columns)}


def unique_labels(names: list[str]) -> list[str]:
    """The names, with repeats numbered so that all are unique.

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
