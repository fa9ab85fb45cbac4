"""The plots of the page of performance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

WAYS = {
    "scan": "Spark's plain scan",
    "files read by tasks": "files read by tasks",
    "rows from Spark": "rows from Spark",
}
_COLOURS = ["#868e96", "#0b7285", "#e8590c"]


def draw_growth(engine: dict[str, Any], prefix: str, axis: str, title: str, file: Path) -> bool:
    """CPU seconds of each way against the rows or columns of the tables with this in their names; False if none."""
    import altair as alt

    points = [
        {axis: each[axis], "way": words, "seconds": each["medians"][way]["cpu"]}
        for name, each in engine.items()
        if name.startswith(prefix)
        for way, words in WAYS.items()
    ]
    if not points:
        return False
    chart = (
        alt.Chart(alt.Data(values=points), title=title)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{axis}:Q", title=axis, axis=alt.Axis(format="~s", tickCount=6)),
            y=alt.Y("seconds:Q", title="CPU seconds"),
            color=alt.Color("way:N", title=None, scale=alt.Scale(domain=list(WAYS.values()), range=_COLOURS)),
        )
        .properties(width=440, height=230)
    )
    chart.save(str(file))
    return True


def draw_peers(ratios: Rows, file: Path) -> None:
    """How many times the CPU seconds of Headgate each other system takes, by workload."""
    import altair as alt

    scale = alt.Scale(type="log", domainMin=0.5)
    x = alt.X("ratio:Q", title="times the CPU seconds of Headgate, warm", scale=scale)
    dots = (
        alt.Chart(alt.Data(values=ratios), title="Other systems beside Headgate")
        .mark_point(filled=True, size=60, opacity=0.9)
        .encode(
            x=x,
            y=alt.Y("cell:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("system:N", title=None),
            shape=alt.Shape("system:N", title=None),
        )
    )
    even = alt.Chart(alt.Data(values=[{"ratio": 1}])).mark_rule(strokeDash=[3, 3]).encode(x=x)
    alt.layer(even, dots).properties(width=440).save(str(file))
