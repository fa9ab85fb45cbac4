"""The pictures of the page, as SVG: methods on FBPosts, errors by magnitude, errors by month, and the gate's curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
_COLOURS = ["#0b7285", "#e8590c", "#868e96", "#9c36b5", "#2f9e44", "#c92a2a"]
_AUC = alt.Scale(domain=[0.45, 1.0])
Rows = list[dict[str, Any]]


def draw_methods(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """The AUC of every method on FBPosts, in the order of the table."""
    rows = [{"method": name, "auc": told["auc"], "kind": _kind(name)} for name, told in methods.items()]
    names = [row["method"] for row in rows]
    chart = (
        alt.Chart(alt.Data(values=rows), title="FBPosts: AUC of the labels")
        .mark_bar(clip=True)
        .encode(
            y=alt.Y("method:N", sort=names, title=None, axis=alt.Axis(labelLimit=320)),
            x=alt.X("auc:Q", scale=_AUC, title="AUC"),
            color=alt.Color("kind:N", title=None, scale=_scale(sorted({row["kind"] for row in rows}))),
        )
        .properties(width=420, height=alt.Step(16))
    )
    _save(chart, "novelty-fbposts")


def _kind(name: str) -> str:
    if name.startswith("gate"):
        return "the gate"
    return "neighbours" if "kNN" in name or "novelty" in name else "rules and tests"


def draw_magnitudes(curves: Mapping[str, Any], magnitudes: Sequence[float]) -> None:
    """A panel for each group of feeds and each method, a line for each error."""
    rows = [
        {"feed": feed, "method": method, "error": error, "magnitude": magnitude, "auc": cell["auc"]}
        for feed, methods in curves.items()
        for method, errors in methods.items()
        for error, cells in errors.items()
        for magnitude, cell in zip(magnitudes, cells, strict=True)
    ]
    _save(_panels(rows, "magnitude", column="feed", row="method"), "novelty-magnitudes")


def draw_months(months: Mapping[str, Any]) -> None:
    """A panel for each feed, a line for each error."""
    rows = [
        {"feed": feed, "error": error, "month": month, "auc": auc}
        for feed, errors in months.items()
        for error, by_month in errors.items()
        for month, auc in by_month.items()
    ]
    _save(_panels(rows, "month", column="feed"), "novelty-months")


def draw_gate(budgets: Mapping[str, Any], magnitudes: Sequence[float]) -> None:
    """A panel for each budget, a line for each error."""
    rows = [
        {"budget": f"budget {float(budget):.0%}", "error": error, "magnitude": magnitude, "auc": cell["auc"]}
        for budget, errors in budgets.items()
        for error, cells in errors.items()
        if error != "all"
        for magnitude, cell in zip(magnitudes, cells, strict=True)
    ]
    order = [f"budget {float(budget):.0%}" for budget in budgets]
    _save(_panels(rows, "magnitude", column="budget", sort=order), "novelty-gate")


def _panels(rows: Rows, x: str, column: str, row: str | None = None, sort: Sequence[str] | None = None) -> Any:
    share = x == "magnitude"
    errors = list(dict.fromkeys(each["error"] for each in rows))
    across = alt.X(f"{x}:Q", axis=alt.Axis(format="%")) if share else alt.X(f"{x}:O", title=None)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=18), clip=True)
        .encode(
            x=across,
            y=alt.Y("auc:Q", scale=_AUC, title="AUC"),
            color=alt.Color("error:N", title=None, sort=errors, scale=_scale(errors)),
        )
        .properties(width=220, height=170)
    )
    facets: dict[str, Any] = {"column": alt.Column(f"{column}:N", title=None, sort=list(sort) if sort else "ascending")}
    if row:
        facets["row"] = alt.Row(f"{row}:N", title=None)
    return chart.facet(**facets)


def _scale(names: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=_COLOURS[: len(names)])


def _save(chart: Any, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    chart.properties(background="white").save(str(PICTURES / f"{name}.svg"))
