"""The hours of the last days as a picture: a row for each day, and a box for the worst outcome of each hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from markupsafe import Markup

from headgate.report.run_series import MARK_WORDS, RunMark
from headgate.values.period import read_period
from headgate.values.run import Revision

_HOURS = 24
_BOX, _STEP, _LEFT, _TOP = 18, 21, 86, 18
_WORST = (RunMark.HELD, RunMark.OPEN, RunMark.GOOD)

Hour = tuple[str, int]


def count_hours(revisions: Iterable[Revision]) -> dict[Hour, Counter[RunMark]]:
    """How many runs of each outcome there are, by day and hour. Runs whose partitions tell no time are left out."""
    hours: dict[Hour, Counter[RunMark]] = {}
    for revision in revisions:
        period = read_period(revision.partition)
        if period is not None:
            key = (period.start.strftime("%Y-%m-%d"), period.start.hour)
            hours.setdefault(key, Counter())[RunMark.of(revision)] += 1
    return hours


def draw_hours(revisions: Iterable[Revision]) -> Markup:
    """The picture; empty if there are no runs."""
    hours = count_hours(revisions)
    days = sorted({day for day, _ in hours}, reverse=True)
    if not days:
        return Markup("")
    width, height = _LEFT + _HOURS * _STEP, _TOP + len(days) * _STEP
    head = Markup(
        '<svg class="hours" role="img" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-label="{label}">'
    ).format(w=width, h=height, label=_describe(hours))
    ticks = [Markup('<text x="{}" y="11">{}</text>').format(_LEFT + hour * _STEP, hour) for hour in range(0, _HOURS, 3)]
    rows = [part for at, day in enumerate(days) for part in _draw_day(day, _TOP + at * _STEP, hours)]
    return head + Markup("").join([*ticks, *rows, Markup("</svg>")])


def _draw_day(day: str, y: int, hours: dict[Hour, Counter[RunMark]]) -> list[Markup]:
    boxes = [Markup('<text x="0" y="{}">{}</text>').format(y + 13, day)]
    for hour in range(_HOURS):
        counts = hours.get((day, hour), Counter())
        worst = next((mark for mark in _WORST if counts[mark]), None)
        boxes.append(
            Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="2"><title>{}</title></rect>').format(
                "none" if worst is None else worst.value,
                _LEFT + hour * _STEP,
                y,
                _BOX,
                _BOX,
                f"{day} {hour:02}:00: {_describe_counts(counts)}",
            )
        )
    return boxes


def _describe_counts(counts: Counter[RunMark]) -> str:
    """How many runs of an hour there are, and how many were not good."""
    if not counts:
        return "no run"
    bad = [f"{counts[mark]} {MARK_WORDS[mark]}" for mark in _WORST[:-1] if counts[mark]]
    return ", ".join([f"{counts.total()} {'run' if counts.total() == 1 else 'runs'}", *bad])


def _describe(hours: dict[Hour, Counter[RunMark]]) -> str:
    bad = sum(any(counts[mark] for mark in _WORST[:-1]) for counts in hours.values())
    return f"{bad} of {len(hours)} hours have a run that was not good"
