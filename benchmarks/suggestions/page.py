"""Writes docs/suggestions-benchmark.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "suggestions-benchmark.md"
RESAMPLES = 10_000
RARE = 0.999

HEAD = """# Suggestions: how many hold on rows they were not made from

Written by `python -m benchmarks.suggestions` from `benchmarks/suggestions/results/suggestions.json`; do not edit.

The protocol of Schelter et al. (VLDB 2018, section 5.3), on real tables of at least 5,000 rows, all columns as raw text
but where noted: a random tenth of the rows suggests constraints ([suggestions.md](suggestions.md)), the other nine
tenths judge them. A suggestion **holds** if its expectation passes on those. A feed of many batches is its last batch,
if that has 5,000 rows, else all batches of its commonest schema; of more than 500,000 rows, 500,000 are drawn.

*Paper* is section 3.3 as it stands, from the same profiles: complete or a normal interval of 95%, type, non-negative,
all values seen if there are at most 100, unique within the sketch's error and guarded by the same classifier of names.
It has no patterns, lengths and ranges, says everything of all values, and says it of samples of any size.
"""


def write_page(found: dict[str, Any]) -> None:
    parts = [_overall, _by_rule, _tables, _failing]
    PAGE.write_text("\n".join([HEAD, *(part(found) for part in parts)]), encoding="utf-8")


def _overall(found: dict[str, Any]) -> str:
    tables = found["tables"]
    groups = {
        "all tables": tables,
        "tables that no parameter was chosen on": [each for each in tables if not each["chosen_on"]],
        "tables that parameters were chosen on (•)": [each for each in tables if each["chosen_on"]],
    }
    seeds, versions = found["seeds"], ", ".join(f"{name} {text}" for name, text in found["versions"].items())
    lines = [
        f"{len(seeds)} samples of each table (seeds {', '.join(map(str, seeds))}); {versions}.\n",
        "| | tables | columns | suggestions | a column | **hold** | 95% by tables | paper: a column | paper: hold |",
        "|---" * 9 + "|",
    ]
    for name, some in groups.items():
        ours, paper = _counts(some, "suggestions"), _counts(some, "paper")
        columns = sum(each["columns"] for each in some)
        low, high = _interval(ours)
        lines.append(
            f"| {name} | {len(some)} | {columns} | {ours[:, 1].sum():,} | {_rate(ours, columns, seeds)} "
            f"| **{_percent(ours)}** | {low:.1%} to {high:.1%} | {_rate(paper, columns, seeds)} | {_percent(paper)} |"
        )
    note = (
        "\nThe interval resamples tables, since the suggestions of one table fail together. After a first run on all "
        "tables these were changed, because of unit tests and a simulation of the paper's `lang`: when a list of "
        "values is closed, the share from which patterns are suggested (0.95 to 0.9), that a pattern of digits makes "
        "`non_negative` needless, and the random stream of the sample.\n"
    )
    return "\n".join([*lines, note])


def _by_rule(found: dict[str, Any]) -> str:
    every = _every(found["tables"], "suggestions")
    made, held = Counter(each["by"] for each in every), Counter(each["by"] for each in every if each["holds"])
    theirs = _every(found["tables"], "paper")
    asked, kept = (Counter(each["by"] for each in theirs if each["holds"] or one) for one in (True, False))
    lines = ["## By rule\n", "| rule | suggestions | hold |", "|---" * 3 + "|"]
    lines += [f"| {name} | {made[name]:,} | {_share(held[name], made[name])} |" for name in sorted(made)]
    lines += ["\n| of the paper | suggestions | hold |", "|---" * 3 + "|"]
    lines += [f"| {name} | {asked[name]:,} | {_share(kept[name], asked[name])} |" for name in sorted(asked)]
    return "\n".join([*lines, ""])


def _tables(found: dict[str, Any]) -> str:
    lines = [
        "## By table\n",
        "| table | | rows | columns | suggestions | hold | paper | hold |",
        "|---" * 8 + "|",
    ]
    for each in found["tables"]:
        ours, paper = _counts([each], "suggestions"), _counts([each], "paper")
        mark = " •" if each["chosen_on"] else ""
        lines.append(
            f"| {each['folder']}: {each['name']}{mark} | {each['what']} | {each['rows']:,} | {each['columns']} "
            f"| {ours[:, 1].sum():,} | {_percent(ours)} | {paper[:, 1].sum():,} | {_percent(paper)} |"
        )
    typed = "\n`columns` of column_corpus has typed numbers; every other column is text.\n"
    return "\n".join([*lines, typed])


def _failing(found: dict[str, Any]) -> str:
    lines = [
        "## Every suggestion that does not hold\n",
        _rare(found),
        "| table | seed | suggestion | from the sample | on the rest | such values |",
        "|---" * 6 + "|",
    ]
    for table in found["tables"]:
        for run in table["runs"]:
            for each in run["suggestions"]:
                if not each["holds"]:
                    cells = [each["constraint"], each["why"], _observed(each), ", ".join(each["examples"]) or "—"]
                    lines.append(f"| {table['name']} | {run['seed']} | {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, ""])


def _rare(found: dict[str, Any]) -> str:
    failing = [each for each in _every(found["tables"], "suggestions") if not each["holds"]]
    rare = sum(each["coverage"] >= RARE for each in failing)
    least = sum(each["by"] == "non_negative" for each in failing)
    return (
        f"There are {len(failing)}. Of {rare} of them at least {RARE:.1%} of the rest agree: they are about all "
        f"values, and at most one row in a thousand breaks them. {least} are minima below zero, which one row can "
        "break.\n"
    )


def _observed(each: dict[str, Any]) -> str:
    return str(each["reason"]).rpartition(": ")[2] or str(each["coverage"])


def _cell(text: str, most: int = 90) -> str:
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "`" + short.replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`"


def _every(tables: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [each for table in tables for run in table["runs"] for each in run[key]]


def _counts(tables: Iterable[dict[str, Any]], key: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """For each table, how many hold and how many there are."""
    found = [[each["holds"] for each in _every([table], key)] for table in tables]
    return np.array([[sum(holds), len(holds)] for holds in found], np.int64)


def _interval(counts: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[float, float]:
    chosen = np.random.default_rng(0).integers(0, len(counts), (RESAMPLES, len(counts)))
    sums = counts[chosen].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)


def _percent(counts: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    held, made = counts.sum(axis=0).tolist()
    return _share(held, made)


def _share(held: int, made: int) -> str:
    """In percent; what is not all does not look like all."""
    return "100%" if held == made else f"{min(held / made, 0.999):.1%}"


def _rate(counts: np.ndarray[Any, np.dtype[np.int64]], columns: int, seeds: list[int]) -> str:
    return f"{counts[:, 1].sum() / columns / len(seeds):.2f}"
