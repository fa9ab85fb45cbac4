"""What is different in a batch from the newest accepted run, whether or not anything was expected of it."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.display.numbers import format_number
from headgate.learn.column_kinds import explain_type
from headgate.learn.past import Past
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Measured, Outcome
from headgate.values.schema import Schema

MAX_CHANGES = 12
_VOLUME = 0.1  # a change of the rows that is worth a line
_SHARE = 0.001  # of values that are new


def describe_changes(
    past: Past | None,
    schema: Schema,
    outcomes: Mapping[MetricKey, Outcome],
    scope: LearningScope = WHOLE_TABLE,
) -> tuple[str, ...]:
    """Columns, types, rows, values and patterns that changed since the newest accepted run, each in a few words.

    No value of the data is shown.

    Args:
        past: The accepted runs.
        schema: The columns of the batch.
        outcomes: What was measured of it.
        scope: The columns that are learned from; nothing is said of the others.
    """
    if past is None:
        return ()
    in_scope = {key: each for key, each in outcomes.items() if all(map(scope.learns_column, key.columns))}
    changes = [
        *_describe_columns(scope.choose_columns(past.schema), scope.choose_columns(schema), outcomes),
        *_describe_rows(past, outcomes),
        *_describe_new_values(past, in_scope),
    ]
    more = [f"and {len(changes) - MAX_CHANGES} more"] if len(changes) > MAX_CHANGES else []
    return (*changes[:MAX_CHANGES], *more)


def _describe_columns(before: Schema, now: Schema, outcomes: Mapping[MetricKey, Outcome]) -> list[str]:
    old, new = ({column.label: column for column in schema.columns} for schema in (before, now))
    changes = [
        f"new column {label} ({column.kind.value})"
        for label, column in new.items()
        if label not in old and (not column.parent or column.parent in old)
    ]
    changes += [
        f"column {label} is gone"
        for label, column in old.items()
        if label not in new and (not column.parent or column.parent in new)
    ]
    changes += [
        f"{label} is {new[label].kind.value}, was {old[label].kind.value}"
        for label in new
        if label in old
        and new[label].kind is not old[label].kind
        and not (new[label].empty or old[label].empty or explain_type(new[label], old[label].kind.value, outcomes))
    ]
    if not changes and before.labels != now.labels:
        changes.append("the columns are in another order")
    return changes


def _describe_rows(past: Past, outcomes: Mapping[MetricKey, Outcome]) -> list[str]:
    key = MetricKey("size")
    now = outcomes.get(key)
    if not isinstance(now, Measured) or not any(each.key == key for each in past.metrics):
        return []
    before, rows = float(past.series(key)[-1]), float(now.value)  # type: ignore[arg-type]
    if not before > 0 or abs(rows / before - 1) < _VOLUME:
        return []
    return [f"{format_number(rows)} rows, {format_number(before)} in {past.partitions[-1]} ({rows / before - 1:+.0%})"]


def _describe_new_values(past: Past, outcomes: Mapping[MetricKey, Outcome]) -> list[str]:
    words = {"new_values": "are values", "new_patterns": "are written in a way"}
    shares = [
        (float(outcome.value), key)
        for key, outcome in outcomes.items()
        if key.name in words
        and key.columns[0] not in past.dated
        and isinstance(outcome, Measured)
        and not isinstance(outcome.value, Distribution)
    ]
    ranked = sorted((each for each in shares if each[0] > _SHARE), key=lambda each: -each[0])
    return [f"{key.columns[0]}: {share:.1%} {words[key.name]} never seen before" for share, key in ranked]
