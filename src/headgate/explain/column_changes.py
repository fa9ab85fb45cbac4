"""How a column that broke an expectation looks now beside the runs before, in the words of people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from headgate.display.numbers import shown, shown_moment
from headgate.explain.wording import share
from headgate.learn.history.forecast import forecast
from headgate.learn.learned import Lesson
from headgate.learn.metric_traits import Measure, Scale
from headgate.learn.past import Past, numbers
from headgate.values.key import MetricKey
from headgate.values.outcome import Outcome

MOST = 3
_TELLING = 4.0  # how surprising a metric must be to be told
_FAR = 10.0  # beyond this, how far a metric went says nothing of how telling it is
_FEWER = 6.0  # how surprising the number of rows must be for it to be the cause of what changed with it


def _empty(value: float) -> str:
    return share(max(0.0, 1 - value))


# How each metric is said, `{}` for its value; of two that moved equally far the first tells a person more.
_WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "size": ("{} rows", shown),
    "completeness": ("{} empty", _empty),
    "mean": ("mean {}", shown),
    "median": ("median {}", shown),
    "new_values": ("{} values never seen before", share),
    "new_patterns": ("{} written in a new way", share),
    "approx_count_distinct": ("{} different values", lambda value: shown(round(value))),
    "unique_ratio": ("{} unique", share),
    "most_frequent_ratio": ("{} one and the same value", share),
    "min": ("least {}", shown),
    "max": ("largest {}", shown),
    "stddev": ("deviation {}", shown),
    "str_len": ("mean length {}", shown),
    "min_length": ("shortest text {}", shown),
    "max_length": ("longest text {}", shown),
    "digit_len": ("digits in a value {}", shown),
    "punc_len": ("punctuation in a value {}", shown),
}
_SHARES = (share, _empty)
_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))
_PLAINNESS = {name: at for at, name in enumerate(_WORDS)}


@dataclass(frozen=True)
class Findings:
    """The telling metrics of some columns ("" for the table) with their ranges in the past; `short` if rows are why.

    `blamed` are the metrics that make the batch as a whole unlike the runs before it, each with its share.
    """

    told: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    short: bool = False
    blamed: tuple[tuple[str, float], ...] = ()


def traced(lesson: Lesson, outcomes: Mapping[MetricKey, Outcome], broken: Iterable[MetricKey]) -> Findings:
    """What a person is shown of a batch that broke expectations about these metrics."""
    blamed = lesson.blamed(outcomes)
    keys = [*broken, *(MetricKey.parse(metric) for metric, _ in blamed)]
    found = findings_of(lesson.past, outcomes, {key.columns[0] for key in keys if key.columns})
    return replace(found, blamed=blamed)


def findings_of(past: Past | None, outcomes: Mapping[MetricKey, Outcome], columns: Iterable[str]) -> Findings:
    """Of these columns and of the rows, what moved the most, each with what it was in the runs before."""
    if past is None or len(past) < 2:
        return Findings()
    values = numbers(outcomes)
    now = np.array([values.get(each.key, np.nan) for each in past.measures])
    surprise = forecast(past.values, past.measures).surprise(now)
    wanted = {*columns, ""}
    ranked = sorted(
        (at for at, each in enumerate(past.measures) if each.column in wanted and named(each)),
        key=lambda at: telling(past.measures[at], float(np.nan_to_num(surprise[at]))),
    )
    found: dict[str, list[str]] = {}
    short = False
    for at in ranked:
        measure = past.measures[at]
        if not surprise[at] > _TELLING:
            break
        short |= measure.key.name == "size" and bool(surprise[at] > _FEWER)
        told = found.setdefault(measure.column, [])
        if len(told) < MOST:
            told.append(_told(measure, float(now[at]), past.values[:, at]))
    return Findings({column: tuple(told) for column, told in found.items()}, short)


def telling(measure: Measure, surprise: float) -> tuple[float, int]:
    """Sorts metrics: those that moved the farthest first, of equal ones that which tells a person more."""
    return -min(_FAR, surprise), _PLAINNESS.get(measure.key.name, len(_PLAINNESS))


def named(measure: Measure) -> str | None:
    """What people call a metric; None where it has no plainer name than its own.

    >>> from headgate.learn.metric_traits import measure_of
    >>> named(measure_of(MetricKey("stddev", ("price",))))
    'deviation'
    """
    word = _WORDS.get(measure.key.name) if measure.plain else None
    return None if word is None else word[0].replace("{}", "").strip()


def spoken(measure: Measure, value: float) -> str:
    """A value of a metric as people say it.

    >>> from headgate.learn.metric_traits import measure_of
    >>> spoken(measure_of(MetricKey("completeness", ("price",))), 0.875)
    '12.5%'
    """
    if measure.moment:
        return shown_moment(value)
    if measure.scale is Scale.MOMENT:
        return shown_span(value)
    word = _WORDS.get(measure.key.name)
    value = value if word and word[1] in _SHARES else rounded(value, 4)
    return word[1](value) if word else share(value) if measure.share else shown(value)


def shown_span(seconds: float) -> str:
    """A span of time in the largest unit of which there are at least two.

    >>> shown_span(691_200), shown_span(5_400), shown_span(90), shown_span(0)
    ('8 days', '90 minutes', '90 seconds', '0 seconds')
    """
    unit, word = next(((each, word) for each, word in _UNITS if abs(seconds) >= 2 * each), (1, "seconds"))
    return f"{shown(rounded(seconds / unit, 3))} {word}"


def rounded(value: float, digits: int) -> float:
    """A number of so many digits; one that is whole, or none at all, as it is.

    >>> rounded(1234.5678, 5), rounded(1234567.0, 2), rounded(float("inf"), 2)
    (1234.6, 1234567.0, inf)
    """
    return value if not math.isfinite(value) or value == round(value) else float(f"{value:.{digits}g}")


def _told(measure: Measure, value: float, series: npt.NDArray[np.float64]) -> str:
    there = series[np.isfinite(series)]
    ends = [spoken(measure, float(there.min())), spoken(measure, float(there.max()))]
    if measure.key.name == "completeness":  # the fullest run is the least empty one
        ends.reverse()
    now = _WORDS[measure.key.name][0].format(spoken(measure, value))
    return f"{now} ({' to '.join(dict.fromkeys(ends))} in {len(there)} runs)"
