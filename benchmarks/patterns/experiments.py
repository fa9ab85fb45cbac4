"""What surrounds the main table: parameters, the size of the corpus, stated and seen alarms, what an index holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gate.shares import estimate
from benchmarks.patterns import corpus, indexes, kinds
from benchmarks.patterns.learners import PAPER, rule
from benchmarks.patterns.protocol import Benchmark, Judged, Method, judged
from benchmarks.patterns.scores import f1, precisions, recalls
from headgate.learn.patterns.alarm_rates import AS_ESTIMATED, load_alarm_rates
from headgate.learn.patterns.entries import mean_impurity
from headgate.learn.patterns.enumerate import TAU, enumerate_patterns
from headgate.learn.patterns.generalize import is_open, make_atoms, menu_of
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.lexer import TokenKind, lex
from headgate.learn.patterns.pattern import Pattern
from headgate.learn.patterns.sample import limit_distinct
from headgate.learn.patterns.settings import InferenceSettings

GRID: dict[str, tuple[float, ...]] = {
    "limit": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8),
    "coverage": (1, 5, 10, 30, 100),
    "tau": (3, 5, 8, 13),
    "tolerance": (0.0, 0.01, 0.05, 0.1, 0.2),
}
_ALL_VARIANTS = ("limit", "tau")  # parameters that every variant of the paper is tried with
_BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_COMMON = 60  # patterns of the index that are shown
_PLACE = re.compile(r"(<[a-z]+>(\{[0-9]+\}|\+)?)+")


def sensitivity(chosen: corpus.Set) -> list[dict[str, Any]]:
    """Precision and recall of each method as one parameter moves (Figure 12)."""
    benchmark = Benchmark(corpus.cases(chosen))
    lake = indexes.whole()
    found = []
    for parameter, values in GRID.items():
        for name in ("fmdv-vh", "headgate", *(set(PAPER.values()) - {"fmdv-vh"} if parameter in _ALL_VARIANTS else ())):
            for value in values:
                told = judged(Method(name, _with(lake, name, parameter, value)), benchmark)
                found.append({"method": name, "parameter": parameter, "value": value} | summary(told, benchmark))
    return found


def _with(lake: indexes.Whole, name: str, parameter: str, value: float) -> Callable[..., Any]:
    if parameter == "tau":
        narrow = indexes.Whole(lake.index, lake.total, int(value))
        return partial(rule, narrow, InferenceSettings.of(name, tau=int(value)))
    return partial(rule, lake, InferenceSettings.of(name, **{parameter: value}))


def sizes(chosen: corpus.Set) -> list[dict[str, Any]]:
    """The same columns with indexes of 1/16 of the corpus up to all of it."""
    benchmark = Benchmark(corpus.cases(chosen))
    found = []
    for parts in indexes.sizes():
        lake = indexes.whole(parts)
        for name in ("fmdv-vh", "headgate"):
            told = judged(Method(name, partial(rule, lake, InferenceSettings.of(name))), benchmark)
            found.append({"method": name, "columns": lake.total} | summary(told, benchmark))
    return found


def summary(told: Judged, benchmark: Benchmark) -> dict[str, Any]:
    """Precision, recall and F1 of all cases and of those where a syntactic pattern exists."""
    syntactic = np.array([kinds.kind_of(case) != "text" for case in benchmark.cases])
    precision, recall = precisions(told.flags), recalls(told.flags)
    groups = {"all": np.ones(len(benchmark), bool), "syntactic": syntactic}
    rules = sum(each is not None for each in told.rules)
    return {"rules": rules} | {
        name: dict(zip(("precision", "recall", "f1"), _rounded(precision[chosen], recall[chosen]), strict=True))
        for name, chosen in groups.items()
    }


def _rounded(precision: Any, recall: Any) -> list[float]:
    p, r = precision.mean(), recall.mean()
    return [round(float(each), 4) for each in (p, r, f1(p, r))]


class HeldRule(NamedTuple):
    """A rule from a part of a column: the rate that the index estimates, and whether the later values broke it."""

    chosen: corpus.Set
    part: str
    source: str
    estimate: float
    is_broken: bool


def calibration() -> dict[str, Any]:
    """The stated rates of false alarms beside the alarms that were seen, on sets that did not correct the rates."""
    judged_sets = ("mixed", "ukgov")
    held = hold_rules()
    return {
        part: _compare([each for each in held if each.part == part and each.chosen in judged_sets])
        for part in ("tenth", "half")
    }


def hold_rules() -> list[HeldRule]:
    """Rules of every rate from a tenth and from half of the columns of all sets, by an index without these columns."""
    lake = indexes.whole()
    settings = InferenceSettings.of("headgate", limit=0.9, alarm_rates=AS_ESTIMATED)
    held = []
    for chosen, part, source, train, test in (*_take_tenths(), *_take_halves()):
        found = infer(train, lake, lake.total, settings)
        if found is not None:
            held.append(HeldRule(chosen, part, source, found.alarm, not found.holds(test)))
    return held


def _compare(held: Sequence[HeldRule]) -> dict[str, Any]:
    rates = np.array([load_alarm_rates().correct(each.estimate) for each in held])
    estimates, seen = np.array([each.estimate for each in held]), np.array([each.is_broken for each in held])
    sources = np.array([each.source for each in held])
    rows = []
    for low, high in zip(_BINS, (*_BINS[1:], 1.01), strict=True):
        chosen = (rates >= low) & (rates < high)
        if chosen.any():
            share = estimate(zip(sources[chosen].tolist(), seen[chosen].tolist(), strict=True))
            row = {"estimated": estimates[chosen].mean(), "stated": rates[chosen].mean(), "seen": share.share}
            rows.append(
                {"from": low, "to": min(high, 1.0), "rules": int(chosen.sum()), "sources": len(set(sources[chosen]))}
                | {
                    name: round(float(value), 4)
                    for name, value in (row | {"low": share.low, "high": share.high}).items()
                }
            )
    means = {"estimated": estimates.mean(), "stated": rates.mean(), "seen": seen.mean()}
    return {"rules": len(held), **{name: round(float(each), 4) for name, each in means.items()}, "bins": rows}


def _take_tenths() -> Iterator[tuple[corpus.Set, str, str, list[str], list[str]]]:
    for chosen in corpus.SETS:
        for case in corpus.cases(chosen):
            yield chosen, "tenth", case.repo, list(case.train), list(case.test)


def _take_halves() -> Iterator[tuple[corpus.Set, str, str, list[str], list[str]]]:
    sets = {col_id: chosen for chosen in corpus.SETS for col_id in corpus.identifiers(chosen)}
    for row in corpus.corpus().select(["col_id", "repo", "values"]).to_pylist():
        if row["col_id"] in sets and len(row["values"]) >= 200:
            half = len(row["values"]) // 2
            yield sets[row["col_id"]], "half", row["repo"], row["values"][:half], row["values"][half:]


def distribution() -> dict[str, Any]:
    """How many patterns have so many tokens and columns (Figure 13), and the most common domains."""
    lake = indexes.whole()
    stats = PatternIndex(lake.index).stats()
    return {
        "patterns": stats.patterns,
        "columns": lake.total,
        "bytes": stats.bytes,
        "open": stats.open,
        "by_tokens": stats.by_tokens,
        "by_columns": stats.by_columns,
        "common": common(lake),
    }


def common(lake: indexes.Whole) -> list[dict[str, Any]]:
    """Patterns without constants that many columns have, nearly everywhere, and of which few columns stray."""
    texts: dict[int, str] = {}
    for case in [*corpus.cases("dev"), *corpus.cases("mixed"), *corpus.cases("ukgov")]:
        texts |= _open_patterns(list(limit_distinct(case.values, 3)))
    keys = np.array(sorted(texts), dtype=np.uint64)
    rows = lake.find_entries(keys)
    led = rows["led"].astype(float)
    good = (led >= 20) & (rows["failed"] <= 0.02 * led) & (mean_impurity(rows) <= 0.3)
    narrow = np.array([len(texts[int(key)]) for key in keys])
    order = np.flatnonzero(good)[np.lexsort((-narrow[good], -led[good]))]
    order = _of_each_shape([(_PLACE.sub("x", texts[int(keys[at])]), int(at)) for at in order])[:_COMMON]
    return [
        {
            "pattern": texts[int(keys[at])],
            "columns": int(rows["columns"][at]),
            "led": int(led[at]),
            "failed": int(rows["failed"][at]),
            "fpr": round(float(mean_impurity(rows)[at]), 4),
        }
        for at in order
    ]


def _of_each_shape(shaped: list[tuple[str, int]]) -> list[int]:
    """Of patterns that differ only in how far they generalise, the first."""
    first: dict[str, int] = {}
    for shape, at in shaped:
        first.setdefault(shape, at)
    return list(first.values())


def _open_patterns(values: list[str]) -> dict[int, str]:
    """The patterns of the values that have no constant letters or digits, by key."""
    tokens = lex(values)
    found: dict[int, str] = {}
    for each in enumerate_patterns(tokens, TAU):
        for row, value in enumerate(each.values.tolist()):
            first = int(tokens.first[value])
            held = [TokenKind(int(tokens.kind[first + at])) for at in range(each.tokens)]
            menu = menu_of(each.tokens, sum(kind is not TokenKind.SYMBOLS for kind in held))
            sizes_ = [len(menu[kind]) for kind in held] if menu is not None else []
            for at in np.flatnonzero(each.open & each.given[row]).tolist():
                picks = [menu[kind][pick] for kind, pick in zip(held, np.unravel_index(at, sizes_), strict=True)]
                if all(is_open(pick, kind) for pick, kind in zip(picks, held, strict=True)):
                    made = (
                        atom for place, pick in enumerate(picks) for atom in make_atoms(pick, tokens, first + place)
                    )
                    found[int(each.keys[row, at])] = str(Pattern(tuple(made)))
    return found
