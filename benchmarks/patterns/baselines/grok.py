"""Patterns curated by hand, under the names that log parsers know them by (Grok)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pyarrow as pa

from benchmarks.patterns.protocol import Method, RegexRule, matches

PATTERNS = Path(__file__).parent / "grok_patterns.csv"


def grok(train: list[str]) -> RegexRule | None:
    """The first pattern that all training values match; the file has the most specific ones first.

    Patterns that nearly all values match (WORD, NOTSPACE, DATA, USERNAME, a host name without a dot) are not in it.

    >>> grok(["10.0.0.1", "192.168.0.1"]).text, grok(["red", "green"])
    ('%{IPV4}', None)
    """
    values = pa.array(sorted(set(train)))
    for name, regex in patterns():
        if matches(values, regex).all():
            return RegexRule(f"%{{{name}}}", regex, seen=len(train))
    return None


@cache
def patterns() -> tuple[tuple[str, str], ...]:
    with PATTERNS.open(encoding="utf-8", newline="") as file:
        return tuple((row["name"], row["regex"]) for row in csv.DictReader(file))


METHOD = Method("Grok", grok)
