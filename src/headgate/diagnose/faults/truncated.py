"""Texts are cut off after some characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import ClassVar

from headgate.diagnose.column_pair import DISTINCT, LENGTHS, PATTERNS, VALUES, ColumnPair, measure_difference
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.metrics.states.moments import Moments

_FEWEST, _MIN_SHARE = 2, 0.02  # of new values, where a part is cut off
_LEAST_OF_EXPECTED = 0.8  # of the mean length that cut values have
_PARTS_OF_MIXED = frozenset({"A", "a", "Aa", "9"})
_MIN_AT_END = 0.15  # of the new values, that are as long as the longest


@fault
class Truncated(KnownFault):
    """Values of at most n characters, where longer ones are usual."""

    name: ClassVar = "truncated"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        now, before = pair.now.lengths, pair.before.lengths
        if not pair.is_text or now is None or before is None or now.high is None or before.high is None:
            return
        most = int(now.high)
        if now.mean >= before.mean or not pair.total:
            return
        part = _fit_part(pair, most)
        if part is not None:
            yield part
        if most >= before.high or most < 1 or now.mean < _LEAST_OF_EXPECTED * _expect_length(before, most):
            return
        new = {text: share for text, share in pair.now.values.items() if not pair.knows_value(text)}
        at_end = sum(share for text, share in new.items() if len(text) == most)
        other = sum(share for text, share in new.items() if len(text) < most)
        is_cut = before.mean > most or at_end > max(_MIN_AT_END * pair.now.listed, other) or _is_long(pair, most)
        if not is_cut:
            return
        if not _have_prefixes(pair) or (pair.secret is None and new and not _are_prefixes(pair, new)):
            return
        rest = {LENGTHS: 0.0, VALUES: 0.0, DISTINCT: 0.0, PATTERNS: 0.0}
        left = pair.measure_unexplained(**rest)
        yield Fit(
            self.name,
            f"is cut off after {most} character{'s' * (most != 1)}",
            (0.03 if at_end > 0.8 * sum(new.values()) > 0 else 0.12) + left,
            (pair.label,),
            {"characters": float(most)},
        )


def _fit_part(pair: ColumnPair, longest: int) -> Fit | None:
    """A part of the values is cut off: those that no run had all have the same length, and are how others begin."""
    new = {text: share for text, share in pair.now.values.items() if not pair.knows_value(text)}
    lengths, share = {len(text) for text in new}, sum(new.values())
    if len(new) < _FEWEST or len(lengths) != 1 or share < _MIN_SHARE or not _have_prefixes(pair):
        return None
    is_seen = _are_prefixes(pair, new, [text for text in pair.now.values if text not in new])
    if pair.secret is None and not is_seen:
        return None
    [most] = lengths
    if most >= longest:
        return None
    rest = {
        name: max(0.0, measure_difference(one, two) - share)
        for name, one, two in (
            (VALUES, pair.named, pair.before.values),
            (PATTERNS, pair.now.patterns, pair.before.patterns),
        )
    }
    left = pair.measure_unexplained(**{**rest, LENGTHS: 0.0, DISTINCT: 0.0})
    cost = 0.03 if is_seen else 0.2  # of hidden values, one cannot tell how they begin
    what = f"is cut off after {most} character{'s' * (most != 1)}"
    return Fit(Truncated.name, what, left, (pair.label,), {"characters": float(most)}, min(1.0, share), cost)


def _expect_length(before: Moments, most: int) -> float:
    """The mean length of values cut off after so many characters, if lengths are about normally distributed."""
    spread = (before.second / before.count) ** 0.5
    if not spread:
        return min(before.mean, float(most))
    normal, beyond = NormalDist(before.mean, spread), before.mean - most
    return float(before.mean - beyond * (1 - normal.cdf(most)) - spread**2 * normal.pdf(most))


def _is_long(pair: ColumnPair, most: int) -> bool:
    """Whether many values that are usual would be longer, by their mean and spread."""
    before = pair.before.lengths
    assert before is not None
    spread = (before.second / before.count) ** 0.5
    return before.mean + spread > most and pair.now.listed < 0.5


def _have_prefixes(pair: ColumnPair) -> bool:
    """Whether most patterns of the batch are how those of the past begin."""
    usual = tuple(pair.before.patterns)
    found = sum(share for pattern, share in pair.now.patterns.items() if any(_begins(each, pattern) for each in usual))
    return not pair.now.patterns or found > 0.6 * sum(pair.now.patterns.values())


def _begins(usual: str, pattern: str) -> bool:
    """Whether a value of a pattern may begin with one of another; letters beside digits begin with either."""
    return usual.startswith(pattern) or (usual.startswith("X") and pattern in _PARTS_OF_MIXED)


def _are_prefixes(pair: ColumnPair, new: dict[str, float], beside: Sequence[str] = ()) -> bool:
    """Whether most new values are how known ones begin: those of the past, and others of the batch."""
    known = [*pair.before.values, *pair.merged, *beside]
    found = sum(share for text, share in new.items() if any(each.startswith(text) for each in known))
    return found > 0.5 * sum(new.values()) or pair.before.listed < 0.5
