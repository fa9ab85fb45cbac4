"""The pictures of the page, as SVG: curves of columns, stated against realised rates, and recall by issue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
BEST = 3  # baselines in a picture of curves
_TENS = alt.Axis(values=[10.0**power for power in range(-6, 1)], format="~g")
_COLOURS = ["#0b7285", "#e8590c", "#868e96", "#9c36b5", "#2f9e44"]


def best_baselines(methods: dict[str, Any], count: int = BEST) -> list[str]:
    """The baselines with most recall at precision 0.95, then by the best point of their curve."""
    others = {name: told for name, told in methods.items() if "budgets" not in told}
    return sorted(others, key=lambda name: _worth(others[name]), reverse=True)[:count]


def _worth(told: dict[str, Any]) -> tuple[float, float]:
    at = told["at"]["0.95"]
    return at["recall"] if at else 0.0, max((2 * p["precision"] * p["recall"] for p in told["curve"]), default=0.0)


def draw_curves(column: dict[str, Any], group: str) -> None:
    """Precision against recall, of all feeds."""
    methods = column["all"][group]
    names = ["headgate", "paper", *best_baselines(methods)]
    points = [
        {"method": name, "precision": each["precision"], "recall": each["recall"], "order": at}
        for name in names
        for at, each in enumerate(methods[name]["curve"])
        if each["recall"] > 0
    ]
    chart = (
        alt.Chart(alt.Data(values=points), title=f"Precision and recall, {group} columns")
        .mark_line(point=True, clip=True)
        .encode(
            x=alt.X("recall:Q", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("precision:Q", scale=alt.Scale(domain=[0.5, 1])),
            color=_coloured(names),
            order="order:Q",
        )
    )
    _save(chart, f"history-{group}")


def draw_rates(table: dict[str, Any]) -> None:
    """The share of clean runs held at each stated budget for a table, log against log, with the line of equality."""
    names = ["headgate", "paper, by table"]
    points = [
        {"form": name, "stated": each["budget"], "share": each["clean"]["share"]}
        | dict(zip(("low", "high"), each["clean"]["by_feeds"], strict=True))
        for name in names
        for each in table["forms"][name]
        if each["clean"]["share"]
    ]
    low, high = min(each["stated"] for each in points), max(each["stated"] for each in points)
    floor = min(low, *(each["share"] for each in points)) / 2
    base = alt.Chart(alt.Data(values=[{**each, "low": max(each["low"], floor)} for each in points]))
    x = alt.X("stated:Q", scale=_log(low / 2, high * 2), axis=_TENS, title="stated budget")
    y = alt.Y("share:Q", scale=_log(floor, 1), axis=_TENS, title="share of clean runs held")
    ends = alt.Data(values=[{"at": low}, {"at": min(high, 1.0)}])
    diagonal = alt.Chart(ends).mark_line(strokeDash=[5, 4], color="#495057").encode(x="at:Q", y="at:Q")
    lines = base.mark_line(point=True, clip=True).encode(x=x, y=y, color=_coloured(names, "form"))
    reach = base.mark_rule(clip=True, opacity=0.5).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", color=_coloured(names, "form")
    )
    _save(
        (lines + reach + diagonal).properties(title="Stated and realised: runs not listed as incidents"),
        "history-rates",
    )


def draw_issues(column: dict[str, Any]) -> None:
    """Recall of each type of issue at precision 0.98, ours and the paper's form, both groups of columns."""
    names = ["headgate", "paper"]
    bars = [
        {"group": group, "method": name, "issue": issue, "recall": found}
        for group, methods in column["all"].items()
        for name in names
        for issue, found in methods[name]["issues"].items()
    ]
    chart = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            y=alt.Y("issue:N", title=None),
            yOffset=alt.YOffset("method:N", sort=names),
            x=alt.X("recall:Q", scale=alt.Scale(domain=[0, 1])),
            color=_coloured(names),
        )
        .properties(width=250, height=alt.Step(9))
        .facet(column=alt.Column("group:N", title=None), title="Recall by issue at precision 0.98")
        .resolve_scale(y="independent")
    )
    _save(chart, "history-issues", size=False)


def _log(low: float, high: float) -> alt.Scale:
    return alt.Scale(type="log", domain=[low, high], nice=False)


def _coloured(names: Sequence[str], field: str = "method") -> alt.Color:
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=list(names), range=_COLOURS[: len(names)]))


def _save(chart: Any, name: str, size: bool = True) -> None:
    PICTURES.mkdir(exist_ok=True)
    shaped = chart.properties(width=520, height=300) if size else chart
    shaped.properties(background="white").save(str(PICTURES / f"{name}.svg"))
