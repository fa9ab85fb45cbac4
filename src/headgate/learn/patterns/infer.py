"""From the values of a column and an index to a rule: FMDV, -V, -H and -VH of Auto-Validate, and Headgate's form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa

from headgate.learn.patterns import wholes
from headgate.learn.patterns.align import MOST_GROUPS, WIDEST, Group, aligned, grid_of, groups
from headgate.learn.patterns.cut import Cut, Cutter, Evidence, Segment
from headgate.learn.patterns.entries import ONE
from headgate.learn.patterns.enumerate import TAU
from headgate.learn.patterns.lexer import Flags, Ints, Tokens, lex
from headgate.learn.patterns.rule import SIGNIFICANCE, Branch, PatternRule, texts
from headgate.learn.patterns.sample import bounded
from headgate.learn.patterns.weigh import ByBacktest, ByImpurity, Weigher
from headgate.values.errors import MisuseError, did_you_mean

MOST_BRANCHES = 4
_LEAST_BRANCH = 2  # values of a branch: one alone may be a slip


class Method(StrEnum):
    """How a pattern is chosen. The first four are the paper's, with the paper's patterns and measure."""

    FMDV = "fmdv"
    FMDV_V = "fmdv-v"
    FMDV_H = "fmdv-h"
    FMDV_VH = "fmdv-vh"
    HEADGATE = "headgate"


class Settings(msgspec.Struct, frozen=True):
    """The parameters of the paper: r (`limit`), m (`coverage`), theta (`tolerance`), tau, and the level of the test."""

    method: Method = Method.HEADGATE
    limit: float = 0.1
    coverage: int = 5
    tolerance: float = 0.1
    tau: int = TAU
    significance: float = SIGNIFICANCE

    @classmethod
    def of(cls, method: str, **given: Any) -> Settings:
        """Misuse, where a method is not known or a number makes no sense."""
        if method not in list(Method):
            raise MisuseError(f"no method is named {method!r};", hint=did_you_mean(method, list(Method)))
        made = cls(method=Method(method), **{name: value for name, value in given.items() if value is not None})
        for name in ("limit", "tolerance", "significance"):
            if not 0 <= getattr(made, name) < 1:
                raise MisuseError(f"{name} is {getattr(made, name)}.", hint="Give a share of at least 0 and below 1.")
        if made.coverage < 1 or made.tau < 1:
            raise MisuseError("coverage and tau count columns and tokens.", hint="Give numbers of at least 1.")
        return made

    @property
    def cuts_vertically(self) -> bool:
        return self.method in (Method.FMDV_V, Method.FMDV_VH, Method.HEADGATE)

    @property
    def cuts_horizontally(self) -> bool:
        return self.method in (Method.FMDV_H, Method.FMDV_VH, Method.HEADGATE)

    def weigher(self, seen: int, total: int) -> Weigher:
        if self.method is Method.HEADGATE:
            return ByBacktest.of(self.limit, self.coverage, seen, total, self.significance)
        return ByImpurity(self.limit, self.coverage)


class Candidate(msgspec.Struct, frozen=True):
    """Branches that could be the rule, with what they cost and let through."""

    branches: tuple[Branch, ...]
    cost: float
    miss: float


class Inference:
    """One column: its values are lexed once, and every kind of candidate is drawn from them."""

    def __init__(self, values: dict[str, int], evidence: Evidence, total: int, settings: Settings) -> None:
        self.evidence, self.settings = evidence, settings
        self.texts = list(values)
        self.weights = np.fromiter(values.values(), dtype=np.int64, count=len(values))
        self.weight = int(self.weights.sum())
        self.tolerated = settings.tolerance * self.weight if settings.cuts_horizontally else 0.0
        self.weigher = settings.weigher(self.weight, total)
        self.tokens: Tokens = lex(self.texts)
        self.groups = groups(self.tokens, self.weights)

    def best(self) -> Candidate | None:
        """The candidate of least score; of the paper's methods there is only the grid."""
        found = [*self.from_grid()]
        if self.settings.method is Method.HEADGATE:
            found += [*self.from_wholes(), *self.from_alignment()]
            if not found or min(map(self.score, found)) > self.score(Candidate((), 0.0, 0.5)):
                found += self.from_union()
        found = [each for each in found if each.cost <= self.settings.limit]
        return min(found, key=self.score) if found else None

    def score(self, candidate: Candidate) -> float:
        return float(self.weigher.score(candidate.cost, candidate.miss))

    def from_grid(self) -> Iterator[Candidate]:
        """Values with the same skeleton, or at least with the same number of tokens."""
        if not self.groups:
            return
        rows = self.groups[0].rows
        if self.weight - self.groups[0].weight > self.tolerated:
            rows = self._same_width()
        found = self._cut(rows)
        if found is not None:
            yield Candidate((Branch(found.segments),), found.cost, found.miss)

    def _same_width(self) -> Ints:
        """The rows with the most frequent number of tokens."""
        count = self.tokens.count
        width = int(np.bincount(count[count > 0], weights=self.weights[count > 0]).argmax())
        return np.flatnonzero(count == width)

    def _cut(self, rows: Ints) -> Cut | None:
        tolerated = self.tolerated - (self.weight - int(self.weights[rows].sum()))
        if tolerated < 0 or int(self.tokens.count[rows[0]]) > WIDEST:
            return None
        return self._cutter(rows, tolerated).cut(self.evidence) or self._cutter(rows, 0.0).cut(self.evidence)

    def _cutter(self, rows: Ints, tolerated: float) -> Cutter:
        settings = self.settings
        grid = grid_of(self.tokens, rows)
        return Cutter(self.tokens, grid, self.weights, self.weigher, tolerated, settings.tau, settings.cuts_vertically)

    def from_wholes(self) -> Iterator[Candidate]:
        for branch, having in self._wholes(np.arange(len(self.texts))):
            if self.weight - int(self.weights[having].sum()) <= self.tolerated:
                yield Candidate((branch,), branch.segments[0].cost, branch.segments[0].miss)

    def _wholes(self, rows: Ints) -> Iterator[tuple[Branch, Flags]]:
        """Patterns of whole values that the index allows."""
        found = wholes.wholes(self.tokens, self.texts)
        if not found:
            return
        entries = self.evidence.found(wholes.keys_of(list(found)))
        weighed = self.weigher(entries)
        for at, (pattern, having) in enumerate(found.items()):
            if weighed.allowed[at] and having[rows].any():
                columns = int(entries["columns"][at])
                rate = float(entries["impurity"][at]) / ONE / max(columns, 1)
                segment = Segment(pattern, False, columns, rate, float(weighed.cost[at]), float(weighed.miss[at]))
                yield Branch((segment,)), having

    def from_alignment(self) -> Iterator[Candidate]:
        """Skeletons of which one is another with something more or less: what some are without becomes optional."""
        chosen = self._covering()
        if chosen is None or len(chosen) < 2:
            return
        grid = aligned(self.tokens, chosen)
        if grid is None:
            return
        left = self.tolerated - (self.weight - int(self.weights[grid.rows].sum()))
        cutter = Cutter(self.tokens, grid, self.weights, self.weigher, max(left, 0.0), self.settings.tau, True)
        found = cutter.cut(self.evidence)
        if found is not None:
            yield Candidate((Branch(found.segments),), found.cost, found.miss)

    def _covering(self) -> list[Group] | None:
        """The heaviest skeletons that together leave out no more than is tolerated, if they are few."""
        chosen: list[Group] = []
        covered = 0
        for group in self.groups[:MOST_GROUPS]:
            chosen.append(group)
            covered += group.weight
            if self.weight - covered <= self.tolerated:
                return chosen
        return None

    def from_union(self) -> Iterator[Candidate]:
        """A few patterns, each for its own share of the values: the heaviest first, then what it leaves over.

        Each further branch costs one value's share: a few values do not prove that the branches are all there are.
        """
        left = np.ones(len(self.texts), dtype=bool)
        branches: list[Branch] = []
        if (empty := [at for at, text in enumerate(self.texts) if not text]) and self.weights[empty].sum() > 1:
            branches.append(Branch((), float(self.weights[empty].sum()) / self.weight))
            left[empty] = False
        while len(branches) < MOST_BRANCHES and self.weights[left].sum() > self.tolerated:
            found = self._next_branch(left)
            if found is None:
                return
            branch, having = found
            share = float(self.weights[having & left].sum()) / self.weight
            branches.append(Branch(branch.segments, share))
            left &= ~having
        if len(branches) > 1 and self.weights[left].sum() <= self.tolerated:
            cost = sum(each.share * sum(segment.cost for segment in each.segments) for each in branches)
            miss = sum(min((segment.miss for segment in each.segments), default=0.0) for each in branches)
            yield Candidate(tuple(branches), cost + (len(branches) - 1) / self.weight, min(miss, 1.0))

    def _next_branch(self, left: Flags) -> tuple[Branch, Flags] | None:
        heaviest = max(
            self.groups, key=lambda group: int(self.weights[group.rows[left[group.rows]]].sum()), default=None
        )
        ways: list[tuple[Branch, Flags]] = list(self._wholes(np.flatnonzero(left)))
        if heaviest is not None and left[heaviest.rows].any() and len(heaviest.sequence) <= WIDEST:
            rows = heaviest.rows[left[heaviest.rows]]
            found = self._cutter(rows, 0.0).cut(self.evidence)
            if found is not None:
                having = np.zeros(len(left), dtype=bool)
                having[rows] = found.met
                ways.append((Branch(found.segments), having))
        ways = [way for way in ways if self.weights[way[1] & left].sum() >= _LEAST_BRANCH]
        return max(ways, key=lambda way: self._worth(way, left), default=None)

    def _worth(self, way: tuple[Branch, Flags], left: Flags) -> float:
        """What a branch explains, less what it lets through."""
        branch, having = way
        miss = min(segment.miss for segment in branch.segments)
        return float(self.weights[having & left].sum()) * (1.0 - miss)


def infer(values: Iterable[Any] | pa.Array, evidence: Evidence, total: int, settings: Settings) -> PatternRule | None:
    """The rule for the column that these are values of, or none if nothing that the index knows is safe enough."""
    array = texts(values).drop_null()
    counted = array.value_counts()
    present = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
    if not present:
        return None
    found = Inference(bounded(present), evidence, total, settings).best()
    if found is None:
        return None
    test: Literal["any", "fisher"] = "fisher" if settings.cuts_horizontally else "any"
    rule = PatternRule(
        found.branches,
        len(array),
        0,
        found.cost,
        found.miss if settings.method is Method.HEADGATE else 0.0,
        test,
        settings.significance,
    )
    distinct = pa.array(list(present), pa.string())
    missed = ~rule.matches(distinct)
    outside = int(np.fromiter(present.values(), dtype=np.int64, count=len(present))[missed].sum())
    return msgspec.structs.replace(rule, outside=outside)
