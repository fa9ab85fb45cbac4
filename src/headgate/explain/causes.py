"""Groups failed expectations into the few causes behind them, ranks the causes, and gives each a title."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from headgate.explain.cause import Cause, rank_cause, rank_judgements
from headgate.explain.diagnosed_causes import name_faults
from headgate.explain.joined_causes import join_causes
from headgate.explain.level_wording import describe_duration, is_level, rank_level, write_level_title
from headgate.explain.value_changes import describe_value_change
from headgate.explain.wording import CauseKind, write_title
from headgate.learn.copies import COPIES
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.metric_traits import is_distance, is_known, traits_of
from headgate.values.account import Account, HeldSequence, MetricChange
from headgate.values.expectation import Expectation, Judgement, Level, Source, Status
from headgate.values.key import MetricKey

MAX_CAUSES = 3
"""Causes that a verdict shows; the others are counted."""

_SIZE = MetricKey("size")
_FIRST_NAME = re.compile(r"[a-z_]+\(((?:[^\s,()\[\]\"'`]|\[\]|\(\))+)[,)]")  # the first name in the text of a rule
_ROWS_MARGIN = 1.5  # how much farther than the row count, as a factor, a metric moves that the row count explains


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
    causes = join_causes(causes, account)
    if level is Level.ERROR:
        causes = [_compare_with_held(cause, account.held) for cause in name_faults(causes, account.diagnoses)]
    return tuple(sorted(causes, key=rank_cause))


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
    ranked = rank_judgements(judgements, account)
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
