"""Lists of the values seen: TensorFlow Data Validation's domains and Deequ's categorical range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from benchmarks.patterns.protocol import DictionaryRule, Method

MOST_ONCE = 0.1  # of the different values, seen once: Deequ takes a column of more for no range of categories


def tfdv(train: list[str]) -> DictionaryRule:
    """All values seen. Ten values never reach the number from which TFDV writes no domain.

    >>> tfdv(["b", "a", "b"]).text
    'in {a, b}'
    """
    return DictionaryRule(frozenset(train))


def deequ_cat(train: list[str]) -> DictionaryRule | None:
    """Deequ's CategoricalRangeRule: all values seen, if few of them were seen only once.

    >>> deequ_cat(["a", "a", "b"]), deequ_cat(["b", "a", "b", "a"]).text
    (None, 'in {a, b}')
    """
    return DictionaryRule(frozenset(train)) if share_once(train) <= MOST_ONCE else None


def share_once(train: Iterable[str]) -> float:
    """The share of the different values that were seen once: Deequ's ratio of unique values.

    >>> share_once(["a", "a", "b", "c"])
    0.6666666666666666
    """
    counts = Counter(train).values()
    return sum(count == 1 for count in counts) / len(counts)


METHODS = (Method("TFDV", tfdv, patterns=False), Method("Deequ-Cat", deequ_cat, patterns=False))
