"""How a column that broke an expectation looks now beside the runs before, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from headgate.explain.metric_names import format_value, metric_label, tells_missing
from headgate.learn.history.forecast import forecast_past
from headgate.learn.learned import Learned
from headgate.learn.metric_traits import MetricTraits
from headgate.learn.past import Past, numeric_values
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome

MAX_SENTENCES = 3
_MIN_SURPRISE = 4.0  # metrics that moved less are not reported
_MAX_SURPRISE = 10.0  # beyond this, the distance says nothing more about how important a metric is
_FEWER_ROWS_SURPRISE = 6.0  # how surprising the number of rows must be for it to be the cause of what changed with it


@dataclass(frozen=True)
class ColumnChanges:
    """What moved in some columns ("" for the table), in sentences; `fewer_rows` if the number of rows is the cause.

    `contributions` are the metrics that make the batch as a whole unlike the runs before it, each with its share.
    """

    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fewer_rows: bool = False
    contributions: tuple[tuple[str, float], ...] = ()


def changes_behind(
    learned: Learned, outcomes: Mapping[MetricKey, Outcome], broken: Iterable[MetricKey]
) -> ColumnChanges:
    """What changed in the columns of a batch that broke expectations about these metrics."""
    contributions = learned.largest_contributions(outcomes)
    keys = [*broken, *(MetricKey.parse(metric) for metric, _ in contributions)]
    changes = find_column_changes(learned.past, outcomes, {key.columns[0] for key in keys if key.columns})
    return replace(changes, contributions=contributions)


def find_column_changes(
    past: Past | None, outcomes: Mapping[MetricKey, Outcome], columns: Iterable[str]
) -> ColumnChanges:
    """What moved the most in these columns and in the number of rows, each with its range in the runs before."""
    if past is None or len(past) < 2:
        return ColumnChanges()
    values = numeric_values(outcomes)
    now = np.array([values.get(traits.key, np.nan) for traits in past.metrics])
    surprise = forecast_past(past).surprise(now)
    wanted = {*columns, ""}
    ranked = sorted(
        (at for at, traits in enumerate(past.metrics) if traits.column in wanted and metric_label(traits)),
        key=lambda at: by_surprise(past.metrics[at], float(np.nan_to_num(surprise[at]))),
    )
    sentences: dict[str, list[str]] = {}
    fewer_rows = False
    for at in ranked:
        traits = past.metrics[at]
        if not surprise[at] > _MIN_SURPRISE:
            break
        fewer_rows |= traits.key.name == "size" and bool(surprise[at] > _FEWER_ROWS_SURPRISE)
        of_column = sentences.setdefault(traits.column, [])
        if len(of_column) < MAX_SENTENCES:
            runs = "by the times of {} runs" if traits.key in past.shifted else "in {} runs"
            of_column.append(_describe_change(traits, float(now[at]), past.values[:, at], runs))
    return ColumnChanges({column: tuple(of_column) for column, of_column in sentences.items()}, fewer_rows)


def by_surprise(traits: MetricTraits, surprise: float) -> tuple[float, int]:
    """Sorts metrics: those that moved the farthest first, of equal ones the one that people know best."""
    return -min(_MAX_SURPRISE, surprise), traits.label.rank


def _describe_change(traits: MetricTraits, value: float, series: npt.NDArray[np.float64], runs: str) -> str:
    known = series[np.isfinite(series)]
    ends = [format_value(traits, float(known.min())), format_value(traits, float(known.max()))]
    if tells_missing(traits):
        ends.reverse()
    now = traits.label.phrase.format(format_value(traits, value))
    return f"{now} ({' to '.join(dict.fromkeys(ends))} {runs.format(len(known))})"
