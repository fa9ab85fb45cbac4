"""Places inside nested columns, as columns: `address.city`, `items[].price`, `tags.size()`.

A place in a struct has one value in each row. `[]` stands for every element of an array, or for every entry of a map,
which has a `key` and a `value`. `size()` is the number of elements or entries. An interval and a time of day have
their number of `seconds()` or `months()`, a variant its `json()`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from headgate.metrics.base.metric import Metric
from headgate.metrics.base.sql import add_backticks
from headgate.values.schema import Column, Kind, Schema, unique_labels

Reading: TypeAlias = Literal["size", "seconds", "months", "json"]
_SCHEMAS = 8  # that are kept: the batches of a table have one
_TYPES: dict[Reading, tuple[Kind, str]] = {
    "size": (Kind.INTEGER, "int"),
    "seconds": (Kind.FLOAT, "double"),
    "months": (Kind.INTEGER, "int"),
    "json": (Kind.STRING, "string"),
}


class TypeTree(msgspec.Struct, frozen=True):
    """A type: its kind and its text; the fields of a struct; the type of the elements of an array or map.

    `reading` is what folds can know of a value that they do not get as it is.
    """

    kind: Kind
    type: str
    fields: tuple[tuple[str, TypeTree], ...] = ()
    element: TypeTree | None = None
    reading: Reading | None = None


class PathStep(msgspec.Struct, frozen=True):
    """One step into a nested value: to a field of a struct by its index, to every element, or to what it is read as."""

    to: Literal["field", "each"] | Reading
    index: int = 0


class NestedPath(msgspec.Struct, frozen=True):
    """The way to a place inside a column: the index of the column among the batch's own, and the steps from it."""

    source: int
    steps: tuple[PathStep, ...]


def build_schema(columns: Iterable[tuple[str, TypeTree]]) -> tuple[Schema, tuple[NestedPath, ...]]:
    """The columns of a batch, each followed by the places inside it, and the way to every one of them.

    Left out are places with the name of another column, whatever the case of the letters, and those in columns or
    fields of one name: SQL could not tell them apart.

    >>> text, number = TypeTree(Kind.STRING, "string"), TypeTree(Kind.FLOAT, "double")
    >>> item = TypeTree(Kind.OTHER, "struct", (("price", number),))
    >>> items = TypeTree(Kind.OTHER, "array", element=item, reading="size")
    >>> build_schema([("id", text), ("items", items)])[0].labels
    ('id', 'items', 'items.size()', 'items[]', 'items[].price')
    """
    return _list_columns(tuple(columns))


@lru_cache(maxsize=_SCHEMAS)
def _list_columns(given: tuple[tuple[str, TypeTree], ...]) -> tuple[Schema, tuple[NestedPath, ...]]:
    labels = unique_labels([name for name, _ in given])
    taken = Counter(name.lower() for name, _ in given)
    found: list[Column] = []
    paths: list[NestedPath] = []
    for source, (label, (name, tree)) in enumerate(zip(labels, given, strict=True)):
        found.append(Column(label, tree.kind, tree.type))
        paths.append(NestedPath(source, ()))
        if taken[name.lower()] > 1:
            continue
        for column, steps in _list_places(label, tree, label, (), repeated=False):
            if column.label.lower() not in taken and "${" not in column.label:
                taken[column.label.lower()] += 1
                found.append(column)
                paths.append(NestedPath(source, steps))
    return Schema(tuple(found)), tuple(paths)


def _list_places(
    label: str, tree: TypeTree, parent: str, steps: tuple[PathStep, ...], repeated: bool
) -> Iterator[tuple[Column, tuple[PathStep, ...]]]:
    names = Counter(name.lower() for name, _ in tree.fields)
    inner = [
        (f".{name}", field, PathStep("field", index))
        for index, (name, field) in enumerate(tree.fields)
        if names[name.lower()] == 1
    ]
    if tree.reading is not None:
        inner.append((f".{tree.reading}()", TypeTree(*_TYPES[tree.reading]), PathStep(tree.reading)))
    if tree.element is not None:
        inner.append(("[]", tree.element, PathStep("each")))
    for ending, kind, step in inner:
        is_repeated = repeated or step.to == "each"
        name = f"{label}{ending}"
        yield Column(name, kind.kind, kind.type, parent, is_repeated), (*steps, step)
        yield from _list_places(name, kind, parent, (*steps, step), is_repeated)


def list_named(text: str, labels: Iterable[str]) -> list[str]:
    """Those of these places inside nested columns that a predicate names. Their names need backticks in SQL."""
    return [label for label in labels if add_backticks(label) in text]


def explain_mixed_rows(metric: Metric[Any], many: Collection[str]) -> str:
    """Why what a metric reads does not go together; empty if it does.

    A metric of a column with any number of values in a row is one of these values. All that it reads must have as many.

    Args:
        metric: The metric.
        many: The labels of such columns in the batch.
    """
    if not many:
        return ""
    looked_up = [label for test in metric.memberships for label in test.columns if label in many]
    if looked_up:
        return f"{looked_up[0]!r} has any number of values in a row, which are not looked up in another table."
    read = [{label}.intersection(many) for label in metric.inputs]
    read += [set(list_named(text, many)) for text in metric.predicates]
    together = set().union(*read, list_named(metric.where or "", many))
    if len(together) > 1:
        return f"{' and '.join(map(repr, sorted(together)))} may have different numbers of values in a row."
    if together and not (read and all(read)):
        return f"{together.pop()!r} has any number of values in a row, and the rest that is read has one."
    return ""
