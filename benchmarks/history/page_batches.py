"""The parts of the page about whole batches: shares held, equal false holds, incidents, and what was held."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

NOTES = Path(__file__).with_name("incident_notes.csv")
OURS, WIDER, PAPER = "headgate 0.01", "headgate 0.05", "paper 0.001"
ABOVE_PAPER = 0.10
REVEALED = 0.80
CLAUSES = 3
NEW_SHAPE, NOT_LOOKED_AT = "other columns or types than before, or the rows of an earlier run", "not looked at"
_LONGEST = 110
Found = dict[str, Any]


# --- targets


def table_targets(table: Found | None, listed: Found | None) -> list[str]:
    """A row of the table of targets for each that concerns whole batches."""
    lines = []
    if table:
        ours = {each["budget"]: each for each in table["forms"]["headgate"]}
        lines += [
            _rate_target(ours[budget], which, table["held"][f"headgate {budget:g}"])
            for budget in (0.01, 0.05)
            for which in ("clean", "clean_unseen")
        ]
        lines += [line for key in (OURS, WIDER) for line in _equal_targets(key, table["equal"][key])]
        lines.append(_nearest(table["forms"]))
        clauses = ours[0.01]["clauses_a_column"]
        lines.append(
            f"| at most {CLAUSES} clauses a column about its values, at 1% | median {clauses:.2g} "
            f"| {_met(clauses <= CLAUSES)} |"
        )
    if listed:
        held, all_ = revealed(listed["incidents"])
        share = held / all_ if all_ else 0.0
        lines.append(
            f"| {REVEALED:.0%} of the incidents that a batch and its history can reveal, at 1% "
            f"| {held} of {all_} batches: {share:.0%}; {sum(map(_own, listed['incidents']))} by a clause that does not "
            f"hold the corrected batch, too | {_met(share >= REVEALED)} |"
        )
    return lines


def _rate_target(each: Found, which: str, held: list[Found]) -> str:
    found, budget = each[which], each["budget"]
    is_unseen = which == "clean_unseen"
    name = ", unseen feeds" if is_unseen else ""
    low, high = found["by_feeds"]
    false = sum(not one["true"] for one in held if one["unseen"] or not is_unseen) / found["of"]
    return (
        f"| false holds at or below {budget:.0%}{name} | {found['share']:.2%} of runs not listed as incidents "
        f"are held ({low:.2%} to {high:.2%} by feeds); {false:.2%} without a known reason | {_met(false <= budget)} |"
    )


def _equal_targets(key: str, equal: Found) -> list[str]:
    """Ours beside the methods that hold as few clean runs at some threshold or budget; others cannot be compared."""
    compared = {name: each for name, each in equal["recalls"].items() if each["all"][1]}
    recalls = {name: {part: one[0] for part, one in each.items()} for name, each in compared.items()}
    ours = {part: one[0] for part, one in equal["recalls"][key].items()}
    others = {name: each for name, each in recalls.items() if not name.startswith("headgate")}
    at = f"at the {equal['rate']:.2%} of clean runs that `{key}` holds"
    if not others:
        return [f"| recall at or above other methods, {at} | no other method holds so few | not measurable |"]
    best = {part: max((each.get(part, 0.0), name) for name, each in others.items()) for part in ours}
    behind = [
        f"{part} ({name} {recall:.2f}, ours {ours[part]:.2f})"
        for part, (recall, name) in best.items()
        if recall > ours[part]
    ]
    targets = [
        f"| recall at or above {', '.join(others)} on every dataset, {at} "
        f"| {'behind on ' + '; '.join(behind) if behind else 'on every dataset'} | {_met(not behind)} |"
    ]
    if "paper" in others:
        gaps = {part: ours[part] - others["paper"][part] for part in ours}
        short = [f"{part} {gap * 100:+.0f}" for part, gap in gaps.items() if gap < ABOVE_PAPER]
        targets.append(
            f"| 10 points above the paper's form, {at} | {gaps['all'] * 100:+.0f} points over all cases"
            f"{'; less than 10 on ' + ', '.join(short) if short else ''} | {_met(not short)} |"
        )
    return targets


def _nearest(forms: Found) -> str:
    """Both forms where they come nearest to holding the same share of clean runs."""
    pairs = [(one, other) for one in forms["headgate"] for other in forms["paper"]]
    ours, theirs = min(pairs, key=lambda pair: abs(pair[0]["clean"]["share"] - pair[1]["clean"]["share"]))
    gap = ours["cases"]["share"] - theirs["cases"]["share"]
    return (
        f"| 10 points above the paper's form, where both hold about the same share | ours at {ours['budget']:g} holds "
        f"{ours['clean']['share']:.1%} and recalls {ours['cases']['share']:.1%}, the paper's at {theirs['budget']:g} "
        f"{theirs['clean']['share']:.1%} and {theirs['cases']['share']:.1%} | {_met(gap >= ABOVE_PAPER)} |"
    )


def _met(is_met: bool) -> str:
    return "met" if is_met else "**falls short**"


# --- shares held


def forms(found: Found) -> str:
    """Each form at each budget."""
    lines = [
        "## Whole batches\n",
        "Runs of every feed, judged by programs learned from the 30 good runs before it. Clean runs are "
        "those that the list of incidents does not name, so that some are held with reason. Wilson's interval "
        f"takes runs as independent, the other draws feeds again ({found['draws']} times). *By column*: each "
        "column has the budget to itself, as in the paper; *by table*: the paper's form with one budget for all "
        "columns.\n",
        "| form | budget | clean held | by runs | by feeds | unseen | recall | by feeds | unseen | clauses a column |",
        "|---" * 10 + "|",
    ]
    for name, some in found["forms"].items():
        for each in some:
            clean, cases, clauses = each["clean"], each["cases"], each["clauses_a_column"]
            lines.append(
                f"| {name} | {each['budget']:g} | {_percent(clean)} | {_ends(clean['wilson'])} "
                f"| {_ends(clean['by_feeds'])} | {_percent(each['clean_unseen'])} | {_percent(cases)} "
                f"| {_ends(cases['by_feeds'])} | {_percent(each['cases_unseen'])} | {clauses:.2f} |"
            )
    return "\n".join([*lines, "\n![rates](pictures/history-rates.svg)\n", _by_feed(found), _by_issue(found)])


def _by_feed(found: Found) -> str:
    keys = [("headgate", 0.01), ("headgate", 0.05), ("paper", 0.001), ("paper, by table", 0.01)]
    some = [next(each for each in found["forms"][name] if each["budget"] == budget) for name, budget in keys]
    head = " | ".join(f"{name} {budget:g}: held | recall" for name, budget in keys)
    lines = ["### By feed\n", f"| feed | {head} |", "|---" * (1 + 2 * len(keys)) + "|"]
    for title, about in found["feeds"].items():
        cells = [_percent(each[what].get(title)) for each in some for what in ("clean_by_feed", "cases_by_feed")]
        lines.append(f"| {title}{' •' if about['chosen_on'] else ''} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _by_issue(found: Found) -> str:
    keys = [("headgate", 0.01), ("headgate", 0.05), ("paper", 0.001), ("paper, by table", 0.01)]
    some = [next(each for each in found["forms"][name] if each["budget"] == budget) for name, budget in keys]
    head = " | ".join(f"{name} {budget:g}" for name, budget in keys)
    lines = ["### By issue\n", f"| issue | cases | {head} |", "|---" * (2 + len(keys)) + "|"]
    for issue, first in some[0]["cases_by_issue"].items():
        cells = [_percent(each["cases_by_issue"].get(issue)) for each in some]
        lines.append(f"| {issue} | {first['of']} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def equal_rates(found: Found) -> str:
    """Recall by dataset when every method holds as many clean runs as ours."""
    lines = [
        "### At the same share of clean runs held\n",
        "Each method with the one threshold, for all feeds, at which it holds as many clean runs as Headgate "
        "does. Forms are read between their budgets, linear in the logarithm of the share. Baselines score the "
        "same clean runs (isolation forest: every third), as strange as the strangest column; they do not look "
        "at the schema. A star: the method holds more (or fewer) at every budget tried; below its least, it is "
        "as if only a part of its alarms were heeded.\n",
    ]
    for key, equal in found["equal"].items():
        parts = list(equal["cases"])
        lines += [
            f"\n`{key}` holds {equal['rate']:.2%} of {equal['runs']:,} clean runs. Recall:\n",
            f"| | {' | '.join(parts)} |",
            "|---" * (1 + len(parts)) + "|",
            f"| cases | {' | '.join(f'{count:,}' for count in equal['cases'].values())} |",
        ]
        best = {part: max(each[part][0] for each in equal["recalls"].values() if part in each) for part in parts}
        for name, each in equal["recalls"].items():
            lines.append(f"| {name} | {' | '.join(_recall(each.get(part), best[part]) for part in parts)} |")
    return "\n".join([*lines, "\nIn bold: the most.\n"])


def rate_curves(found: Found) -> str:
    """Recall of every method at the same shares of clean runs held."""
    curves = found["curves"]
    rates = curves["rates"]
    lines = [
        "### Recall at each share of clean runs held\n",
        "As above, at fixed shares, over all cases. Left out are clean runs with other columns or types, which no "
        "other method looks at, and those that were looked at and found wrong ([the gate](gate-benchmark.md)). "
        "*z-score* with a threshold of 3 is the usual three deviations.\n",
        f"| | {' | '.join(f'{rate:.1%}' for rate in rates)} |",
        "|---" * (1 + len(rates)) + "|",
    ]
    best = [max(each[at][0] for each in curves["recalls"].values()) for at in range(len(rates))]
    for name, each in curves["recalls"].items():
        lines.append(f"| {name} | {' | '.join(_recall(one, best[at]) for at, one in enumerate(each))} |")
    return "\n".join([*lines, "\nIn bold: the most.\n"])


def _recall(one: list[Any] | None, best: float) -> str:
    if one is None:
        return "—"
    text = f"{one[0]:.3f}{'' if one[1] else '*'}"
    return f"**{text}**" if one[0] >= best else text


# --- incidents


def revealed(rows: list[Found]) -> tuple[int, int]:
    """How many batches are held at 1%, of those that are or could be; one without a note counts as if it could."""
    notes = _lines(NOTES)
    could = [row for row in rows if _is_held(row) or _note(notes, row).get("revealable") != "no"]
    return sum(map(_is_held, could)), len(could)


def incidents(found: Found) -> str:
    """Every incident, what held it, and if nothing did, why."""
    rows, notes = found["incidents"], _lines(NOTES)
    held, could = revealed(rows)
    also = sum(1 for row in rows if (row["held"] or {}).get(PAPER))
    right = [row["corrected"] for row in rows if row["corrected"] is not None]
    lines = [
        "## Real incidents\n",
        f"{len({row['row'] for row in rows})} incidents, {len(rows)} batches. At 1% Headgate holds {held} of the "
        f"{could} that a batch and its history can reveal, and {held} of all {len(rows)}; the paper's form at "
        f"0.1% a column {also}. Of {len(right)} batches there is a corrected version; at 1% Headgate holds "
        f"{sum(OURS in each for each in right)} of those too, the paper's form "
        f"{sum(PAPER in each for each in right)}: a change for good, such as a new column, is held in both. *Same*: no "
        "clause holds the batch that does not hold the corrected one. Without those, and without metrics that could "
        f"not be computed, {sum(map(_own, rows))} are held.\n",
        "| | batch | feed | type | runs | 1% | 5% | paper 0.1% | by what | corrected held | can be revealed |",
        "|---" * 11 + "|",
    ]
    return "\n".join([*lines, *(_incident(row, _note(notes, row)) for row in rows), ""])


def _incident(row: Found, note: dict[str, str]) -> str:
    held, corrected = row["held"] or {}, row["corrected"]
    marks = ["yes" if key in held else "no" for key in (OURS, WIDER, PAPER)]
    why = "; ".join((held.get(OURS) or held.get(WIDER) or [])[:2])
    again = "" if corrected is None else "no" if OURS not in corrected else "yes" if _own(row) else "same"
    said = "yes" if OURS in held else f"{note.get('revealable') or '?'}: {note.get('note', '')}"
    cells = [row["row"], row["partition"], row["feed"], row["type"], row["runs"], *marks, _cell(why), again, said]
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |"


def _is_held(row: Found) -> bool:
    return OURS in (row["held"] or {})


def _own(row: Found) -> bool:
    """Whether a clause holds the batch at 1% that does not hold the corrected one; a metric that is missing is none."""
    held = (row["held"] or {}).get(OURS, ())
    right = {_metric(why) for why in (row["corrected"] or {}).get(OURS, ())}
    return any(_metric(why) not in right and "could not be computed" not in why for why in held)


def _metric(reason: str) -> str:
    return reason.partition(" is ")[0].partition(" could not ")[0]


def _note(notes: list[dict[str, str]], row: Found) -> dict[str, str]:
    """The note of a batch. Two feeds that were exchanged are one row of the list, and have one note."""
    same = (each for each in notes if int(each["row"]) == row["row"] and each["partition"] == row["partition"])
    return next(same, {})


# --- what was held


def describe_held(table: Found) -> str:
    """The clean runs that the program at 1% holds, and what was found of them."""
    held, clean = table["held"][OURS], _find_budget(table, 0.01)["clean"]
    true = sum(each["true"] for each in held)
    shown = [
        f"| {each['feed']} | {each['partition']} | {'yes' if each['true'] else 'no'} "
        f"| {_cell(each['why'] or (NEW_SHAPE if each['true'] else NOT_LOOKED_AT), 200)} |"
        for each in held
    ]
    return "\n".join(
        [
            "## Clean runs that are held\n",
            f"The program at 1% holds {clean['held']} of {clean['of']:,} runs that no list of incidents names. "
            f"{true} of them are held with a reason, so {(clean['held'] - true) / clean['of']:.2%} are held falsely. "
            "One that nobody looked at counts as held falsely.\n",
            "| feed | run | with a reason | why |",
            "|---|---|---|---|",
            *shown,
            "",
        ]
    )


def _find_budget(table: Found, budget: float) -> Found:
    found: Found = next(each for each in table["forms"]["headgate"] if each["budget"] == budget)
    return found


def _lines(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))


def _percent(found: Found | None) -> str:
    return "—" if found is None or found["share"] is None else f"{found['share']:.1%}"


def _ends(ends: list[float]) -> str:
    return f"{ends[0]:.1%} to {ends[1]:.1%}"


def _cell(text: str, most: int = _LONGEST) -> str:
    short = text if len(text) <= most else text[: most - 1] + "…"
    return short.replace("`", "'").replace("|", "/").replace("\n", " ")
