"""Writes docs/report-benchmark.md from the results: one table, then what a person sees in each tool's page."""

from __future__ import annotations

# ruff: noqa: E501 - sentences of a page
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import job
from benchmarks.report.sizes import LIMITS, SECONDS
from benchmarks.values_mode import describe_values

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "report-benchmark.md"
Tool = dict[str, Any]

NAMES = {
    "headgate": "Headgate",
    "pointblank": "Pointblank",
    "great_expectations": "Great Expectations",
    "evidently": "Evidently",
    "ydata_profiling": "ydata-profiling",
    "whylogs": "whylogs",
}
# Looked at by a person, at 1280 x 800 and 390 x 844, without a network. Everything else on the page is measured.
SEEN = {
    "pointblank": "A table of all eleven steps (a range of a mean takes two). The one that failed has a yellow bar and a filled circle, and the limit it broke; the mean that was observed is not told, nor what it was before. No sentence says whether the day passed. On a phone the whole table is shrunk until it fits: too small to read without zooming.",
    "great_expectations": "A table of contents that names every column, then *Status: Failed*. Which expectation failed is below the first screen; it has the observed value there. Without a network there are no styles and the filter *Failed Only* does nothing.",
    "evidently": "*Dataset Drift is detected*, 7 of 12 columns drifted, among them columns in which nothing was changed; the first row is the broken column with two small histograms and a distance. What the values were and are is behind a click. On a phone the right half of the cards is cut off.",
    "ydata_profiling": "Counts of rows, columns and missing cells, side by side. It judges nothing; that the numbers of one column are larger is seen when one scrolls there and compares.",
    "whylogs": "An empty page: all of it is drawn by scripts of other hosts. (With them there is a table of columns with a p-value of drift for each.)",
    "headgate": "One sentence: the day failed and was held, for one thing. Below it the cause: the mean that was observed, what is allowed, what it was in the 30 days before, the last good value; these days as a line with the band; the values now against before. Then commands to copy; budget and all columns are further down. That these are kilometres it does not say.",
}


def write(found: dict[str, Any]) -> None:
    tools = found["tools"]
    lines = [*_head(found), *_table(tools), *_sizes(), *_seen(tools), *_how(found)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _head(found: dict[str, Any]) -> list[str]:
    now, earlier = job.means()
    return [
        "# The report beside those of other tools",
        "",
        "Written by `python -m benchmarks.report` from `benchmarks/report/results/peers.json`; do not edit.",
        "",
        f"One job for all: the flights of {job.DAY}, in which `{job.BROKEN}` comes in kilometres for miles, so that its mean is {now:,.0f} where it",
        f"was {min(earlier):,.0f} to {max(earlier):,.0f} in the {job.BEFORE} days before. Tools that validate are given the same {len(job.EXPECTATIONS)} expectations; the mean of `{job.BROKEN}` (850 to 1,150) is the one that fails. Tools",
        f"that compare are given the {job.BEFORE} days before. Headgate has both. Each writes its HTML page, which is then opened in Chromium",
        f"{found['versions']['chromium'].split('.')[0]} without a network.",
        describe_values({"Headgate": found["tools"].get("headgate")}, "python -m benchmarks.report --only headgate"),
        "",
    ]


def _rows() -> Iterator[tuple[str, Callable[[Tool], str]]]:
    yield "version", lambda tool: tool["version"]
    yield "bytes of the page", lambda tool: f"{tool['bytes']:,}"
    yield "files, bytes of all", lambda tool: f"{tool['files']}, {tool['bytes of all files']:,}"
    yield "processor seconds to write", lambda tool: f"{tool['write seconds']:.2f}"
    yield "requests when opened", lambda tool: str(tool["requests"])
    yield "to so many hosts", lambda tool: str(tool["asked hosts"])
    yield "inline scripts", lambda tool: str(tool["inline scripts"])
    yield "content security policy", lambda tool: "yes" if tool["csp"] else "no"
    yield "first screen has the column, the observed value, the allowed range", lambda tool: _said(tool["desktop"])
    yield "the same on a phone", lambda tool: _said(tool["phone"])
    yield "layout on a phone of 390 px is wide", lambda tool: f"{tool['phone']['width'] + tool['phone']['overflow']} px"
    yield "a window of 390 px overflows by", lambda tool: f"{tool['narrow']['overflow']} px"
    yield (
        "texts beyond its right edge",
        lambda tool: f"{tool['narrow']['beyond the edge']} of {tool['narrow']['texts']}",
    )
    yield "dark when the reader's system is", lambda tool: "yes" if tool["dark"]["background"] < 0.2 else "no"
    yield "texts with contrast below 4.5, light", lambda tool: _poor(tool["desktop"])
    yield "dark", lambda tool: _poor(tool["dark"]) if tool["dark"]["background"] < 0.2 else ""
    yield "stops of the Tab key, seen of these", lambda tool: f"{tool['tab stops']}, {tool['stops seen']}"
    yield "landmarks, headings", lambda tool: f"{tool['landmarks']}, {tool['headings']}"


def _said(screen: dict[str, Any]) -> str:
    return ", ".join(screen["first screen says"]) or "none"


def _poor(screen: dict[str, Any]) -> str:
    return f"{screen['poor contrast']} of {screen['texts']}"


def _table(tools: dict[str, Tool]) -> Iterator[str]:
    yield f"| | {' | '.join(NAMES[name] for name in tools)} |"
    yield f"|---|{'---|' * len(tools)}"
    for title, cell in _rows():
        yield f"| {title} | {' | '.join(cell(tool) for tool in tools.values())} |"
    yield ""


def _sizes() -> Iterator[str]:
    """The pages of wide tables, from results/sizes.json."""
    file = HERE / "results" / "sizes.json"
    if not file.exists():
        return
    found = json.loads(file.read_text(encoding="utf-8"))
    yield "## Pages of wide tables"
    yield ""
    yield f"Headgate's pages after {found['runs']} runs, three columns broken in the last. Written by `python -m benchmarks.report.sizes`."
    yield f"Limits: {', '.join(f'{bytes_:,} bytes for {columns:,} columns' for columns, bytes_ in LIMITS.items())}, {SECONDS:g} seconds to write. Seconds are medians"
    yield "of 3 rounds on a busy machine, so those of the processor are beside them; *gzip* is what a server would send."
    yield describe_values({"these pages": found}, "python -m benchmarks.report.sizes")
    yield ""
    yield "| columns | page | bytes | gzip | seconds | of the processor |"
    yield "|---:|---|---:|---:|---:|---:|"
    for each in found["pages"]:
        cells = f"{each['bytes']:,} | {each['gzip']:,} | {each['seconds']:.2f} | {each['processor seconds']:.2f}"
        yield f"| {each['columns']:,} | {each['page']} | {cells} |"
    yield ""


def _seen(tools: dict[str, Tool]) -> Iterator[str]:
    yield "## What one sees"
    yield ""
    for name, tool in tools.items():
        yield f"### {NAMES[name]} {tool['version']}"
        yield ""
        if SEEN[name]:
            yield f"{SEEN[name]}"
            yield ""
        if tool["asked hosts"]:
            hosts = "another host" if tool["asked hosts"] == 1 else f"{tool['asked hosts']} other hosts"
            yield f"It asks {hosts} for styles, scripts or fonts."
            yield ""
        if tool["desktop"]["texts"]:
            yield f"![{NAMES[name]}, desktop](pictures/peers/{name}-desktop.png)"
            yield ""
            yield f"![{NAMES[name]}, phone](pictures/peers/{name}-phone.png)"
            yield ""


def _how(found: dict[str, Any]) -> list[str]:
    about = found["versions"]
    return [
        "## How it was measured",
        "",
        "`benchmarks/report/peers` has a script for each tool with its version; `uv` runs each in an environment of its own. Seconds are medians of 3",
        "runs, of the processor, and count the writing of the page, not the judging; ydata-profiling measures while it writes. Requests are those of an open page, all",
        "refused: a style that did not load cannot ask for its fonts, so with a network there may be more. Contrast is computed from computed styles of",
        "every visible text against the backgrounds below it (pictures and gradients are not seen by it). The phone is 390 x 844 as a mobile browser",
        "lays pages out: one without a viewport tag is laid out wide and shrunk. Dark is what the page does by itself; some tools have a switch or a theme.",
        "Texts beyond the right edge of Headgate's page are in tables that scroll by themselves. Its page is of plain values, as these data are public.",
        "",
        f"Python {about['python']}, Chromium {about['chromium']}, {about['cores']} cores.",
    ]


if __name__ == "__main__":
    write(json.loads((HERE / "results" / "peers.json").read_text(encoding="utf-8")))
