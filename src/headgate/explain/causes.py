"""Groups failed expectations into the few causes behind them, ranks the causes, and gives each a title."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headgate.explain.level_wording import describe_duration, is_level, rank_level, write_level_title
from headgate.explain.wording import CauseKind, list_names, write_title
from headgate.learn.copies import COPIES
from headgate.learn.history.guards import COARSE_NOTE
from headgate.learn.history.program import SCHEMA_METRICS, format_rarity
from headgate.learn.metric_traits import is_known, traits_of
from headgate.values.account import Account, HeldSequence
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey

MAX_CAUSES = 3
"""Causes that a verdict shows; the others are counted."""

_SIZE = MetricKey("size")
_FIRST_NAME = re.compile(r"[a-z_]+\(([^\s,()\[\]\"'`]+)[,)]")  # the first name in the text of a rule
_NOTABLE_SHARE = 0.05  # of the novelty of a batch: columns with less are not named beside the first
_COMPLETENESS = "completeness"
_EQUAL_DIGITS = 3  # to so many digits the values of two columns agree if they broke together


class Cause(msgspec.Struct, frozen=True):
    """One thing that went wrong, with all expectations that it broke.

    `columns` are the columns it shows in; empty for the table as a whole. `found` says in sentences how those columns
    changed. `false_alarm` is the stated rate of the rarest broken expectation, None where a person declared it.
    `held_before` are the batches directly before this one that were held for the same reason, oldest first.
    """

    kind: CauseKind
    title: str
    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    found: tuple[str, ...] = ()
    held_before: tuple[str, ...] = ()

    @property
    def false_alarm(self) -> float | None:
        if self.is_declared:
            return None
        rates = [each.expectation.false_alarm for each in self.judgements if each.expectation.false_alarm is not None]
        return min(rates, default=None)

    @property
    def is_declared(self) -> bool:
        """Whether it breaks a check that a person wrote."""
        return any(each.expectation.source is Source.DECLARED for each in self.judgements)

    @property
    def rarity(self) -> str:
        """How rarely a good batch looks like this, in words."""
        if self.kind is CauseKind.UNREAD:
            return ""
        if self.is_declared:
            return "declared"
        return format_rarity(self.false_alarm) or "no accepted run did this"

    @property
    def lead(self) -> Judgement:
        """The judgement that represents the cause: the first of the ranked ones."""
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
            "held_before": list(self.held_before),
        }


def find_causes(
    judgements: Iterable[Judgement], account: Account | None = None, *, level: Level = Level.ERROR
) -> tuple[Cause, ...]:
    """The causes behind the failures of a level and the errors, the most important first.

    `account` says how the columns changed, whether the row count is the cause, and which columns make the batch novel.
    """
    account = account or Account()
    failures = [
        judgement
        for judgement in judgements
        if judgement.status is Status.ERROR
        or (judgement.status is Status.FAIL and judgement.expectation.level is level)
    ]
    groups: dict[tuple[CauseKind, str], list[Judgement]] = defaultdict(list)
    fewer_rows = account.fewer_rows or any(judgement.expectation.metric == _SIZE for judgement in failures)
    is_copy = any(judgement.expectation.metric == COPIES for judgement in failures)
    for judgement in failures:
        if is_copy and judgement.status is Status.FAIL and judgement.expectation.source is not Source.DECLARED:
            groups[CauseKind.COPY, account.copy_of].append(judgement)  # it explains what else is as it was then
        else:
            groups[_group_of(judgement, fewer_rows)].append(judgement)
    causes = [_make_cause(kind, name, group, account) for (kind, name), group in groups.items()]
    causes = _place_novelty(causes, account.contributions)
    causes = _join_alike(_absorb_learned(causes), account)
    if level is Level.ERROR:
        causes = [_compare_with_held(cause, account.held) for cause in causes]
    return tuple(sorted(causes, key=_cause_rank))


def _group_of(judgement: Judgement, fewer_rows: bool) -> tuple[CauseKind, str]:
    """The kind of cause behind a judgement, and the column or rule that tells it from others of its kind."""
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
    """Whether a change of the row count alone changes a metric."""
    return is_known(key) and traits_of(key).moves_with_rows


def _make_cause(kind: CauseKind, name: str, judgements: list[Judgement], account: Account) -> Cause:
    ranked = _rank_judgements(judgements, account)
    with_columns = () if kind in (CauseKind.VOLUME, CauseKind.COPY) else ranked
    columns = tuple(dict.fromkeys(column for each in with_columns for column in _columns_of(each.expectation)))
    changed_column = name if kind is CauseKind.COLUMN else columns[0] if kind is CauseKind.DECLARED and columns else ""
    changes = account.column_changes.get(changed_column, ())
    return Cause(kind, write_title(kind, name, ranked, changes), columns, ranked, changes)


def _columns_of(expectation: Expectation) -> tuple[str, ...]:
    """The column that an expectation is about; a predicate over rows has none, but its rule may name one first.

    >>> from headgate.values.predicate import Between
    >>> _columns_of(Expectation(MetricKey("compliance"), Between(1), rule='is_contained_in(origin, values=["EWR"])'))
    ('origin',)
    """
    if expectation.metric.columns:
        return expectation.metric.columns[:1]
    matched = _FIRST_NAME.match(expectation.rule)
    return matched.groups() if matched else ()


def _rank_judgements(judgements: Iterable[Judgement], account: Account) -> tuple[Judgement, ...]:
    """The judgements of one cause: the rarest first, and of one metric in several segments the worst first.

    That a column is empty explains what else it breaks. Coarse limits say less than ranges.
    """

    def rank(judgement: Judgement) -> tuple[bool, bool, float, str, float]:
        rate, metric = judgement.expectation.false_alarm, judgement.expectation.metric
        is_empty = metric.name == _COMPLETENESS and judgement.value == 0.0
        is_coarse = account.notes.get(str(metric), "").startswith(COARSE_NOTE)
        return not is_empty, is_coarse, rate or 0.0, str(metric), -_distance_outside(judgement)

    return tuple(sorted(judgements, key=rank))


def _distance_outside(judgement: Judgement) -> float:
    """How far a value lies outside the expected range."""
    value, predicate = judgement.value, judgement.expectation.predicate
    if value is None or math.isnan(value):
        return 0.0
    below = 0.0 if predicate.floor is None else predicate.floor - value
    above = 0.0 if predicate.ceiling is None else value - predicate.ceiling
    return max(below, above, 0.0)


def _place_novelty(causes: list[Cause], contributions: Sequence[tuple[str, float]]) -> list[Cause]:
    """Drop the cause "the batch as a whole" where another cause explains it; else let it name the columns behind it."""
    others = [cause for cause in causes if cause.kind is not CauseKind.WHOLE]
    whole = next((cause for cause in causes if cause.kind is CauseKind.WHOLE), None)
    if whole is None:
        return causes
    shares: dict[str, float] = defaultdict(float)
    for metric, share in contributions:
        columns = MetricKey.parse(metric).columns
        shares[columns[0] if columns else ""] += share
    ranked = sorted((column for column in shares if column), key=lambda column: -shares[column])
    explained = {column for cause in others for column in cause.columns}
    if any(cause.kind in (CauseKind.SHAPE, CauseKind.VOLUME) for cause in others) or set(ranked[:1]) & explained:
        return others
    named = ranked[:1] + [column for column in ranked[1:3] if shares[column] >= _NOTABLE_SHARE]
    listed = ", ".join(f"{column} ({shares[column]:.0%})" for column in named)
    title = whole.title + (f", most in {listed}" if listed else "")
    return [*others, msgspec.structs.replace(whole, title=title, columns=tuple(named))]


def _absorb_learned(causes: list[Cause]) -> list[Cause]:
    """Join what was learned of a column to the check on the same column that failed: it is the same cause."""
    learned: dict[tuple[str, ...], Cause] = {
        cause.columns: cause for cause in causes if cause.kind is CauseKind.COLUMN and len(cause.columns) == 1
    }
    joined = []
    for cause in sorted(causes, key=_cause_rank):  # the first check on a column takes what was learned of it
        same = learned.pop(cause.columns, None) if cause.kind is CauseKind.DECLARED else None
        if same is not None:
            judgements = cause.judgements + same.judgements
            joined.append(msgspec.structs.replace(cause, judgements=judgements, found=cause.found or same.found))
        elif cause.kind is not CauseKind.COLUMN or cause.columns in learned or len(cause.columns) != 1:
            joined.append(cause)
    return joined


def _join_alike(causes: list[Cause], account: Account) -> list[Cause]:
    """Join columns that broke in the same way: by the same metric, to the same value."""
    groups: dict[Any, list[Cause]] = defaultdict(list)
    for cause in causes:
        groups[_signature(cause)].append(cause)
    return [_merge_causes(group, account) if len(group) > 1 else group[0] for group in groups.values()]


def _signature(cause: Cause) -> Any:
    lead = cause.lead
    if cause.kind is not CauseKind.COLUMN or lead.value is None:
        return id(cause)
    return cause.kind, lead.expectation.metric.name, f"{lead.value:.{_EQUAL_DIGITS}g}"


def _merge_causes(group: Sequence[Cause], account: Account) -> Cause:
    columns = tuple(dict.fromkeys(column for each in group for column in each.columns))
    judgements = _rank_judgements((each for cause in group for each in cause.judgements), account)
    title = f"{list_names(columns)} broke alike: {group[0].title}"
    return Cause(group[0].kind, title, columns, judgements, group[0].found)


def _compare_with_held(cause: Cause, held: HeldSequence) -> Cause:
    """The cause with the held batches before it that have the same one, and with a title that says so."""
    levels = [each for each in held.levels if _shows_level(cause, MetricKey.parse(each.metric))]
    if not levels:
        return cause
    count = len(levels[0].values)
    title = f"{cause.title}, {describe_duration(count, held.step)}"
    shown = sorted(filter(is_level, levels), key=rank_level)
    is_single = cause.kind is CauseKind.COLUMN and len(cause.columns) == 1
    if shown and (is_single or cause.kind in (CauseKind.VOLUME, CauseKind.WHOLE)):
        title = write_level_title(shown[0], held.step)
    return msgspec.structs.replace(cause, title=title, held_before=held.partitions[1 - count :])


def _shows_level(cause: Cause, key: MetricKey) -> bool:
    """Whether a metric is one that a cause is seen by: one that failed and was learned, or the mean of its column."""
    learned = (each.expectation for each in cause.judgements if each.expectation.source is not Source.DECLARED)
    if any(expectation.metric == key for expectation in learned):
        return True
    return key == _SIZE if cause.kind is CauseKind.VOLUME else key.name == "mean" and key.columns == cause.columns[:1]


def _cause_rank(cause: Cause) -> tuple[int, float, int]:
    return cause.kind, cause.false_alarm or 0.0, -len(cause.judgements)
