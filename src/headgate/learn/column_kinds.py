"""Which kinds of type a column had in the runs where its values show one, and what the type of a batch means.

A reader of text files infers types from the values of one batch: few values, or none, show no type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from headgate.metrics.states.frequencies import Frequencies
from headgate.values.account import ColumnMemory
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome
from headgate.values.schema import Column, Kind, Schema
from headgate.values.state import State

Row = Mapping[MetricKey, float]

MIN_TYPE_VALUES = 10
"""Fewest values of a batch that show a type: fewer may look like another type by chance."""
_SIZE = MetricKey("size")
_NUMBER_PATTERN = re.compile(r"[-+]?9([.,]9)*|9[-/.]9[-/.]9([ T]9:9(:9(\.9)?)?)?Z?")


def collect_kinds(schemas: Sequence[Schema], rows: Sequence[Row]) -> dict[str, set[Kind]]:
    """For each column, the kinds that it had in the runs where it had values; not those of a few values only.

    Args:
        schemas: The schema of each run.
        rows: The values of the metrics of each run. If they do not tell how many values there are, there are enough.
    """
    kinds: dict[str, set[Kind]] = {}
    kinds_of_few: dict[str, set[Kind]] = {}
    for schema, row in zip(schemas, rows, strict=True):
        for column in schema.columns:
            count = 0.0 if column.empty else count_values(column.label, row)
            kinds.setdefault(column.label, set()).update({column.kind} if count >= MIN_TYPE_VALUES else ())
            kinds_of_few.setdefault(column.label, set()).update({column.kind} if count else ())
    return {label: found or kinds_of_few[label] for label, found in kinds.items()}


def count_key(label: str) -> MetricKey:
    """The metric that tells how many values a column could have: the rows, or inside an array its elements.

    >>> str(count_key("price")), str(count_key("items[].price"))
    ('size()', 'sum("items.size()")')
    """
    array, has_many, _ = label.rpartition("[]")
    return MetricKey("sum", (f"{array}.size()",)) if has_many else _SIZE


def count_values(label: str, row: Row) -> float:
    """How many values a column has; `MIN_TYPE_VALUES` if that is not known."""
    size, completeness = row.get(count_key(label), row.get(_SIZE)), row.get(MetricKey("completeness", (label,)))
    return float(MIN_TYPE_VALUES) if size is None or completeness is None else float(round(size * completeness))


def find_text_shares(states: Sequence[Mapping[MetricKey, State]]) -> dict[str, float]:
    """For each column of texts, the lowest share in a run of texts that do not read as numbers or timestamps.

    A text that reads as a number does not show that its column is text: in a batch of only such texts, the column is
    read as numbers. Runs of a few values are left out.
    """
    shares: dict[str, float] = {}
    for run in states:
        for key, patterns in run.items():
            if key.name != "frequent_patterns" or not isinstance(patterns, Frequencies):
                continue
            if patterns.total >= MIN_TYPE_VALUES:
                numbers = sum(count for pattern, count in patterns.labels().items() if _is_number_pattern(pattern))
                share = 1 - numbers / patterns.total
                shares[key.columns[0]] = min(share, shares.get(key.columns[0], share))
    return shares


@lru_cache(maxsize=1 << 14)
def _is_number_pattern(pattern: str) -> bool:
    return _NUMBER_PATTERN.fullmatch(pattern) is not None


def recall_kinds(memory: Mapping[str, ColumnMemory], label: str) -> set[Kind]:
    """The kinds that are remembered of a column."""
    return {Kind(each) for each in memory[label].kinds} if label in memory else set()


def remember_kinds(
    memory: Mapping[str, ColumnMemory],
    schemas: Sequence[Schema],
    rows: Sequence[Row],
    memories: Sequence[Mapping[str, ColumnMemory]],
) -> dict[str, ColumnMemory]:
    """The memory with the kinds of all columns that had several.

    Args:
        memory: What else is remembered.
        schemas: The schema of each run.
        rows: The values of the metrics of each run.
        memories: What was remembered before each run.
    """
    remembered = dict(memory)
    for label, found in collect_kinds(schemas, rows).items():
        kinds = found.union(*(recall_kinds(each, label) for each in memories))
        if len(kinds) > 1:
            names = tuple(sorted(each.value for each in kinds))
            remembered[label] = msgspec.structs.replace(remembered.get(label, ColumnMemory()), kinds=names)
    return remembered


def explain_type(column: Column, expected: str, outcomes: Mapping[MetricKey, Outcome]) -> str:
    """Why the type of a column in a batch is no change from the expected one; empty if it may be one.

    - A column without values shows no type.
    - A few texts may all read as numbers, dates or truth values.
    - Whole numbers of which some are missing are read as floats by pandas.
    """
    row = {
        key: float(outcome.value)
        for key, outcome in outcomes.items()
        if key in (_SIZE, *_keys_of(column.label))
        and isinstance(outcome, Measured)
        and not isinstance(outcome.value, Distribution)
    }
    count = count_values(column.label, row)
    if not count:
        return "the column holds no value, so its type is not known"
    if expected == Kind.STRING.value and column.kind is not Kind.STRING and count < MIN_TYPE_VALUES:
        return f"{count:.0f} values do not show that they are no texts"
    is_whole = all(row.get(key, 0.5).is_integer() for key in _keys_of(column.label)[1:])
    if expected == Kind.INTEGER.value and column.kind is Kind.FLOAT and is_whole and count < row.get(_SIZE, 0.0):
        return "whole numbers of which some are missing are read as floats"
    return ""


def _keys_of(label: str) -> tuple[MetricKey, ...]:
    return tuple(MetricKey(name, (label,)) for name in ("completeness", "min", "max", "sum"))
