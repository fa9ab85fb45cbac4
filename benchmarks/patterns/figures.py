"""The pictures of the page, as SVG: parameters, the size of the corpus, what an index holds, what it costs to build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np

Rows = Sequence[dict[str, Any]]
METHODS = {"headgate": "Headgate", "fmdv-vh": "FMDV-VH", "fmdv-h": "FMDV-H", "fmdv-v": "FMDV-V", "fmdv": "FMDV"}
PARAMETERS = {"limit": "limit r", "coverage": "coverage m", "tau": "tokens τ", "tolerance": "tolerance θ"}
MEASURES = ("precision", "recall")
_EVEN = alt.Axis(format=".2f", minExtent=28, tickCount=5)  # so that pictures of two rows stand below each other
_COLOURS = ["#0b7285", "#e8590c", "#9c36b5", "#2f9e44", "#868e96"]


class Line(NamedTuple):
    """Recall as a straight line in the binary logarithm of the columns of the corpus."""

    slope: float
    start: float

    @classmethod
    def through(cls, columns: Sequence[int], recalls: Sequence[float]) -> Line:
        """The line of least squares.

        >>> line = Line.through([1024, 2048, 4096], [0.5, 0.6, 0.7])
        >>> round(line.slope, 3), round(line.at(8192), 3), line.at(10**9)
        (0.1, 0.8, 1.0)
        """
        slope, start = np.polyfit(np.log2(columns), recalls, 1)
        return cls(float(slope), float(start))

    def at(self, columns: float) -> float:
        """The recall of a corpus of so many columns, at most 1."""
        return min(1.0, self.start + self.slope * float(np.log2(columns)))


def draw_sensitivity(rows: Rows, folder: Path, group: str) -> None:
    """Small multiples: a column of pictures for each parameter, above precision and below recall."""
    names = _named(rows)
    pictures = alt.vconcat(
        *(
            alt.hconcat(*(_multiple(rows, parameter, measure, group, names) for parameter in _parameters(rows)))
            for measure in MEASURES
        ),
        title=f"Precision and recall of {group} columns as one parameter moves",
    )
    _save(pictures, folder / "patterns-sensitivity.svg")


def _multiple(rows: Rows, parameter: str, measure: str, group: str, names: Sequence[str]) -> Any:
    points = [
        {"method": METHODS[each["method"]], "value": each["value"], measure: each[group][measure]}
        for each in rows
        if each["parameter"] == parameter
    ]
    return (
        alt.Chart(_data(points))
        .mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.5)
        .encode(
            x=alt.X("value:O", title=PARAMETERS[parameter], axis=alt.Axis(labelAngle=-45)),
            y=alt.Y(f"{measure}:Q", scale=alt.Scale(domain=_reach(rows, measure, group)), axis=_EVEN),
            color=_coloured(names),
        )
        .properties(width=150, height=120)
    )


def _reach(rows: Rows, measure: str, group: str) -> list[float]:
    """From the tenth below the least to 1, the same for all pictures of a row."""
    least = min(each[group][measure] for each in rows)
    return [max(0.0, float(np.floor(10 * least) / 10)), 1.0]


def _parameters(rows: Rows) -> list[str]:
    return [name for name in PARAMETERS if any(each["parameter"] == name for each in rows)]


def draw_sizes(rows: Rows, lines: dict[str, Line], ahead: Sequence[int], folder: Path, group: str) -> None:
    """Precision and recall against the columns of the corpus, and the lines of recall as far as they are drawn on."""
    names = _named(rows)
    points = [
        {
            "method": METHODS[each["method"]],
            "columns": each["columns"],
            "measure": measure,
            "value": each[group][measure],
        }
        for each in rows
        for measure in MEASURES
    ]
    last = max(each["columns"] for each in rows)
    ends = [
        {"method": METHODS[name], "columns": columns, "value": line.at(columns)}
        for name, line in lines.items()
        for columns in np.geomspace(last, max(ahead), 40).tolist()
    ]
    ticks = alt.Axis(values=[*sorted({each["columns"] for each in rows}), *ahead], format=".3~s", labelOverlap="greedy")
    x = alt.X("columns:Q", title="columns of the corpus", scale=alt.Scale(type="log", nice=False), axis=ticks)
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=False))
    seen = alt.Chart(_data(points)).mark_line(point=True)
    dashed = alt.Scale(domain=["recall", "precision"], range=[[1, 0], [6, 3]])
    dashes = alt.StrokeDash("measure:N", scale=dashed, legend=None)
    ahead_of = alt.Chart(_data(ends)).mark_line(strokeDash=[2, 3], opacity=0.6)
    chart = alt.layer(
        seen.encode(x=x, y=y, color=_coloured(names), strokeDash=dashes),
        ahead_of.encode(x=x, y=y, color=_coloured(names)),
        title=f"{group.capitalize()} columns: recall (solid; dotted: its line, drawn on) and precision (dashed)",
    )
    _save(chart.properties(width=520, height=260), folder / "patterns-sizes.svg")


def draw_tokens(by_tokens: dict[str, int], folder: Path) -> None:
    """How many patterns have so many tokens."""
    bars = [{"tokens": int(tokens), "patterns": count} for tokens, count in by_tokens.items()]
    chart = (
        alt.Chart(_data(bars), title="Patterns by tokens")
        .mark_bar(color=_COLOURS[0])
        .encode(
            x=alt.X("tokens:O", title="tokens of the pattern", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("patterns:Q", axis=alt.Axis(format="~s")),
        )
    )
    _save(chart.properties(width=360, height=200), folder / "patterns-tokens.svg")


def draw_columns(by_columns: dict[str, int], folder: Path) -> None:
    """How many patterns are in at least so many columns, log against log."""
    points = [{"columns": int(least), "patterns": count} for least, count in by_columns.items()]
    chart = (
        alt.Chart(_data(points), title="Patterns by columns")
        .mark_line(point=True, color=_COLOURS[0])
        .encode(
            x=alt.X(
                "columns:Q",
                title="in at least so many columns",
                scale=alt.Scale(type="log"),
                axis=_tens(points, "columns"),
            ),
            y=alt.Y("patterns:Q", scale=alt.Scale(type="log"), axis=_tens(points, "patterns")),
        )
    )
    _save(chart.properties(width=360, height=200), folder / "patterns-columns.svg")


def _tens(points: Rows, name: str) -> alt.Axis:
    most = max(each[name] for each in points)
    return alt.Axis(values=[10**power for power in range(len(str(most)))], format="~s")


def draw_building(ways: dict[str, Any], folder: Path) -> None:
    """CPU seconds to the index file against columns, with the lines through them."""
    points = [
        {"method": way, "columns": columns, "seconds": seconds}
        for way, told in ways.items()
        for columns, seconds in zip(told["columns"], told["median_cpu_seconds"], strict=True)
    ]
    ends = [
        {"method": way, "columns": at, "seconds": told["cpu_seconds_start"] + told["cpu_seconds_a_column"] * at}
        for way, told in ways.items()
        for at in (told["columns"][0], told["columns"][-1])
    ]
    x, y = alt.X("columns:Q", title="columns of the lake"), alt.Y("seconds:Q", title="CPU seconds to the index file")
    colour = _coloured(list(ways))
    lines = alt.Chart(_data(ends)).mark_line(opacity=0.5).encode(x=x, y=y, color=colour)
    dots = alt.Chart(_data(points)).mark_point(filled=True, size=50, opacity=1).encode(x=x, y=y, color=colour)
    chart = alt.layer(lines, dots, title="Building an index")
    _save(chart.properties(width=440, height=220), folder / "patterns-building.svg")


def _named(rows: Rows) -> list[str]:
    held = {each["method"] for each in rows}
    return [shown for name, shown in METHODS.items() if name in held]


def _coloured(names: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=_COLOURS[: len(names)])
    return alt.Color("method:N", title=None, scale=scale)


def _data(rows: Rows) -> Any:
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def _save(chart: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.properties(background="white").save(str(path))
