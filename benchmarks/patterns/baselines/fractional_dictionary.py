"""Lists of the commonest values: Deequ's fractional categorical range."""

from __future__ import annotations

import math
from collections import Counter

from benchmarks.patterns.baselines.dictionary import share_once
from benchmarks.patterns.protocol import DictionaryRule, Method

MOST_ONCE = 0.4
COVERED = 0.9
DEVIATIONS = 1.96


def deequ_fra(train: list[str]) -> DictionaryRule | None:
    """Deequ's FractionalCategoricalRangeRule: the commonest values up to nine tenths, if these are not all.

    The share asked for is the lower end of the normal interval of the share seen, rounded down to hundredths.

    >>> deequ_fra(["a"] * 6 + ["b"] * 3 + ["c"]).text
    '71% in {a, b}'
    """
    common: list[str] = []
    covered = 0
    for value, count in sorted(Counter(train).items(), key=lambda item: (-item[1], item[0])):
        if covered < COVERED * len(train):
            common.append(value)
            covered += count
    share = covered / len(train)
    if share_once(train) > MOST_ONCE or share == 1.0:
        return None
    least = share - DEVIATIONS * math.sqrt(share * (1 - share) / len(train))
    return DictionaryRule(frozenset(common), math.floor(100 * least) / 100)


METHODS = (Method("Deequ-Fra", deequ_fra, patterns=False),)
