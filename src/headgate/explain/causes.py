"""From many failed expectations to the few things that went wrong: grouped, ranked, each told in one sentence."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headgate.explain.wording import Sort, names_of, title_of
from headgate.learn.history.program import SHAPE, rarity
from headgate.metrics.base.registry import metrics
from headgate.values.account import Account
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey

SHOWN = 3
"""Causes that a person is told first."""

_SIZE = MetricKey("size")
_FIRST = re.compile(r"[a-z_]+\(([^\s,()\[\]\"'`]+)[,)]")  # of a rule: the name that stands first
_OF_ROWS = frozenset(
    {
        *(
            "approx_count_distinct",
            "dist_val_count",
            "unique_ratio",
            "most_frequent_ratio",
            "entropy",
            "range",
            "min",
            "max",
        ),
        *("ks_dist", "value_l1", "pattern_l1", "new_values", "new_patterns"),
    }
)
_MUCH = 0.05  # of what makes a batch unlike the others, for a column to be named beside the first
_NEAR = 3  # digits to which two columns' values agree if they broke together


class Cause(msgspec.Struct, frozen=True):
    """One thing that went wrong, with all expectations that it broke.

    `columns` are those it is seen in; none for the table as a whole. `false_alarm` is how often the rarest of the
    broken expectations is wrong, None where a person declared them.
    """

    sort: Sort
    title: str
    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    found: tuple[str, ...] = ()

    @property
    def false_alarm(self) -> float | None:
        if self.declared:
            return None
        rates = [each.expectation.false_alarm for each in self.judgements if each.expectation.false_alarm is not None]
        return min(rates, default=None)

    @property
    def declared(self) -> bool:
        """Whether it breaks what a person expects."""
        return any(each.expectation.source is Source.DECLARED for each in self.judgements)

    @property
    def rarity(self) -> str:
        """How seldom a good batch looks like this, in words."""
        if self.sort is Sort.UNREAD:
            return ""
        if self.declared:
            return "declared"
        return rarity(self.false_alarm) or "no accepted run did this"

    @property
    def lead(self) -> Judgement:
        """The judgement that tells it best: the rarest."""
        return self.judgements[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.sort.name.lower(),
            "title": self.title,
            "columns": list(self.columns),
            "found": list(self.found),
            "rarity": self.rarity,
            "false_alarm": self.false_alarm,
            "expectations": [str(each.expectation.metric) for each in self.judgements],
        }


def causes_of(
    judgements: Iterable[Judgement], account: Account | None = None, *, level: Level = Level.ERROR
) -> tuple[Cause, ...]:
    """The causes behind what failed at a level and what could not be evaluated, the most telling first.

    The account says how the columns look, whether the number of rows is why, and which columns are unlike others.
    """
    account = account or Account()
    bad = [
        each
        for each in judgements
        if each.status is Status.ERROR or (each.status is Status.FAIL and each.expectation.level is level)
    ]
    groups: dict[tuple[Sort, str], list[Judgement]] = defaultdict(list)
    short = account.short or any(each.expectation.metric == _SIZE for each in bad)
    for each in bad:
        groups[_group(each, short)].append(each)
    found = [_cause(sort, where, held, account) for (sort, where), held in groups.items()]
    return tuple(sorted(_joined(_absorbed(_placed(found, account.blamed))), key=_rank))


def _group(each: Judgement, short: bool) -> tuple[Sort, str]:
    key, source = each.expectation.metric, each.expectation.source
    column = key.columns[0] if key.columns else ""
    if each.status is Status.ERROR:
        return Sort.UNREAD, column
    if key.name in SHAPE and source is not Source.DECLARED:
        return Sort.SHAPE, ""
    if source is Source.RULES:
        return Sort.VOLUME, ""
    if source is Source.DECLARED:
        return Sort.DECLARED, each.expectation.rule or str(key)
    if source is Source.NOVELTY:
        return Sort.WHOLE, ""
    if key == _SIZE or (short and _counts(key.name)):
        return Sort.VOLUME, ""
    return Sort.COLUMN, column


def _counts(name: str) -> bool:
    """Whether a metric moves with the number of rows, so that fewer rows are the whole reason."""
    return name in _OF_ROWS or (name in metrics() and metrics()[name].additive)


def _cause(sort: Sort, where: str, held: list[Judgement], account: Account) -> Cause:
    ranked = tuple(sorted(held, key=_rate))
    named = () if sort is Sort.VOLUME else ranked
    columns = tuple(dict.fromkeys(column for each in named for column in _columns(each.expectation)))
    found = account.found.get(where if sort is Sort.COLUMN else columns[0] if sort is Sort.DECLARED and columns else "")
    return Cause(sort, title_of(sort, where, ranked, found or ()), columns, ranked, found or ())


def _columns(expectation: Expectation) -> tuple[str, ...]:
    """The column that an expectation is about; a predicate over rows has none, but its rule may name one first.

    >>> from headgate.values.predicate import Between
    >>> _columns(Expectation(MetricKey("compliance"), Between(1), rule='is_contained_in(origin, values=["EWR"])'))
    ('origin',)
    """
    if expectation.metric.columns:
        return expectation.metric.columns[:1]
    found = _FIRST.match(expectation.rule)
    return found.groups() if found else ()


def _rate(each: Judgement) -> tuple[float, str, float]:
    """Sorts what one cause broke: the rarest first; of one metric in several segments, the worst."""
    rate = each.expectation.false_alarm
    return (0.0 if rate is None else rate), str(each.expectation.metric), -_beyond(each)


def _beyond(each: Judgement) -> float:
    """How far a value lies outside of what was expected."""
    floor, ceiling = each.expectation.predicate.floor, each.expectation.predicate.ceiling
    if each.value is None or math.isnan(each.value):
        return 0.0
    below, above = (0.0 if floor is None else floor - each.value), (0.0 if ceiling is None else each.value - ceiling)
    return max(below, above, 0.0)


def _placed(found: list[Cause], blamed: Sequence[tuple[str, float]]) -> list[Cause]:
    """The verdict on the whole batch belongs to the causes of the columns that it blames; alone, it names them."""
    whole = [each for each in found if each.sort is Sort.WHOLE]
    if not whole:
        return found
    shares: dict[str, float] = defaultdict(float)
    for metric, share in blamed:
        columns = MetricKey.parse(metric).columns
        shares[columns[0] if columns else ""] += share
    ranked = sorted((each for each in shares if each), key=lambda column: -shares[column])
    known = {column for each in found if each.sort is not Sort.WHOLE for column in each.columns}
    if any(each.sort in (Sort.SHAPE, Sort.VOLUME) for each in found) or (ranked and ranked[0] in known):
        return [each for each in found if each.sort is not Sort.WHOLE]
    most = ranked[:1] + [column for column in ranked[1:3] if shares[column] >= _MUCH]
    said = ", ".join(f"{column} ({shares[column]:.0%})" for column in most)
    title = whole[0].title + (f", most in {said}" if said else "")
    named = msgspec.structs.replace(whole[0], title=title, columns=tuple(most))
    return [each for each in found if each.sort is not Sort.WHOLE] + [named]


def _absorbed(found: list[Cause]) -> list[Cause]:
    """What was learned of a column that breaks a person's check is the same thing seen again: one cause."""
    learned: dict[tuple[str, ...], Cause] = {
        each.columns: each for each in found if each.sort is Sort.COLUMN and len(each.columns) == 1
    }
    made = []
    for each in sorted(found, key=_rank):  # a column's first check takes what was learned of it
        also = learned.pop(each.columns, None) if each.sort is Sort.DECLARED else None
        if also is not None:
            judgements = each.judgements + also.judgements
            made.append(msgspec.structs.replace(each, judgements=judgements, found=each.found or also.found))
        elif each.sort is not Sort.COLUMN or each.columns in learned or len(each.columns) != 1:
            made.append(each)
    return made


def _joined(found: list[Cause]) -> list[Cause]:
    """Columns that broke in the same way, by the same metric to the same value, broke together."""
    alike: dict[Any, list[Cause]] = defaultdict(list)
    for each in found:
        alike[_signature(each)].append(each)
    return [_one(group) if len(group) > 1 else group[0] for group in alike.values()]


def _signature(each: Cause) -> Any:
    lead = each.lead
    if each.sort is not Sort.COLUMN or lead.value is None:
        return id(each)
    return each.sort, lead.expectation.metric.name, f"{lead.value:.{_NEAR}g}"


def _one(group: Sequence[Cause]) -> Cause:
    columns = tuple(dict.fromkeys(column for each in group for column in each.columns))
    judgements = tuple(sorted((each for cause in group for each in cause.judgements), key=_rate))
    title = f"{names_of(columns)} broke alike: {group[0].title}"
    return Cause(group[0].sort, title, columns, judgements, group[0].found)


def _rank(each: Cause) -> tuple[int, float, int]:
    return each.sort, each.false_alarm or 0.0, -len(each.judgements)
