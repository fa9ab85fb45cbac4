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
    OTHER = "other"  # nested, void: folds see only whether a value is present


NUMERIC = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.BOOLEAN})
TEMPORAL = frozenset({Kind.DATE, Kind.TIMESTAMP})
ORDERED = NUMERIC | TEMPORAL
TEXT = frozenset({Kind.STRING})
BYTES = frozenset({Kind.STRING, Kind.BINARY})
HASHABLE = ORDERED | BYTES
ANY = HASHABLE | {Kind.OTHER}

_EMPTY = frozenset({"null", "void"})  # the names in Arrow and in Spark


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """One column: the label people use, its kind, and the type as its engine spells it.

    A place inside a nested column is a column too, such as `address.city` of `address`: `parent` is the column of the
    batch that it lies in. It is `repeated` if a row has any number of values of it, such as `items[].price`.
    """

    label: str
    kind: Kind
    type: str
    parent: str = ""
    repeated: bool = False

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

    @property
    def top_labels(self) -> tuple[str, ...]:
        """The labels of the batch's own columns, without the places inside them."""
        return tuple(column.label for column in self.columns if not column.parent)

    @property
    def repeated_labels(self) -> tuple[str, ...]:
        """The labels of the places of which a row has any number of values."""
        return tuple(column.label for column in self.columns if column.repeated)

    def positions(self) -> dict[str, int]:
        return {column.label: position for position, column in enumerate(self.columns)}


def is_repeated(label: str) -> bool:
    """Whether this is the label of a place inside an array or a map, of which a row has any number of values."""
    return "[]" in label


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
