"""What a column is made of: structured texts, single words, or free text; told without any method's help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from benchmarks.patterns.corpus import Case

Kind: TypeAlias = Literal["structured", "word", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COVERED = 0.9
_RUNS = re.compile(r"(?P<letters>[^\W\d_]+)|(?P<number>\d+(?:\.\d+)?)|(?:[\W_])+")


def kind_of(case: Case) -> Kind:
    """The kind of all the values of a column, those that train and those that test."""
    return kind(case.values)


def kind(values: Sequence[str]) -> Kind:
    """Structured if nine tenths have one sequence of runs, unless it is a lone run of letters: these are words.

    >>> kind(["2020-01-02", "1999-12-31"]), kind(["red", "green"]), kind(["red", "light green", "3"])
    ('structured', 'word', 'text')
    """
    sequence, often = Counter(map(runs, values)).most_common(1)[0]
    if often < COVERED * len(values):
        return "text"
    return "word" if sequence == ("L",) else "structured"


def runs(value: str) -> tuple[str, ...]:
    """Letters are L, a number with or without a decimal part is N, all else stands for itself.

    >>> runs("No. 12.5%"), runs("2020-01-02")
    (('L', '. ', 'N', '%'), ('N', '-', 'N', '-', 'N'))
    """
    return tuple(_name(each) for each in _RUNS.finditer(value))


def _name(found: re.Match[str]) -> str:
    return {"letters": "L", "number": "N"}.get(found.lastgroup or "", found.group())
