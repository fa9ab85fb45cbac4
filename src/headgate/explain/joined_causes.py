"""Joins causes that are the same thing: a column and its check, rows and a missing value, columns that broke alike.

Tested by `tests/explain/test_causes.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from headgate.explain.cause import Cause, rank_cause, rank_judgements
from headgate.explain.change_wording import describe_factor, factors_agree
from headgate.explain.wording import CauseKind, list_names
from headgate.values.account import Account, ValueChangeKind
from headgate.values.key import MetricKey

_SIZE = MetricKey("size")
_NOTABLE_SHARE = 0.05  # of the novelty of a batch: columns with less are not named beside the first
_LEFT_MARGIN = 1.2  # how far, as a factor, the row count is from what a missing value leaves, if that explains it
_EQUAL_DIGITS = 3  # to so many digits the values of two columns agree if they broke together


def join_causes(causes: list[Cause], account: Account) -> list[Cause]:
    """The causes, those that are the same thing joined."""
    causes = _place_novelty(causes, account.contributions)
    return _join_alike(_absorb_rows(_absorb_learned(causes)), account)


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
    for cause in sorted(causes, key=rank_cause):  # the first check on a column takes what was learned of it
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
    for cause in sorted(causes, key=rank_cause):  # the strongest of a group comes first
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
    others = rank_judgements((each for cause in group for each in cause.judgements[1:]), account)
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
