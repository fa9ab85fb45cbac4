"""How a column that broke an expectation looks now beside the runs before, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.explain.change_wording import TYPICAL, describe_change
from headgate.explain.metric_names import metric_label
from headgate.explain.value_changes import find_value_changes
from headgate.learn.history.forecast import forecast_past
from headgate.learn.learned import Learned
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past, numeric_values
from headgate.values.account import Account, MetricChange, ValueChange
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome
from headgate.values.schema import Kind
from headgate.values.state import State

MAX_SENTENCES = 3
_SIZE = MetricKey("size")
_MIN_SURPRISE = 4.0  # metrics that moved less are not reported
_MAX_SURPRISE = 10.0  # beyond this, the distance says nothing more about how important a metric is
_FEWER_ROWS_SURPRISE = 6.0  # how surprising the number of rows must be for it to be the cause of what changed with it


@dataclass(frozen=True)
class ColumnChanges:
    """What moved in some columns ("" for the table), in sentences; `fewer_rows` if the number of rows is the cause.

    `contributions` are the metrics that make the batch as a whole unlike the runs before it, each with its share.
    `metric_changes` are the metrics of the sentences, those that failed and those of typical values; `value_changes`
    are the frequent values that changed, by column.
    """

    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fewer_rows: bool = False
    contributions: tuple[tuple[str, float], ...] = ()
    metric_changes: Mapping[str, MetricChange] = field(default_factory=dict)
    value_changes: Mapping[str, tuple[ValueChange, ...]] = field(default_factory=dict)

    def add_to(self, account: Account) -> Account:
        """The account with these changes."""
        return msgspec.structs.replace(
            account,
            column_changes=dict(self.sentences),
            fewer_rows=self.fewer_rows,
            contributions=self.contributions,
            metric_changes=dict(self.metric_changes),
            value_changes=dict(self.value_changes),
        )


def changes_behind(
    learned: Learned,
    outcomes: Mapping[MetricKey, Outcome],
    states: Mapping[MetricKey, State],
    broken: Iterable[MetricKey],
) -> ColumnChanges:
    """What changed in the columns of a batch that broke expectations about these metrics.

    Args:
        learned: What the batch was judged by.
        outcomes: What was measured of it.
        states: Its states.
        broken: The metrics that failed.
    """
    contributions = learned.largest_contributions(outcomes)
    failed = list(broken)
    keys = [*failed, *(MetricKey.parse(metric) for metric, _ in contributions)]
    columns = {key.columns[0] for key in keys if key.columns}
    changes = find_column_changes(learned.past, outcomes, columns, failed)
    values = find_value_changes(learned.past, states, {key.columns[0] for key in failed if key.columns})
    return replace(changes, contributions=contributions, value_changes=values)


def find_column_changes(
    past: Past | None,
    outcomes: Mapping[MetricKey, Outcome],
    columns: Iterable[str],
    broken: Iterable[MetricKey] = (),
) -> ColumnChanges:
    """What moved the most in these columns and in the number of rows, each with its range in the runs before.

    Args:
        past: The accepted runs.
        outcomes: What was measured of the batch.
        columns: The columns to look at.
        broken: The metrics that failed: their changes are recorded, however far they moved.
    """
    if past is None or len(past) < 2:
        return ColumnChanges()
    values = numeric_values(outcomes)
    now = np.array([values.get(traits.key, np.nan) for traits in past.metrics])
    forecast = forecast_past(past)
    surprise = forecast.surprise(now)
    wanted = {*columns, ""}
    ranked = sorted(
        (at for at, traits in enumerate(past.metrics) if traits.column in wanted and metric_label(traits)),
        key=lambda at: by_surprise(past.metrics[at], float(np.nan_to_num(surprise[at]))),
    )
    indices: dict[str, list[int]] = {}
    for at in ranked:
        of_column = indices.setdefault(past.metrics[at].column, [])
        if surprise[at] > _MIN_SURPRISE and len(of_column) < MAX_SENTENCES:
            of_column.append(at)
    recorded = {*broken, _SIZE, *(MetricKey(name, (column,)) for column in wanted for name in TYPICAL)}
    others = (at for at, traits in enumerate(past.metrics) if traits.key in recorded)
    moved = [at for of_column in indices.values() for at in of_column]
    changes = {
        at: _make_change(past, at, float(now[at]), forecast.centre[:, at])
        for at in dict.fromkeys([*moved, *others])
        if not np.isnan(now[at]) and np.isfinite(past.values[:, at]).any()
    }
    return ColumnChanges(
        {
            column: tuple(describe_change(past.metrics[at].key, changes[at]) for at in of_column)
            for column, of_column in indices.items()
            if of_column
        },
        any(past.metrics[at].key == _SIZE and surprise[at] > _FEWER_ROWS_SURPRISE for at in indices.get("", ())),
        metric_changes={str(past.metrics[at].key): change for at, change in changes.items()},
    )


def by_surprise(traits: MetricTraits, surprise: float) -> tuple[float, int]:
    """Sorts metrics: those that moved the farthest first, of equal ones the one that people know best."""
    return -min(_MAX_SURPRISE, surprise), traits.label.rank


def _make_change(past: Past, at: int, value: float, centres: npt.NDArray[np.float64]) -> MetricChange:
    traits, series = past.metrics[at], past.values[:, at]
    known = series[np.isfinite(series)]
    return MetricChange(
        value,
        low=float(known.min()),
        high=float(known.max()),
        runs=len(known),
        centre=_choose_centre(past, at, value, centres) if np.isfinite(centres).all() else float(np.median(known)),
        kind=_find_kind(past, traits.column),
        is_shifted=traits.key in past.shifted,
    )


def _choose_centre(past: Past, at: int, value: float, centres: npt.NDArray[np.float64]) -> float:
    """The centre of the first model, which is the level; the nearer end if all between two ends is normal."""
    has_ends = past.listed_days is not None or at in past.free_ranges
    return float(centres[np.argmin(np.abs(centres - value))] if has_ends else centres[0])


def _find_kind(past: Past, column: str) -> Kind | None:
    """The kind of a column in the newest run that has it."""
    kinds = (each.kind for schema in reversed(past.schemas) for each in schema.columns if each.label == column)
    return next(kinds, None)
