"""Groups failed expectations into the few causes behind them, ranks the causes, and gives each a title."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headgate.explain.change_wording import describe_factor, factors_agree
from headgate.explain.level_wording import describe_duration, is_level, rank_level, write_level_title
from headgate.explain.value_changes import describe_value_change
from headgate.explain.wording import CauseKind, is_telling, list_names, write_title
from headgate.learn.copies import COPIES
from headgate.learn.history.guards import COARSE_NOTE
from headgate.learn.history.program import SCHEMA_METRICS, format_rarity
from headgate.learn.metric_traits import is_distance, is_known, traits_of
from headgate.values.account import Account, HeldSequence, MetricChange, ValueChange, ValueChangeKind
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey

MAX_CAUSES = 3
"""Causes that a verdict shows; the others are counted."""

_SIZE = MetricKey("size")
_FIRST_NAME = re.compile(r"[a-z_]+\(([^\s,()\[\]\"'`]+)[,)]")  # the first name in the text of a rule
_NOTABLE_SHARE = 0.05  # of the novelty of a batch: columns with less are not named beside the first
_COMPLETENESS = "completeness"
_ROWS_MARGIN = 1.5  # how much farther than the row count, as a factor, a metric moves that the row count explains
_LEFT_MARGIN = 1.2  # how far, as a factor, the row count is from what a missing value leaves, if that explains it
_EQUAL_DIGITS = 3  # to so many digits the values of two columns agree if they broke together


class Cause(msgspec.Struct, frozen=True):
    """One thing that went wrong, with all expectations that it broke.

    `columns` are the columns it shows in; empty for the table as a whole. `found` says in sentences how those columns
    changed. `false_alarm` is the stated rate of the rarest broken expectation, None where a person declared it.
    `held_before` are the batches directly before this one that were held for the same reason, oldest first.
    `title_metric` is the metric that the title speaks of, `value_change` the change of values that it speaks of
    instead. `factor` is how many times as large the columns are, if the title says so. `metric_changes` are the metrics
    whose values in the runs before are known.
    """

    kind: CauseKind
    title: str
    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    found: tuple[str, ...] = ()
    held_before: tuple[str, ...] = ()
    title_metric: str = ""
    value_change: ValueChange | None = None
    factor: float | None = None
    metric_changes: dict[str, MetricChange] = {}

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
            groups[_group_of(judgement, fewer_rows, account)].append(judgement)
    causes = [_make_cause(kind, name, group, account) for (kind, name), group in groups.items()]
    causes = _place_novelty(causes, account.contributions)
    causes = _join_alike(_absorb_rows(_absorb_learned(causes)), account)
    if level is Level.ERROR:
        causes = [_compare_with_held(cause, account.held) for cause in causes]
    return tuple(sorted(causes, key=_cause_rank))


def _group_of(judgement: Judgement, fewer_rows: bool, account: Account) -> tuple[CauseKind, str]:
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
    if key == _SIZE or (fewer_rows and _moves_with_rows(key) and _is_explained_by_rows(key, account)):
        return CauseKind.VOLUME, ""
    return CauseKind.COLUMN, column


def _moves_with_rows(key: MetricKey) -> bool:
    """Whether a change of the row count alone changes a metric."""
    return is_known(key) and traits_of(key).moves_with_rows


def _is_explained_by_rows(key: MetricKey, account: Account) -> bool:
    """Whether a metric moved no farther than the row count, and no frequent value is missing or new."""
    if key.columns and key.columns[0] in account.value_changes:
        return False
    rows, own = (account.metric_changes.get(str(each)) for each in (_SIZE, key))
    if rows is None or own is None or is_distance(key):
        return True
    moved = [_measure_move(each) for each in (rows, own)]
    return moved[1] <= moved[0] + math.log(_ROWS_MARGIN)


def _measure_move(change: MetricChange) -> float:
    """How far a value lies from its centre, as the logarithm of a factor; infinitely far from or at 0."""
    ratio = change.value / change.centre if change.centre else 0.0
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf


def _make_cause(kind: CauseKind, name: str, judgements: list[Judgement], account: Account) -> Cause:
    ranked = _rank_judgements(judgements, account)
    with_columns = () if kind in (CauseKind.VOLUME, CauseKind.COPY) else ranked
    columns = tuple(dict.fromkeys(column for each in with_columns for column in _columns_of(each.expectation)))
    changed_column = name if kind is CauseKind.COLUMN else columns[0] if kind is CauseKind.DECLARED and columns else ""
    values = map(describe_value_change, account.value_changes.get(changed_column, ()))
    title = write_title(kind, name, ranked, account)
    return Cause(
        kind,
        title.text,
        columns,
        ranked,
        found=(*values, *account.column_changes.get(changed_column, ())),
        title_metric=title.metric,
        value_change=title.value_change,
        factor=title.factor,
        metric_changes=account.metric_changes,
    )


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

    That a column is empty explains what else it breaks. A distance that needs an explanation says less than other
    metrics, and a coarse limit less than a range.
    """

    def rank(judgement: Judgement) -> tuple[bool, bool, bool, float, str, float]:
        rate, metric = judgement.expectation.false_alarm, judgement.expectation.metric
        is_empty = metric.name == _COMPLETENESS and judgement.value == 0.0
        is_coarse = account.notes.get(str(metric), "").startswith(COARSE_NOTE)
        return (
            not is_empty,
            not is_telling(judgement, account.metric_changes),
            is_coarse,
            rate or 0.0,
            str(metric),
            -_distance_outside(judgement),
        )

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


def _absorb_rows(causes: list[Cause]) -> list[Cause]:
    """Join the row count to the column of which a frequent value is missing, if about as many rows are missing."""
    volume = next((cause for cause in causes if cause.kind is CauseKind.VOLUME), None)
    column = None if volume is None else next((cause for cause in causes if _explains_rows(cause)), None)
    if volume is None or column is None:
        return causes
    joined = msgspec.structs.replace(
        column, title=f"{column.title}; {volume.title}", judgements=column.judgements + volume.judgements
    )
    return [joined if cause is column else cause for cause in causes if cause is not volume]


def _explains_rows(cause: Cause) -> bool:
    """Whether the batch has as many rows as are left without the values that are missing."""
    rows, values = cause.metric_changes.get(str(_SIZE)), cause.value_change
    if rows is None or not rows.centre or values is None or values.kind is not ValueChangeKind.MISSING:
        return False
    left = rows.value / (rows.centre * (1 - values.before)) if values.before < 1 else 0.0
    return 1 / _LEFT_MARGIN <= left <= _LEFT_MARGIN


def _join_alike(causes: list[Cause], account: Account) -> list[Cause]:
    """Join columns that broke in the same way: by the same factor, or by the same metric, to the same value."""
    groups: list[list[Cause]] = []
    for cause in sorted(causes, key=_cause_rank):  # the strongest of a group comes first
        group = next((each for each in groups if _are_alike(each[0], cause)), None)
        if group is None:
            groups.append([cause])
        else:
            group.append(cause)
    return [_merge_causes(group, account) if len(group) > 1 else group[0] for group in groups]


def _are_alike(first: Cause, second: Cause) -> bool:
    if any(each.kind is not CauseKind.COLUMN or each.value_change is not None for each in (first, second)):
        return False
    if first.factor is not None and second.factor is not None:
        return factors_agree(first.factor, second.factor)
    one, other = first.lead, second.lead
    return (
        one.expectation.metric.name == other.expectation.metric.name
        and one.value is not None
        and other.value is not None
        and f"{one.value:.{_EQUAL_DIGITS}g}" == f"{other.value:.{_EQUAL_DIGITS}g}"
    )


def _merge_causes(group: Sequence[Cause], account: Account) -> Cause:
    """One cause for several columns. It speaks of the strongest, and names the column that a sentence is about."""
    strongest = group[0]
    column = strongest.columns[0]
    columns = tuple(dict.fromkeys(column for each in group for column in each.columns))
    leads = [each.lead for each in group]
    others = _rank_judgements((each for cause in group for each in cause.judgements[1:]), account)
    title = f"{list_names(columns)} broke alike: {strongest.title}"
    if strongest.factor is not None:
        words = describe_factor(strongest.factor)
        title = (
            f"{list_names(columns)} are {words}; {strongest.title.replace(f'{column} is {words}:', f'{column}:', 1)}"
        )
    return msgspec.structs.replace(
        strongest,
        title=title,
        columns=columns,
        judgements=(*leads, *others),
        found=tuple(f"{column}: {each}" for each in strongest.found),
    )


def _compare_with_held(cause: Cause, held: HeldSequence) -> Cause:
    """The cause with the held batches before it that have the same one, and with a title that says so."""
    levels = [each for each in held.levels if _shows_level(cause, MetricKey.parse(each.metric))]
    if not levels:
        return cause
    count = len(levels[0].values)
    told = msgspec.structs.replace(
        cause,
        title=f"{cause.title}, {describe_duration(count, held.step)}",
        held_before=held.partitions[1 - count :],
    )
    shown = sorted(filter(is_level, levels), key=rank_level)
    is_single = cause.kind is CauseKind.COLUMN and len(cause.columns) == 1
    if shown and (is_single or cause.kind in (CauseKind.VOLUME, CauseKind.WHOLE)):
        title, metric = write_level_title(shown[0], held.step), shown[0].metric
        return msgspec.structs.replace(told, title=title, title_metric=metric, value_change=None)
    return told


def _shows_level(cause: Cause, key: MetricKey) -> bool:
    """Whether a metric is one that a cause is seen by: one that failed and was learned, or the mean of its column."""
    learned = (each.expectation for each in cause.judgements if each.expectation.source is not Source.DECLARED)
    if any(expectation.metric == key for expectation in learned):
        return True
    return key == _SIZE if cause.kind is CauseKind.VOLUME else key.name == "mean" and key.columns == cause.columns[:1]


def _cause_rank(cause: Cause) -> tuple[int, float, int]:
    return cause.kind, cause.false_alarm or 0.0, -len(cause.judgements)
