"""The name of a part of a dataset (the values of some columns): as a tuple, as text, and as the name of a partition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import TypeAlias
from urllib.parse import quote, unquote

from headgate.values.run import partition_sort_key

Part: TypeAlias = tuple[str | None, ...]
Value: TypeAlias = str | int | bool | date | None

_NULL = "__HIVE_DEFAULT_PARTITION__"  # the folder name that Hive and Spark use for null


def write_part(part: Part) -> str:
    """The name of a part as text, to send it from task to driver."""
    return json.dumps(part, ensure_ascii=False)


def read_part(text: str) -> Part:
    return tuple(json.loads(text))


def text_of(value: Value) -> str | None:
    """A value as text in the name of a part.

    >>> text_of(True), text_of(date(2026, 11, 14)), text_of(7)
    ('true', '2026-11-14', '7')
    """
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def order_of(part: Part) -> list[tuple[bool, str, str]]:
    """The sort key of a part: null first, then by `values.run.partition_sort_key`."""
    return [(value is not None, partition_sort_key(value or ""), value or "") for value in part]


def partition_of(by: Sequence[str], part: Part) -> str:
    """The name of a part as the partition of a run, in Hive's style of folder names.

    >>> partition_of(["region", "day"], ("EU", None))
    'region=EU/day=__HIVE_DEFAULT_PARTITION__'
    """
    values = [_NULL if value is None else quote(value, safe=" :+,") for value in part]
    return "/".join(f"{quote(label, safe=' ')}={value}" for label, value in zip(by, values, strict=True))


def parts_of(partitions: Sequence[str]) -> tuple[tuple[str, ...], list[Part]]:
    """The columns and parts in the names of partitions, if all have that style and the same columns.

    >>> parts_of(["day=2026-11-13", "day=2026-11-14"])
    (('day',), [('2026-11-13',), ('2026-11-14',)])
    >>> parts_of(["2026-11-13"])
    (('partition',), [('2026-11-13',)])
    """
    split = [[word.partition("=") for word in name.split("/")] for name in partitions]
    labels = {tuple(unquote(label) for label, _, _ in words) for words in split}
    if len(labels) == 1 and all(sign for words in split for _, sign, _ in words):
        return labels.pop(), [tuple(None if v == _NULL else unquote(v) for _, _, v in words) for words in split]
    return ("partition",), [(name,) for name in partitions]
