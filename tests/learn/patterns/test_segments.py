"""Cutting a grid into segments: the cheapest cut, and which patterns a segment may have."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from headgate.learn.patterns.align import align_groups, group_values
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.lexer import lex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.scoring import ByImpurity
from headgate.learn.patterns.segments import Cut, Cutter, PatternSegment
from headgate.learn.patterns.settings import InferenceSettings
from tests.learn.patterns import lakes

LAKE = lakes.lake()


def test_of_all_patterns_of_a_column_fmdv_takes_the_one_of_least_impurity() -> None:
    values = lakes.column(lakes.code, size=30)
    rule = infer(values, LAKE, LAKE.total, InferenceSettings.of("fmdv", limit=0.9, coverage=1))
    assert rule is not None
    tokens = lex(values)
    grid = group_values(tokens, np.ones(len(values), dtype=np.int64))[0]
    cutter = Cutter(tokens, align_groups(tokens, [grid]), np.ones(30, dtype=np.int64), LAKE, 0.0, 13, False)
    (span,) = cutter.list_spans()
    rows = cutter.span_entries[1]
    assert len(rows) == len(span.sums)
    rates = rows["impurity"] / 2**32 / np.maximum(rows["columns"], 1)
    assert rule.fpr == pytest.approx(rates[rows["columns"] > 0].min())


@pytest.mark.parametrize("seed", range(8))
def test_the_dynamic_programme_finds_the_cheapest_of_all_segmentations(seed: int) -> None:
    """Equation 11 against trying every way to cut."""
    rng = np.random.default_rng(seed)
    parts = [lakes.DOMAINS[at] for at in rng.integers(0, 6, size=3)]
    columns = [lakes.column(draw, size=30, seed=seed + at) for at, draw in enumerate(parts)]
    values = ["|".join(row) for row in zip(*columns, strict=True)]
    tokens, weights = lex(values), np.ones(len(values), dtype=np.int64)
    group = group_values(tokens, weights)[0]
    cutter = Cutter(tokens, align_groups(tokens, [group]), weights, LAKE, 0.0, 13, True)
    scorer = ByImpurity(0.99, 1)
    spans, rows = cutter.span_entries
    found, at = {}, 0
    for span in spans:
        own = rows[at : at + len(span.sums)]
        if (best := cutter.choose_pattern(span, own, scorer(own), scorer)) is not None:
            found[span.start, span.stop] = best
        at += len(span.sums)
    costs = [
        sum(found[pair].segment.cost for pair in cut)
        for cut in every_cut(len(cutter.places))
        if all(pair in found for pair in cut)
    ]
    made = cutter.find_cheapest(found, scorer)
    assert (made is None) == (not costs or min(costs) > 0.99)
    if made is not None:
        assert made.cost == pytest.approx(min(costs))


def every_cut(width: int) -> list[list[tuple[int, int]]]:
    inner = range(1, width)
    ends = [(0, *cut, width) for size in range(width) for cut in combinations(inner, size)] if width <= 16 else []
    return [list(pairwise(cut)) for cut in ends]


def test_the_cost_of_a_cut_is_a_sum_and_its_miss_that_of_the_strictest_required_segment() -> None:
    pattern = Pattern((Atom(AtomKind.DIGIT),))
    segments = [PatternSegment(pattern, cost=cost, miss=miss) for cost, miss in ((0.25, 0.5), (0.5, 0.125))]
    optional = PatternSegment(pattern, optional=True, cost=0.125, miss=0.0)
    cut = Cut((*segments, optional), np.ones(3, dtype=bool))
    assert (cut.cost, cut.miss) == (0.875, 0.125)
    assert (str(optional), optional.body) == ("(<digit>+)?", "(?:[0-9]+)?")
