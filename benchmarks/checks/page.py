"""Writes docs/benchmark-checks.md from the result, so that no number there is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "benchmark-checks.md"


def write_page(found: dict[str, Any]) -> None:
    versions = ", ".join(f"{name} {each}" for name, each in found["versions"].items())
    middle, ratio = found["medians"], found["ratio of verdict.rows to by hand"]
    count = found["constraints"]
    lines = [
        "# Checks and failing rows, measured",
        "",
        "Written by `make bench-checks` from `benchmarks/checks/results/checks.json`; do not edit. How they are used:",
        "[checks.md](checks.md).",
        "",
        f"{found['rows']:,} rows of {found['columns']} columns in Parquet, {count} row-level constraints, all of which",
        f"fail; {found['failing rows']:,} rows break at least one. The steps take turns in one session,",
        f"{found['rounds']} rounds after 2 to warm up; figures are medians. A shared, noisy machine: read the ratio.",
        f"{versions}.",
        "",
        "| step | seconds | by round |",
        "|---|---|---|",
    ]
    lines += [
        f"| {name} | {middle[name]:.2f} | {', '.join(f'{each:.2f}' for each in found['seconds'][name])} |"
        for name in middle
    ]
    lines += [
        "",
        f"`verdict.rows`, with reasons and offending values, takes **{ratio:.2f} times** as long as a filter of",
        f"the same {count} predicates by hand, which gives the same rows and no reasons. Both read every row;",
        "what fails is read to its end.",
        "",
    ]
    PAGE.write_text("\n".join(lines), encoding="utf-8")
