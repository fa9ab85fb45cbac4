"""Writes docs/history-benchmark.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.history.feeds import CHOSEN_ON
from benchmarks.history.figures import best_baselines, draw_curves, draw_issues, draw_rates
from benchmarks.history.modes import describe_modes
from benchmarks.history.page_batches import describe_held, equal_rates, forms, incidents, rate_curves, table_targets
from benchmarks.values_mode import describe_values

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "history-benchmark.md"
GROUPS = {"numeric": 0.85, "categorical": 0.90}  # the recall that is wanted at precision 0.98
Found = dict[str, Any]

HEAD = """# Programs from history: precision, recall, false holds, real incidents

Written by `python -m benchmarks.history` from `benchmarks/history/results`; do not edit.

A program is learned from the last 30 runs of a table and judges the next one ([programs.md](programs.md)). *Headgate*
is that. *Paper* is the program of Tu et al., Auto-Validate by-History (KDD 2023), as its sections 3 and 4 give it: same
metrics, same training issues, its own bounds and selection. The baselines are on the same metrics of the same columns.

What Headgate knows beforehand of how series surprise (its tails) was gathered, for each dataset that is judged, without
that dataset. Parameters were chosen on {chosen} (•). Every main figure is also given for the feeds of the other
datasets alone: *unseen*.

{values}
"""

PUBLISHED = """The paper gives curves only, on data that is not public (1,000 columns of each group). Read off its
plots (± 0.01), its program on issues made by its Appendix B has precision / recall 0.983 / 0.71 and 0.97 / 0.81 on
numeric columns, 0.985 / 0.825 and 0.97 / 0.85 on categorical ones. Other columns, and other shares of clean tests:
compare shapes, not digits.
"""


def write_page() -> None:
    """The page, of all parts that have results."""
    column, lengths, table, listed = map(_read, ("column", "lengths", "table", "incidents"))
    modes = _read("modes")
    values = {"columns": column, "shorter histories": lengths, "whole batches": table, "incidents": listed}
    chosen = ", ".join(f"`{name}`" for name in sorted(CHOSEN_ON))
    parts = [HEAD.format(chosen=chosen, values=describe_values(values, "python -m benchmarks.history --only PART"))]
    if modes:
        parts.append(describe_modes(modes) + "\n")
    parts.append(_targets(column, table, listed))
    if column or table:
        parts.append(_data(column, table))
    if column:
        parts += [_columns(column), _budgets(column), _ablations(column), _issues(column)]
    if lengths:
        parts.append(_lengths(lengths))
    if table:
        draw_rates(table)
        parts += [forms(table), equal_rates(table), rate_curves(table)]
    if listed:
        parts.append(incidents(listed))
    if table:
        parts.append(describe_held(table))
    PAGE.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _read(name: str) -> Any:
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _targets(column: Found | None, table: Found | None, listed: Found | None) -> str:
    lines = ["## Targets, and what is reached\n", "| target | reached | |", "|---|---|---|"]
    for group, wanted in GROUPS.items():
        for which in ("all", "unseen"):
            told = (column or {}).get(which, {}).get(group, {}).get("headgate")
            if told:
                lines.append(_column_target(group, which, wanted, told))
    lines += table_targets(table, listed)
    parts = {"columns": column, "whole batches": table, "incidents": listed}
    missing = [name for name, found in parts.items() if not found]
    note = f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""
    return "\n".join([*lines, note])


def _column_target(group: str, which: str, wanted: float, told: Found) -> str:
    at = told["at"]["0.98"]
    best = f"recall {at['recall']:.3f} ({_span(at['interval'])})" if at else "no budget has that precision"
    met = "met" if at and at["recall"] >= wanted else "**falls short**"
    name = "" if which == "all" else ", unseen feeds"
    return f"| {group} columns{name}: precision 0.98 with recall {wanted:.2f} | {best} | {met} |"


def _data(column: Found | None, table: Found | None) -> str:
    counted: Found = table["feeds"] if table else {}
    windows: Found = column["windows"] if column else {}
    lines = [
        "## Data\n",
        "Real feeds with at least 60 runs, typed as a reader of the published file would. A *window* is one "
        "column over 60 runs, of which the first 30 are history. Each of the other 30 is a clean test with the "
        "30 runs before it (slow methods: every third, counted three times); the 31st is also broken in every "
        "standard way ([inject.md](inject.md)). Runs listed as incidents are in none of it. *Cases* are whole "
        "batches with one thing broken, 12 runs a feed.\n",
        "| feed | clean runs judged | columns | cases | numeric windows | categorical windows |",
        "|---" * 6 + "|",
    ]
    for title in sorted({*counted, *windows}):
        each, window = counted.get(title), windows.get(title, {})
        runs = f"{each['runs'] - each['cases']:,} | {each['columns']:g} | {each['cases']:,}" if each else "| |"
        mark = " •" if title.partition("/")[0] in CHOSEN_ON else ""
        lines.append(f"| {title}{mark} | {runs} | {window.get('numeric', '')} | {window.get('categorical', '')} |")
    told = column or table
    about = ", ".join(f"{name} {text}" for name, text in told["versions"].items()) if told else ""
    end = f"\nOf long feeds every second, third, ... run is judged. {about}.\n"
    note = ""
    if column and column["sparse"] > 1:
        note = f"\n**Of the windows of each feed, only every {column['sparse']}th was taken.**\n"
    return "\n".join([*lines, end, note])


# --- columns


def _columns(found: Found) -> str:
    lines = [
        "## Columns\n",
        "The most recall at a precision, over thresholds (baselines) or budgets (programs; "
        f"{len(found['budgets'])} budgets from {found['budgets'][0]:g} to {found['budgets'][-1]:g}). In brackets "
        f"the middle 95% of {found['draws']} draws of feeds (seed {found['seed']}): windows of one feed are not "
        "independent. Precision depends on how many clean tests there are for each issue; here one window has "
        "30 clean tests and one test of each issue.\n",
    ]
    for group in GROUPS:
        draw_curves(found, group)
        lines += [_methods(found, group), f"\n![{group}](pictures/history-{group}.svg)\n"]
    return "\n".join([*lines, PUBLISHED])


def _methods(found: Found, group: str) -> str:
    every, unseen = found["all"].get(group, {}), found["unseen"].get(group, {})
    first = every["headgate"]
    lines = [
        f"### {group.capitalize()} columns\n",
        f"{first['broken']:,} issues, {first['clean']:,.0f} clean tests, {first['feeds']} feeds. "
        f"{first['broken'] - first['changed']:,} of the issues leave the column as it is, such as upper case in a "
        "column of digits. No method can see those; the last column leaves them out.\n",
        "| | recall at 0.95 | recall at 0.98 | unseen: at 0.95 | unseen: at 0.98 | at 0.98, values changed |",
        "|---" * 6 + "|",
    ]
    shown = ["headgate", "paper", *(name for name in every if "budgets" not in every[name])]
    for name in shown:
        cells = [_at(each.get(name), precision) for each in (every, unseen) for precision in ("0.95", "0.98")]
        changed = every[name]["at_changed"]
        cells.append(f"{changed['recall']:.3f}" if changed else "—")
        lines.append(f"| {_bold(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _at(told: Found | None, precision: str) -> str:
    at = told["at"][precision] if told else None
    return f"{at['recall']:.3f} ({_span(at['interval'])})" if at else "—"


def _budgets(found: Found) -> str:
    lines = [
        "### Budgets of a column, stated and realised\n",
        "The budget is the share of clean batches that the program of one column may hold. Clauses are over all "
        "feeds; ours has none but a limit of rarity.\n",
        "| | | budget | precision | recall | clean tests held | unseen: held | median clauses | mean |",
        "|---" * 9 + "|",
    ]
    for group in GROUPS:
        for name in ("headgate", "paper"):
            unseen = found["unseen"].get(group, {}).get(name, {}).get("budgets", [None] * len(found["budgets"]))
            for each, other in zip(found["all"][group][name]["budgets"], unseen, strict=True):
                away = _judged(other) if other else "—"
                lines.append(
                    f"| {group} | {name} | {each['budget']:g} | {each['precision']:.3f} | {each['recall']:.3f} "
                    f"| {_judged(each)} | {away} | {_count(each, 'clauses')} | {_count(each, 'mean_clauses')} |"
                )
    return "\n".join([*lines, "\nIn bold: more than the budget.\n"])


def _count(each: Found, name: str) -> str:
    return f"{each[name]:.1f}" if name in each else "—"


def _judged(each: Found) -> str:
    text = f"{each['false_alarms']:.3%}"
    return f"**{text}**" if each["false_alarms"] > each["budget"] else text


def _ablations(found: Found) -> str:
    lines = [
        "### What the parts are worth\n",
        f"On every {found['ablated']}th window of each feed.\n",
        "| | numeric: at 0.95 | at 0.98 | recall at budget 1% | categorical: at 0.95 | at 0.98 | recall at budget 1% |",
        "|---" * 7 + "|",
    ]
    for name in found["ablations"]["numeric"]:
        cells = []
        for group in GROUPS:
            told = found["ablations"].get(group, {}).get(name)
            one = next((each for each in told["budgets"] if each["budget"] == 0.01), None) if told else None
            cells += [_plain(told, "0.95"), _plain(told, "0.98"), f"{one['recall']:.3f}" if one else "—"]
        lines.append(f"| {_bold(name)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _plain(told: Found | None, precision: str) -> str:
    at = told["at"][precision] if told else None
    return f"{at['recall']:.3f}" if at else "—"


def _issues(found: Found) -> str:
    draw_issues(found)
    lines = ["### Recall by issue, at precision 0.98\n", "A dash: no threshold gives that precision.\n"]
    for group in GROUPS:
        methods = found["all"][group]
        names = ["headgate", "paper", *best_baselines(methods)]
        issues = sorted({issue for name in names for issue in methods[name]["issues"]})
        lines += [f"\n| {group} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for issue in issues:
            cells = [_number(methods[name]["issues"].get(issue)) for name in names]
            lines.append(f"| {issue} | {' | '.join(cells)} |")
    return "\n".join([*lines, "\n![issues](pictures/history-issues.svg)\n"])


def _lengths(found: Found) -> str:
    lines = [
        "### Shorter histories\n",
        f"On every {found['sparse']}th window of each feed. A budget of 1% of a column.\n",
        "| | | runs | precision | recall | clean tests held | recall at precision 0.98 |",
        "|---" * 7 + "|",
    ]
    for group, forms_ in found["lengths"].items():
        for name, by_length in forms_.items():
            for length, told in by_length.items():
                each = next(one for one in told["budgets"] if one["budget"] == 0.01)
                lines.append(
                    f"| {group} | {name} | {length} | {each['precision']:.3f} | {each['recall']:.3f} "
                    f"| {_judged(each)} | {_plain(told, '0.98')} |"
                )
    return "\n".join([*lines, ""])


def _span(ends: Sequence[float]) -> str:
    return f"{ends[0]:.2f} to {ends[1]:.2f}"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _bold(name: str) -> str:
    return f"**{name}**" if name == "headgate" else name
