"""The experiment of Auto-Validate (section 5.1): each rule is held against its own column's future and all others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.patterns.corpus import Case
from headgate.stats.hypothesis import least_rejected

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_PROBES = pa.array(["a", "Z", "7", " ", "-", "é", "\n", "Ab 1, (c) 2.5%", "x" * 200, "0" * 200])


class Benchmark:
    """The columns of a set, with the different values of all in one array, so that a rule reads each text once."""

    def __init__(self, cases: Sequence[Case]) -> None:
        counted = [Counter(case.test) for case in cases]
        places: dict[str, int] = {}
        self.cases = list(cases)
        self.places = np.array([places.setdefault(text, len(places)) for each in counted for text in each], np.int64)
        self.values = pa.array(list(places), pa.string())
        self.counts = np.array([count for each in counted for count in each.values()], np.int64)
        self.starts = np.cumsum([0, *map(len, counted)])[:-1]
        self.sizes = np.array([len(case.test) for case in cases], np.int64)
        self._place_of = places
        self._matched: dict[str, Integers] = {}

    def __len__(self) -> int:
        return len(self.cases)

    def outside(self, regex: str) -> Integers:
        """How many test values of each column the expression does not match from end to end."""
        if regex not in self._matched:
            self._matched[regex] = self._outside(matches(self.values, regex))
        return self._matched[regex]

    def absent(self, values: frozenset[str]) -> Integers:
        """How many test values of each column are none of these."""
        found = np.zeros(len(self.values), np.bool_)
        found[[self._place_of[value] for value in values if value in self._place_of]] = True
        return self._outside(found)

    def _outside(self, inside: Flags) -> Integers:
        return np.add.reduceat(np.where(inside[self.places], 0, self.counts), self.starts)


class Rule(Protocol):
    """What a method learned, as data: `text` for people, and the columns of a benchmark that it flags."""

    @property
    def text(self) -> str: ...

    @property
    def is_trivial(self) -> bool: ...

    def flags_all(self, benchmark: Benchmark) -> Flags: ...


class RegexRule(msgspec.Struct, frozen=True):
    """Values match an expression (RE2, the whole value). `outside` of `seen` training values did not.

    The test `any` flags a column with one value outside; `fisher` one whose share outside is larger than in training
    by Fisher's exact test at 0.01.
    """

    text: str
    regex: str
    test: Literal["any", "fisher"] = "any"
    outside: int = 0
    seen: int = 0

    @property
    def is_trivial(self) -> bool:
        """Whether the expression matches texts that have nothing in common."""
        return bool(matches(_PROBES, self.regex).all())

    def flags_all(self, benchmark: Benchmark) -> Flags:
        found = benchmark.outside(self.regex)
        if self.test == "any":
            return found > 0
        return found >= [least_rejected(self.outside, self.seen, size) for size in benchmark.sizes.tolist()]


class DictionaryRule(msgspec.Struct, frozen=True):
    """At least a share of the values is among those listed."""

    values: frozenset[str]
    least_share: float = 1.0

    @property
    def text(self) -> str:
        listed = ", ".join(sorted(self.values))
        return f"in {{{listed}}}" if self.least_share == 1.0 else f"{self.least_share:.0%} in {{{listed}}}"

    @property
    def is_trivial(self) -> bool:
        return self.least_share <= 0.0

    def flags_all(self, benchmark: Benchmark) -> Flags:
        inside = benchmark.sizes - benchmark.absent(self.values)
        return inside / benchmark.sizes < self.least_share


class Method(NamedTuple):
    """Training values to a rule, or to none. `patterns`: whether its rules are patterns, not lists of values.

    A method `by_source` is also told the repository of the column.
    """

    name: str
    infer: Callable[..., Rule | None]
    patterns: bool = True
    by_source: bool = False


class Judged(NamedTuple):
    """A method on a benchmark: each case's rule, the columns that it flags (one row a case), its milliseconds."""

    method: str
    patterns: bool
    rules: list[Rule | None]
    flags: Flags
    milliseconds: Floats


def judged(method: Method, benchmark: Benchmark) -> Judged:
    """A rule for every case, from its training values alone; each rule held against every column."""
    rules, spent = [], []
    for case in benchmark.cases:
        begin = time.perf_counter()
        rules.append(method.infer(list(case.train), *([case.repo] if method.by_source else [])))
        spent.append(1000 * (time.perf_counter() - begin))
    none = np.zeros(len(benchmark), np.bool_)
    flags = np.array([none if rule is None else rule.flags_all(benchmark) for rule in rules])
    return Judged(method.name, method.patterns, rules, flags, np.array(spent))


def matches(values: pa.Array, regex: str) -> Flags:
    """Which values match an expression from end to end.

    >>> matches(pa.array(["12", "12a", "3"]), "[0-9]+|a")
    array([ True, False,  True])
    """
    found = pc.match_substring_regex(values, rf"\A(?:{regex})\z")
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
