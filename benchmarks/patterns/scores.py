"""Precision and recall as the paper defines them (section 5.1), with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.patterns.corpus import Case
from benchmarks.patterns.protocol import Flags, Floats, Judged

DRAWS = 1_000
SEED = 0
Interval = tuple[float, float]


class Scores(NamedTuple):
    """Averages over cases, each with its 95% interval. `recall_other`: without columns of the same domain by name."""

    cases: int
    rules: int
    precision: float
    recall: float
    f1: float
    recall_other: float
    precision_interval: Interval
    recall_interval: Interval
    f1_interval: Interval
    recall_other_interval: Interval
    milliseconds: float
    milliseconds_95: float


def precisions(flags: Flags) -> Floats:
    """Of each case: 1 if its own test values are not flagged, else 0.

    >>> precisions(np.array([[False, True], [True, True]]))
    array([1., 0.])
    """
    return 1.0 - np.diagonal(flags).astype(float)


def recalls(flags: Flags, other: Flags | None = None) -> Floats:
    """Of each case: the share of other columns that its rule flags; 0 if the rule flags its own test values.

    With `other`, only the columns that it marks, row by row, count as other ones.

    >>> recalls(np.array([[False, True, False], [True, False, True], [True, True, True]]))
    array([0.5, 1. , 0. ])
    """
    counted = (np.ones_like(flags) if other is None else other) & ~np.eye(len(flags), dtype=np.bool_)
    share: Floats = (flags & counted).sum(axis=1) / np.maximum(1, counted.sum(axis=1))
    return share * precisions(flags)


def other_domains(cases: Sequence[Case]) -> Flags:
    """Which columns differ in repository or name: the others may be of one domain (the paper's Table 2 adjusts)."""
    known: dict[tuple[str, str], int] = {}
    domains = np.array([known.setdefault((case.repo, case.name), len(known)) for case in cases])
    differ: Flags = domains[:, None] != domains[None, :]
    return differ


def applicable(found: Iterable[Judged]) -> Flags:
    """The cases for which at least one method of patterns has a rule that is not trivial (section 5.3)."""
    meant = [_has_pattern(each) for each in found if each.patterns]
    has: Flags = np.logical_or.reduce(np.array(meant, np.bool_), axis=0)
    return has


def _has_pattern(found: Judged) -> list[bool]:
    return [rule is not None and not rule.is_trivial for rule in found.rules]


def scores(found: Judged, cases: Sequence[Case], chosen: Flags | None = None) -> Scores:
    """Averages over the chosen cases, or all; recall is over all other columns of the benchmark, chosen or not."""
    kept = np.ones(len(cases), np.bool_) if chosen is None else chosen
    precision, recall = precisions(found.flags)[kept], recalls(found.flags)[kept]
    other = recalls(found.flags, other_domains(cases))[kept]
    rows = np.stack([precision, recall, other])
    exact, drawn = rows.mean(axis=1), _resampled(rows)
    rules = sum(rule is not None for rule, is_kept in zip(found.rules, kept, strict=True) if is_kept)
    spent = found.milliseconds[kept]
    return Scores(
        cases=int(kept.sum()),
        rules=rules,
        precision=float(exact[0]),
        recall=float(exact[1]),
        f1=float(f1(exact[0], exact[1])),
        recall_other=float(exact[2]),
        precision_interval=_interval(drawn[0]),
        recall_interval=_interval(drawn[1]),
        f1_interval=_interval(f1(drawn[0], drawn[1])),
        recall_other_interval=_interval(drawn[2]),
        milliseconds=float(spent.mean()),
        milliseconds_95=float(np.quantile(spent, 0.95)),
    )


def f1(precision: Floats, recall: Floats) -> Floats:
    """
    >>> float(f1(np.array(1.0), np.array(0.5)))
    0.6666666666666666
    """
    total = precision + recall
    return np.where(total > 0, 2 * precision * recall / np.where(total > 0, total, 1.0), 0.0)


def _resampled(rows: Floats) -> Floats:
    """The means of rows of numbers in bootstrap draws of cases, all rows with the same draws."""
    size = rows.shape[1]
    times = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), DRAWS)
    means: Floats = rows @ times.T / size
    return means


def _interval(drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
