"""`python -m benchmarks.patterns.page`: writes docs/patterns-benchmark.md from the results, every number of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.patterns import figures, page_costs
from benchmarks.patterns.corpus import TRAINS, USED
from benchmarks.patterns.figures import METHODS, Line
from benchmarks.patterns.kinds import COVERED
from benchmarks.patterns.learners import OURS, UNSEEN
from benchmarks.patterns.page_costs import LIMITS, OPEN_MB, OPEN_MS
from benchmarks.patterns.tables import bold, header, table_row
from headgate.learn.patterns.settings import InferenceSettings

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "patterns-benchmark.md"
SETS = {"mixed": "Columns of many sources", "ukgov": "Columns of UK government", "dev": "Columns for development"}
FILES = (*SETS, "around", "speed", "opening", "scaling", "safety")
GROUPS = ("syntactic", "applicable", "all")
SCORED = [(group, name) for group in ("syntactic", "all") for name in ("precision", "recall", "f1")]
# Song and He 2021: Tables 1 and 2, sections 5.1 and 5.3.
PUBLISHED = {"precision": 0.961, "recall": 0.880, "cases": 571, "of": 1_000, "milliseconds": page_costs.PAPER_MS}
LAKES = {"government": 628_000, "enterprise": 7_200_000}
STRAIGHT = 0.1  # a time within a tenth of its line is on it
COMMON = 25
Found = dict[str, Any]

HEAD = """# Rules from a corpus: precision, recall, alarms, time

Written by `python -m benchmarks.patterns.page` from `benchmarks/patterns/results`; do not edit.

## The experiment

It is the one of Song and He, Auto-Validate (SIGMOD 2021), section 5.1. Of the first {used} values of a column,
{trains} train a rule and {tests} test it. A rule is precise (1) if it raises no alarm on the test values of its own
column, else 0. Its recall is the share of the other columns of the set that it raises an alarm on; it is 0 if the
rule is not precise. A column without a rule has precision 1 and recall 0. Figures are means over columns, F1 is of
the two means. In brackets: the middle 95% of bootstrap draws of columns. Milliseconds are means of one run.

{sizes} The index holds all other columns of the corpus{rest}: none of a set is in it. For *{unseen}* the columns of
the tested column's own source (its repository) are taken out of the index, too. Parameters were chosen on the
development columns only.

The paper's own figures are for an enterprise lake of {lake:,} columns, which is not public: precision {precision:.3f}
and recall {recall:.3f} of FMDV-VH, on the {cases} of {of:,} columns that a pattern is applicable to, in
{milliseconds} ms a column. Other columns and a far smaller corpus here: compare methods within a table, not digits
across.

Three groups of columns:

- *syntactic*: {covered:.0%} of all {used} values have one sequence of token classes (letters, number, each symbol).
  No method is asked. But it reads the test values, too, so columns that change their form later are left out:
  precision is flattered for every method.
- *applicable*: the paper's group. At least one method of patterns has a rule that is not trivial. The more methods
  are compared, and the more they can describe (Headgate has patterns of phrases), the larger it is{share}. So it is
  not the paper's group of columns.
- *all*: every column, free text as well.

FMDV to FMDV-VH are the paper's methods on the same index, with r = {theirs.limit:g}, m = {theirs.coverage}, θ =
{theirs.tolerance:g}; one row has a far larger r, beyond which FMDV-VH gains less than 0.01 in F1 on the development
columns. Headgate's r is {ours.limit:g}. Its index also counts how rules made of the first tenth of a column fared on
the rest of it ([methods/patterns.md](methods/patterns.md)): that is near to what this experiment measures, and the
paper's index does not know it. The other methods were written anew from their descriptions. SSIS, XSystem,
FlashProfile and matching by patterns, which the paper also compares, are not here.
"""


def write_page(results: Path = RESULTS, page: Path = PAGE) -> None:
    """The page, of all parts that have results, and its pictures beside it."""
    files = {name: results / f"{name}.json" for name in FILES}
    found: Found = {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()}
    around, pictures = found.get("around", {}), page.parent / "pictures"
    sections: dict[str, Callable[[Any], str]] = {
        **dict.fromkeys(SETS, _set),
        "sensitivity": lambda told: _sensitivity(told, around["set"], pictures),
        "sizes": lambda told: _sizes(told, around["set"], pictures),
        "calibration": _calibration,
        "distribution": lambda told: _distribution(told, pictures),
        "speed": page_costs.speed,
        "opening": page_costs.opening,
        "scaling": lambda told: page_costs.building(told, pictures),
        "safety": page_costs.safety,
    }
    every = {**around, **found}
    parts = [
        _head(found),
        *(section(every[name]) for name, section in sections.items() if name in every),
        _short(found),
    ]
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _head(found: Found) -> str:
    held = {name: found[name] for name in SETS if name in found}
    sizes = [f"{told['columns']['cases']:,} in *{name}*" for name, told in held.items()]
    shares = [
        f"{told['groups']['applicable']:,} of {told['columns']['cases']:,} in *{name}*" for name, told in held.items()
    ]
    flowing = re.sub(r"(?<!\n)\n *(?=[^\s#-])", " ", HEAD)
    return flowing.format(
        used=USED,
        trains=TRAINS,
        tests=USED - TRAINS,
        sizes=f"Columns: {', '.join(sizes)}." if sizes else "",
        rest=next((f" ({told['columns']['rest']:,})" for told in held.values()), ""),
        share=f": {', '.join(shares)}" if shares else "",
        unseen=UNSEEN,
        lake=LAKES["enterprise"],
        covered=COVERED,
        theirs=InferenceSettings.of("fmdv-vh"),
        ours=InferenceSettings.of("headgate"),
        **PUBLISHED,
    )


# --- the sets


def _set(told: Found) -> str:
    name = told["set"]
    lines = [f"## {SETS[name]} (*{name}*)\n"]
    groups = [group for group in GROUPS if group in told["scores"]]
    if name == "dev":
        lines += ["Parameters were chosen on these columns.\n", *_brief(told, groups)]
    else:
        for group in groups:
            lines += [f"### {group.capitalize()}: {told['groups'][group]:,} columns\n", *_methods(told, group), ""]
    return "\n".join([*lines, "", *_leads(told, groups), *_same_domain(told, groups), ""])


def _methods(told: Found, group: str) -> Iterator[str]:
    methods = told["scores"][group]
    best = max(row["f1"] for row in methods.values())
    yield from header("method", "rules", "precision", "recall", "F1", "ms")
    for name, row in methods.items():
        low, high = row["f1_interval"]
        f1 = f"{bold(row['f1'], best)} ({low:.3f} to {high:.3f})"
        yield table_row(name, f"{row['rules']:,}", *_pair(row), f1, f"{row['milliseconds']:.1f}")
    if group == "applicable":
        p, r = PUBLISHED["precision"], PUBLISHED["recall"]
        name = f"*published: FMDV-VH, enterprise, {PUBLISHED['cases']} columns*"
        f1, spent = f"{2 * p * r / (p + r):.3f}", f"{PUBLISHED['milliseconds']:.1f}"
        yield table_row(name, "", *_pair(PUBLISHED), f1, spent)


def _pair(row: Found) -> tuple[str, str]:
    return f"{row['precision']:.3f}", f"{row['recall']:.3f}"


def _brief(told: Found, groups: Sequence[str]) -> Iterator[str]:
    heads = [f"{group} ({told['groups'][group]:,}): precision | recall | F1" for group in groups]
    yield from header("method", *" | ".join(heads).split(" | "))
    best = {group: max(row["f1"] for row in told["scores"][group].values()) for group in groups}
    for name in told["scores"][groups[0]] if groups else ():
        rows = {group: told["scores"][group][name] for group in groups}
        cells = [(*_pair(row), bold(row["f1"], best[group])) for group, row in rows.items()]
        yield table_row(name, *chain.from_iterable(cells))


def _leads(told: Found, groups: Sequence[str]) -> Iterator[str]:
    for group in groups:
        methods = told["scores"][group]
        if OURS in methods:
            other, best = best_other(methods)
            gap = methods[OURS]["f1"] - best["f1"]
            lows, highs = zip(methods[OURS]["f1_interval"], best["f1_interval"], strict=True)
            apart = max(lows) > min(highs)
            yield (
                f"- {group}: Headgate is {'ahead of' if gap >= 0 else 'behind'} the best other method, {other}, by "
                f"{abs(gap):.3f} in F1 ({methods[OURS]['f1']:.3f} and {best['f1']:.3f}; their intervals "
                f"{'are apart' if apart else 'overlap'})."
            )


def _same_domain(told: Found, groups: Sequence[str]) -> Iterator[str]:
    held = {group: told["scores"][group][OURS] for group in groups if OURS in told["scores"][group]}
    if held:
        shown = ", ".join(f"{row['recall_other']:.3f} ({group})" for group, row in held.items())
        yield (
            "- Other columns of the same repository and name may be of the same domain. Without them, Headgate's "
            f"recall is {shown}."
        )


def best_other(methods: Found) -> tuple[str, Found]:
    """The method with the largest F1 that is not Headgate's, and its row."""
    others = {name: row for name, row in methods.items() if not name.startswith(OURS)}
    return max(others.items(), key=lambda each: float(each[1]["f1"]))


# --- around them


def _sensitivity(rows: Sequence[Found], chosen: str, pictures: Path) -> str:
    figures.draw_sensitivity(rows, pictures, "syntactic")
    note = "" if chosen == "dev" else " No default was chosen by these figures."
    lines = [
        "## Parameters\n",
        f"On the columns of *{chosen}*, one parameter at a time, the others at their defaults. r bounds what a method "
        "itself takes for its rate of false alarms: the mean impurity for the paper's methods, the backtest of the "
        f"index for Headgate. So one r is not the same strictness for both.{note}\n",
        "![parameters](pictures/patterns-sensitivity.svg)\n",
        *header("method", "r", "rules", *(f"{group}: {name}" for group, name in SCORED)),
    ]
    limits = [each for each in rows if each["parameter"] == "limit"]
    for each in sorted(limits, key=lambda each: (list(METHODS).index(each["method"]), each["value"])):
        lines.append(table_row(METHODS[each["method"]], f"{each['value']:g}", f"{each['rules']:,}", *_scored(each)))
    lines += ["", *_best_limits(limits)]
    return "\n".join([*lines, ""])


def _best_limits(rows: Sequence[Found]) -> Iterator[str]:
    """The r with the best F1, and whether it is the last one tried: then a larger one may be better still."""
    for name, shown in METHODS.items():
        held = [each for each in rows if each["method"] == name]
        if held:
            best = max(held, key=lambda each: float(each["all"]["f1"]))
            edge = best["value"] == max(each["value"] for each in held)
            note = ", the largest that was tried: a larger one may do better" if edge else ""
            yield f"- {shown}: best F1 of all columns {best['all']['f1']:.3f}, at r = {best['value']:g}{note}."


def _scored(each: Found) -> list[str]:
    return [f"{each[group][name]:.3f}" for group, name in SCORED]


def _sizes(rows: Sequence[Found], chosen: str, pictures: Path) -> str:
    by_method = {name: [each for each in rows if each["method"] == name] for name in METHODS}
    lines_of = {
        name: Line.through([each["columns"] for each in held], [each["syntactic"]["recall"] for each in held])
        for name, held in by_method.items()
        if held
    }
    figures.draw_sizes(rows, lines_of, list(LAKES.values()), pictures, "syntactic")
    lines = [
        "## Size of the corpus\n",
        f"The columns of *{chosen}* with indexes of random parts of the corpus.\n",
        "![size of the corpus](pictures/patterns-sizes.svg)\n",
        *header("method", "columns", "rules", *(f"{group}: {name}" for group, name in SCORED)),
        *(
            table_row(METHODS[each["method"]], f"{each['columns']:,}", f"{each['rules']:,}", *_scored(each))
            for each in rows
        ),
    ]
    lines.append("")
    for name, line in lines_of.items():
        ahead = ", ".join(f"{line.at(columns):.3f} at {columns:,} ({lake})" for lake, columns in LAKES.items())
        lines.append(
            f"- {METHODS[name]}: each doubling of the corpus moves the recall of syntactic columns by "
            f"{line.slope:+.3f}. Drawn on and capped at 1: {ahead}. This is a line through {len(by_method[name])} "
            "points, and no measurement."
        )
    return "\n".join([*lines, ""])


def _sized(each: Found) -> str:
    return table_row(METHODS[each["method"]], f"{each['columns']:,}", f"{each['rules']:,}", *_scored(each))


def _calibration(told: Found) -> str:
    lines = [
        "## Stated and seen alarms\n",
        "A rule states how often it will raise a false alarm: the rate that the index estimates, corrected by what was "
        "seen on the development columns (`training/pattern_rates.py`). Rules of every stated rate, high ones too, "
        "were held against the later values of the columns of the two other sets. *From a tenth*: the first tenth of "
        "a column trains. *From a half*: the first half of the long ones. The interval is by sources. In bold: seen "
        "more often than stated, by more than chance.\n",
        *header("trained", "stated, from", "to", "rules", "sources", "index, mean", "stated, mean", "seen", "95%"),
    ]
    for part, name in {"tenth": "from a tenth", "half": "from a half"}.items():
        for each in told[part]["bins"]:
            seen = f"**{each['seen']:.4f}**" if each["low"] > each["stated"] else f"{each['seen']:.4f}"
            ends = f"{each['from']:g}", f"{each['to']:g}", f"{each['rules']:,}", f"{each['sources']:,}"
            rates = f"{each['estimated']:.4f}", f"{each['stated']:.4f}", seen
            lines.append(table_row(name, *ends, *rates, f"{each['low']:.4f} to {each['high']:.4f}"))
        every = told[part]
        means = (f"{every[mean]:.4f}" for mean in ("estimated", "stated", "seen"))
        lines.append(table_row(f"*{name}, all*", "", "", f"{every['rules']:,}", "", *means, ""))
    return "\n".join([*lines, ""])


def _distribution(told: Found, pictures: Path) -> str:
    figures.draw_tokens(told["by_tokens"], pictures)
    figures.draw_columns(told["by_columns"], pictures)
    lines = [
        "## What the index holds\n",
        f"{told['patterns']:,} patterns of {told['columns']:,} columns, {told['bytes'] / 1e6:,.0f} MB; "
        f"{told['open']:,} of them ({told['open'] / told['patterns']:.1%}) without constant letters or digits.\n",
        "![by tokens](pictures/patterns-tokens.svg) ![by columns](pictures/patterns-columns.svg)\n",
        f"The most common domains, at most {COMMON}: patterns without constants that all of the first tenth of many "
        "columns have (*begin*), that few of these columns leave later (*left*), and with a low mean impurity. Of "
        f"the {len(told['common'])} most common patterns, those that differ only in their classes are one domain, "
        "shown by the one with the least impurity. The index holds hashes; the texts are from the tested columns.\n",
        *header("pattern", "forms", "columns", "begin", "left", "mean impurity"),
    ]
    for held in list(domains(told["common"]).values())[:COMMON]:
        each = min(held, key=lambda one: float(one["fpr"]))
        pattern = each["pattern"].replace("|", "\\|")  # a bar would end the cell, and a backtick the code
        fence = "``" if "`" in pattern else "`"
        counts = (f"{count:,}" for count in (len(held), each["columns"], each["led"], each["failed"]))
        lines.append(table_row(f"{fence}{pattern}{fence}", *counts, f"{each['fpr']:.3f}"))
    return "\n".join([*lines, ""])


def domains(common: Sequence[Found]) -> dict[str, list[Found]]:
    """Patterns by what is left of them without their classes.

    >>> list(domains([{"pattern": "<digit>+-<num>"}, {"pattern": "<num>-<alphanum>{2}"}, {"pattern": "<upper>+"}]))
    ['<>-<>', '<>']
    """
    found: dict[str, list[Found]] = {}
    for each in common:
        found.setdefault(re.sub(r"<\w+>(?:\{\d+\}|\+)?", "<>", each["pattern"]), []).append(each)
    return found


# --- what it costs


# --- what falls short


def _short(found: Found) -> str:
    lines = [line for name in SETS if name in found and name != "dev" for line in _short_of_published(found[name])]
    lines += [line for step in (_short_alarms, _short_times, _short_costs) for line in step(found)]
    missing = [name for name in FILES if name not in found]
    if missing:
        lines.append(f"Not measured yet: {', '.join(missing)}.")
    head = "## What falls short\n\nPublished figures are of the paper's own columns, where patterns are applicable.\n"
    return "\n".join([head, *(f"- {line}" for line in lines), ""]) if lines else ""


def _short_of_published(told: Found) -> Iterator[str]:
    for group, methods in told["scores"].items():
        where = f"*{told['set']}*, {group}"
        if OURS not in methods:
            yield f"{where}: Headgate is not measured yet."
            continue
        row, cases = methods[OURS], told["groups"][group]
        under = [name for name in ("precision", "recall") if row[name] < PUBLISHED[name]]
        if under:
            shown = " and ".join(f"{name} is {row[name]:.3f} (published: {PUBLISHED[name]:.3f})" for name in under)
            yield f"{where}: {shown}. {cases - row['rules']:,} of {cases:,} columns have no rule."
        other, best = best_other(methods)
        if best["f1"] >= row["f1"]:
            yield f"{where}: {other} has F1 {best['f1']:.3f}, Headgate {row['f1']:.3f}."


def _short_alarms(found: Found) -> Iterator[str]:
    for part, told in found.get("around", {}).get("calibration", {}).items():
        for each in told["bins"]:
            if each["low"] > each["stated"]:
                yield (
                    f"Rules from a {part} of a column that state {each['stated']:.3f} (mean of {each['from']:g} to "
                    f"{each['to']:g}) raise false alarms in {each['seen']:.3f} of columns."
                )


def _short_times(found: Found) -> Iterator[str]:
    taken = found.get("speed", {}).get("milliseconds", {}).get(OURS, {})
    for name, limit in LIMITS.items():
        if taken and taken[name] > limit:
            yield f"Inference: {name} {taken[name]:.1f} ms, above {limit:g} ms."
    for name, each in found.get("opening", {}).get("medians", {}).items():
        if each["open_and_look_up_ms"] > OPEN_MS or each["memory_added_mb"] > OPEN_MB:
            yield f"Opening, {name}: {each['open_and_look_up_ms']:.1f} ms and {each['memory_added_mb']:.0f} MB."


def _short_costs(found: Found) -> Iterator[str]:
    for way, each in found.get("scaling", {}).get("ways", {}).items():
        far = each["cpu_seconds_largest_deviation_from_linear"]
        if far > STRAIGHT:
            yield f"Building ({way}): CPU time is up to {far:.0%} off a straight line."
    for engine, count in found.get("safety", {}).get("over", {}).items():
        if count:
            yield f"{count:,} expressions take longer than {found['safety']['limit']:g} ms in {engine}."


if __name__ == "__main__":
    write_page()
