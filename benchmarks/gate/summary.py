"""From judged batches to figures: false holds, recall, incidents, and learners side by side at the same rate."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gate.audit import audited
from benchmarks.gate.replay import BUDGETS, FORMS, RUNS, Row
from benchmarks.gate.shares import estimate
from benchmarks.history.feeds import CHOSEN_ON

HERE = Path(__file__).parent


def notes() -> dict[tuple[int, str], tuple[bool, str]]:
    """What can be said of incidents that were missed: whether the batch and its history could tell, and why not."""
    with (HERE / "misses.csv").open(encoding="utf-8", newline="") as file:
        return {
            (int(row["row"]), row["partition"]): (row["revealable"] == "yes", row["note"])
            for row in csv.DictReader(file)
        }


def unseen(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["feed"].split("/")[0] not in CHOSEN_ON]


def list_usual(rows: Sequence[Row]) -> list[Row]:
    """The usual days whose history is as long as what is learned from."""
    return [row for row in rows if row["what"] == "usual" and row["runs"] >= RUNS]


def rates(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """For each form at each budget: usual days held, of these with reason, and recall on broken batches."""
    usual = list_usual(rows)
    cases = [row for row in rows if row["what"] == "case"]
    looked = audited()
    found: dict[str, dict[str, Any]] = {}
    for form in FORMS:
        for budget in BUDGETS:
            name = f"{form} {budget:g}"
            held = [row for row in usual if name in row["held"]]
            if not any(name in row["costs"] for row in usual):
                continue
            right = [row for row in held if looked.get((row["feed"], row["partition"]), (False, ""))[0]]
            false = estimate((row["feed"], name in row["held"] and row not in right) for row in usual)
            caught = sum(name in row["held"] for row in cases)
            found[name] = {
                "form": form,
                "budget": budget,
                "usual": len(usual),
                "held": len(held),
                "with reason": len(right),
                "looked at": sum((row["feed"], row["partition"]) in looked for row in held),
                "rate": len(held) / max(1, len(usual)),
                "false rate": false.share,
                "interval": [false.low, false.high],
                "cases": len(cases),
                "recall": caught / max(1, len(cases)),
                "stated": float(np.mean([row["costs"][name] for row in usual])) if usual else 0.0,
            }
    return found


def at_same_rate(found: dict[str, dict[str, Any]], form: str, rate: float) -> float:
    """The recall of a form where it holds this share of usual days: between the budgets that were tried."""
    points = sorted((each["rate"], each["recall"]) for each in found.values() if each["form"] == form)
    xs, ys = [0.0, *(x for x, _ in points)], [0.0, *(y for _, y in points)]
    return float(np.interp(rate, xs, np.maximum.accumulate(ys)))


def by_feed(rows: Sequence[Row], budgets: Sequence[float] = (0.01, 0.05)) -> list[dict[str, Any]]:
    titles = sorted({row["feed"] for row in rows})
    found = []
    for title in titles:
        mine = rates([row for row in rows if row["feed"] == title])
        chosen = {f"{budget:g}": mine.get(f"gate {budget:g}") for budget in budgets}
        found.append({"feed": title, **chosen})
    return found


def drawn(rows: Sequence[Row], count: int = 60) -> list[Row]:
    """Usual days that the gate at 1% holds, at most so many, drawn at random, always the same."""
    held = [row for row in list_usual(rows) if "gate 0.01" in row["held"]]
    order = np.random.default_rng(7).permutation(len(held))[:count]
    return [held[at] for at in sorted(order)]
