"""From many failed expectations to the few things that went wrong: grouped, ranked, each told in one sentence."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headgate.explain.wording import CauseKind, list_names, write_title
from headgate.learn.history.program import SCHEMA_METRICS, format_rarity
from headgate.learn.metric_traits import is_known, traits_of
from headgate.values.account import Account
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey

MAX_CAUSES = 3
"""Causes that a person is told first."""

_SIZE = MetricKey("size")
_FIRST_NAME = re.compile(r"[a-z_]+\(([^\s,()\[\]\"'`]+)[,)]")  # of a rule: the name that stands first
_NOTABLE_SHARE = 0.05  # of what makes a batch unlike the others, for a column to be named beside the first
_EQUAL_DIGITS = 3  # digits to which two columns' values agree if they broke together


class Cause(msgspec.Struct, frozen=True):
    """One thing that went wrong, with all expectations that it broke.

    `columns` are those it is seen in; none for the table as a whole. `false_alarm` is how often the rarest of the
    broken expectations is wrong, None where a person declared them.
    """

    kind: CauseKind
    title: str
    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    found: tuple[str, ...] = ()

    @property
    def false_alarm(self) -> float | None:
        if self.is_declared:
            return None
        rates = [each.expectation.false_alarm for each in self.judgements if each.expectation.false_alarm is not None]
        return min(rates, default=None)

    @property
    def is_declared(self) -> bool:
        """Whether it breaks what a person expects."""
        return any(each.expectation.source is Source.DECLARED for each in self.judgements)

    @property
    def rarity(self) -> str:
        """How seldom a good batch looks like this, in words."""
        if self.kind is CauseKind.UNREAD:
            return ""
        if self.is_declared:
            return "declared"
        return format_rarity(self.false_alarm) or "no accepted run did this"

    @property
    def lead(self) -> Judgement:
        """The judgement that tells it best: the rarest."""
        return self.judgements[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.name.lower(),
            "title": self.title,
            "columns": list(self.columns),
            "found": list(self.found),
            "rarity": self.rarity,
            "false_alarm": self.false_alarm,
            "expectations": [str(each.expectation.metric) for each in self.judgements],
        }


def find_causes(
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
    groups: dict[tuple[CauseKind, str], list[Judgement]] = defaultdict(list)
    short = account.short or any(each.expectation.metric == _SIZE for each in bad)
    for each in bad:
        groups[_group_of(each, short)].append(each)
    found = [_make_cause(sort, where, held, account) for (sort, where), held in groups.items()]
    return tuple(sorted(_join_alike(_absorb_learned(_place_novelty(found, account.blamed))), key=_cause_rank))


def _group_of(judgement: Judgement, fewer_rows: bool) -> tuple[CauseKind, str]:
    key, source = judgement.expectation.metric, judgement.expectation.source
    column = key.columns[0] if key.columns else ""
    if judgement.status is Status.ERROR:
        return CauseKind.UNREAD, column
    if key.name in SCHEMA_METRICS and source is not Source.DECLARED:
        return CauseKind.SHAPE, ""
    if source is Source.RULES:
        return CauseKind.VOLUME, ""
    if source is Source.DECLARED:
        return CauseKind.DECLARED, judgement.expectation.rule or str(key)
    if source is Source.NOVELTY:
        return CauseKind.WHOLE, ""
    if key == _SIZE or (fewer_rows and _moves_with_rows(key)):
        return CauseKind.VOLUME, ""
    return CauseKind.COLUMN, column


def _moves_with_rows(key: MetricKey) -> bool:
    """Whether fewer rows alone change a metric, so that they are the whole reason."""
    return is_known(key) and traits_of(key).moves_with_rows


def _make_cause(sort: CauseKind, where: str, held: list[Judgement], account: Account) -> Cause:
    ranked = tuple(sorted(held, key=_rarity_rank))
    named = () if sort is CauseKind.VOLUME else ranked
    columns = tuple(dict.fromkeys(column for each in named for column in _columns_of(each.expectation)))
    found = account.found.get(
        where if sort is CauseKind.COLUMN else columns[0] if sort is CauseKind.DECLARED and columns else ""
    )
    return Cause(sort, write_title(sort, where, ranked, found or ()), columns, ranked, found or ())


def _columns_of(expectation: Expectation) -> tuple[str, ...]:
    """The column that an expectation is about; a predicate over rows has none, but its rule may name one first.

    >>> from headgate.values.predicate import Between
    >>> _columns_of(Expectation(MetricKey("compliance"), Between(1), rule='is_contained_in(origin, values=["EWR"])'))
    ('origin',)
    """
    if expectation.metric.columns:
        return expectation.metric.columns[:1]
    found = _FIRST_NAME.match(expectation.rule)
    return found.groups() if found else ()


def _rarity_rank(each: Judgement) -> tuple[float, str, float]:
    """Sorts what one cause broke: the rarest first; of one metric in several segments, the worst."""
    rate = each.expectation.false_alarm
    return (0.0 if rate is None else rate), str(each.expectation.metric), -_distance_outside(each)


def _distance_outside(each: Judgement) -> float:
    """How far a value lies outside of what was expected."""
    floor, ceiling = each.expectation.predicate.floor, each.expectation.predicate.ceiling
    if each.value is None or math.isnan(each.value):
        return 0.0
    below, above = (0.0 if floor is None else floor - each.value), (0.0 if ceiling is None else each.value - ceiling)
    return max(below, above, 0.0)


def _place_novelty(found: list[Cause], blamed: Sequence[tuple[str, float]]) -> list[Cause]:
    """The verdict on the whole batch belongs to the causes of the columns that it blames; alone, it names them."""
    whole = [each for each in found if each.kind is CauseKind.WHOLE]
    if not whole:
        return found
    shares: dict[str, float] = defaultdict(float)
    for metric, share in blamed:
        columns = MetricKey.parse(metric).columns
        shares[columns[0] if columns else ""] += share
    ranked = sorted((each for each in shares if each), key=lambda column: -shares[column])
    known = {column for each in found if each.kind is not CauseKind.WHOLE for column in each.columns}
    if any(each.kind in (CauseKind.SHAPE, CauseKind.VOLUME) for each in found) or (ranked and ranked[0] in known):
        return [each for each in found if each.kind is not CauseKind.WHOLE]
    most = ranked[:1] + [column for column in ranked[1:3] if shares[column] >= _NOTABLE_SHARE]
    said = ", ".join(f"{column} ({shares[column]:.0%})" for column in most)
    title = whole[0].title + (f", most in {said}" if said else "")
    named = msgspec.structs.replace(whole[0], title=title, columns=tuple(most))
    return [each for each in found if each.kind is not CauseKind.WHOLE] + [named]


def _absorb_learned(found: list[Cause]) -> list[Cause]:
    """What was learned of a column that breaks a person's check is the same thing seen again: one cause."""
    learned: dict[tuple[str, ...], Cause] = {
        each.columns: each for each in found if each.kind is CauseKind.COLUMN and len(each.columns) == 1
    }
    made = []
    for each in sorted(found, key=_cause_rank):  # a column's first check takes what was learned of it
        also = learned.pop(each.columns, None) if each.kind is CauseKind.DECLARED else None
        if also is not None:
            judgements = each.judgements + also.judgements
            made.append(msgspec.structs.replace(each, judgements=judgements, found=each.found or also.found))
        elif each.kind is not CauseKind.COLUMN or each.columns in learned or len(each.columns) != 1:
            made.append(each)
    return made


def _join_alike(found: list[Cause]) -> list[Cause]:
    """Columns that broke in the same way, by the same metric to the same value, broke together."""
    alike: dict[Any, list[Cause]] = defaultdict(list)
    for each in found:
        alike[_signature(each)].append(each)
    return [_merge_causes(group) if len(group) > 1 else group[0] for group in alike.values()]


def _signature(each: Cause) -> Any:
    lead = each.lead
    if each.kind is not CauseKind.COLUMN or lead.value is None:
        return id(each)
    return each.kind, lead.expectation.metric.name, f"{lead.value:.{_EQUAL_DIGITS}g}"


def _merge_causes(group: Sequence[Cause]) -> Cause:
    columns = tuple(dict.fromkeys(column for each in group for column in each.columns))
    judgements = tuple(sorted((each for cause in group for each in cause.judgements), key=_rarity_rank))
    title = f"{list_names(columns)} broke alike: {group[0].title}"
    return Cause(group[0].kind, title, columns, judgements, group[0].found)


def _cause_rank(each: Cause) -> tuple[int, float, int]:
    return each.kind, each.false_alarm or 0.0, -len(each.judgements)
