"""`python -m benchmarks.history`: runs what is missing, writes the results, and the page in docs from them."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gate.audit import audited
from benchmarks.history.baselines.every import METHODS
from benchmarks.history.cases import build, windows
from benchmarks.history.columns import CATEGORICAL, NUMERIC
from benchmarks.history.feeds import CHOSEN_ON, feeds
from benchmarks.history.incidents import SHORTEST, incidents
from benchmarks.history.learners import BUDGETS, LEARNERS, Tested
from benchmarks.history.modes import compare_modes
from benchmarks.history.page import write_page
from benchmarks.history.replay import kept, replayed
from benchmarks.history.scores import Row, column_scores, table_scores
from benchmarks.history.series import analysed
from benchmarks.history.summary import (
    DRAWS,
    SEED,
    at_rate,
    dataset,
    grouped,
    of_budget,
    of_form,
    of_method,
    score_points,
)
from benchmarks.history.tables import FORMS
from benchmarks.timing import versions
from benchmarks.values_mode import VALUES

RESULTS = Path(__file__).parent / "results"
LENGTHS = (7, 14, 21, 28)
SPARSER = 10  # lengths of history are tried on every tenth window
ABLATED = 4  # parts are left out on every fourth window
PROGRAMS = ("headgate", "paper")
OURS = ("headgate 0.01", "headgate 0.05")
SHAPE = ("has_column(", "column_count(", "column_type(", "copies(")
"""How reasons begin that are about columns, types, and batches that are there again."""
RATES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of clean runs held at which all methods are compared."""


def main() -> None:
    parts: dict[str, Callable[[argparse.Namespace], dict[str, Any] | None]] = {
        "column": column,
        "lengths": lengths,
        "table": table,
        "incidents": listed,
        "modes": compared,
    }
    parser = argparse.ArgumentParser(prog="benchmarks.history", description=__doc__)
    parser.add_argument(
        "--only", choices=(*parts, "page"), help="one part again; `page` writes the page from the results"
    )
    parser.add_argument("--sparse", type=int, default=1, help="take every so many windows of columns")
    parser.add_argument("--kept", action="store_true", help="judge by what has been replayed so far")
    parser.add_argument("--programs", action="store_true", help="leave the other detectors out of the whole batches")
    given = parser.parse_args()
    for name, run in parts.items():
        missing = given.only is None and not (RESULTS / f"{name}.json").exists()
        if given.only == name or missing:
            found = run(given)
            if found is not None:
                _write(name, _about() | found)
    write_page()


def _about() -> dict[str, Any]:
    names = ("numpy", "pyarrow", "datasketches", "scikit-learn", "scipy")
    about = {"versions": versions(*names), "values": VALUES, "draws": DRAWS, "seed": SEED}
    return about | {"chosen_on": sorted(CHOSEN_ON)}


def _write(name: str, found: dict[str, Any]) -> None:
    text = json.dumps(found, ensure_ascii=False, indent=None)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


# --- columns


def column(given: argparse.Namespace) -> dict[str, Any]:
    """Every learner and every baseline on windows of columns: all feeds, and those that nothing was chosen on."""
    sparse = given.sparse
    build()
    found: dict[str, Any] = {"sparse": sparse, "budgets": BUDGETS, "all": {}, "unseen": {}}
    for name in (*PROGRAMS, *(method.name for method in METHODS)):
        tested = column_scores(name, sparse=sparse)
        for which, titles in _sets().items():
            for group in (NUMERIC, CATEGORICAL):
                told = _told(name, tested, group, titles)
                if told:
                    found[which].setdefault(group, {})[name] = told
        print(f"{name}: {tested.judged.seconds:.0f} s", flush=True)
    return found | {"windows": _windows(sparse), "ablations": _ablations(ABLATED * sparse), "ablated": ABLATED * sparse}


def _ablations(sparse: int) -> dict[str, Any]:
    """Every learner with a part left out, and the whole ones on the same windows."""
    found: dict[str, Any] = {}
    for name in LEARNERS:
        tested = column_scores(name, sparse=sparse)
        for group in (NUMERIC, CATEGORICAL):
            told = _told(name, tested, group, None)
            if told:
                kept = {key: told[key] for key in ("at", "budgets")}
                found.setdefault(group, {})[name] = kept
        print(f"{name}, every {sparse}th window: {tested.judged.seconds:.0f} s", flush=True)
    return found


def _sets() -> dict[str, list[str] | None]:
    return {"all": None, "unseen": [feed.title for feed in feeds() if not feed.chosen_on]}


def _told(name: str, tested: Tested, group: str, titles: list[str] | None) -> dict[str, Any] | None:
    tests = tested.judged.of(group, titles)
    if not len(tests.clean) or not len(tests.broken):
        return None
    told = of_method(tests)
    if name in LEARNERS:
        told["budgets"] = [of_budget(tests, budget) | _clauses(tested, group, budget) for budget in BUDGETS]
        told["curve"] = [{key: each[key] for key in ("precision", "recall")} for each in told["budgets"]]
    return told


def _clauses(tested: Tested, group: str, budget: float) -> dict[str, float]:
    """Over all feeds, also where other figures are of some."""
    counts = tested.clauses[f"{group} {budget:g}"]
    return {"clauses": statistics.median(counts), "mean_clauses": statistics.fmean(counts)} if counts else {}


def _windows(sparse: int) -> dict[str, dict[str, int]]:
    found = {}
    for feed in feeds():
        meant = [each.group for each in windows(feed) if each.group in (NUMERIC, CATEGORICAL)][::sparse]
        found[feed.title] = {group: meant.count(group) for group in (NUMERIC, CATEGORICAL)}
    return found


def lengths(given: argparse.Namespace) -> dict[str, Any]:
    """Ours and the paper's form with shorter histories."""
    step = SPARSER * given.sparse
    found: dict[str, Any] = {"sparse": step, "lengths": {}}
    for name in PROGRAMS:
        for length in (*LENGTHS, 30):
            tested = column_scores(name, length, step)
            for group in (NUMERIC, CATEGORICAL):
                told = _told(name, tested, group, None)
                if told:
                    del told["curve"]
                    found["lengths"].setdefault(group, {}).setdefault(name, {})[str(length)] = told
    return found


# --- whole batches


def table(given: argparse.Namespace) -> dict[str, Any]:
    """Every form at every budget on clean runs and broken batches, and baselines where they hold as many clean runs."""
    rows = kept() if given.kept else replayed()
    scored = [] if given.programs else table_scores(rows)
    unseen = frozenset(feed.title for feed in feeds(SHORTEST) if not feed.chosen_on)
    keys = {name: [f"{name} {budget:g}" for budget in form.budgets] for name, form in FORMS.items()}
    told = {name: [of_form(rows, key, unseen) for key in some] for name, some in keys.items()}
    wanted = {row["feed"] for row in rows if row["what"] == "case"}
    counts = {
        title: {
            "runs": len(some),
            "cases": sum(row["what"] == "case" for row in some),
            "columns": statistics.median(row["columns"] for row in some if "columns" in row),
            "chosen_on": title not in unseen,
        }
        for title, some in grouped((row for row in rows if row["what"] != "incident"), lambda row: row["feed"]).items()
        if any("columns" in row for row in some)
    }
    fair = [row for row in rows if row["feed"] in wanted]
    equal = {ours: _equal(ours, fair, scored, keys) for ours in OURS}
    curves = {"rates": RATES, "recalls": _curves(fair, scored, keys)}
    return {"feeds": counts, "forms": told, "equal": equal, "curves": curves, "held": _list_held(rows, unseen)}


def _curves(rows: Sequence[Row], scored: Sequence[Row], keys: dict[str, list[str]]) -> dict[str, Any]:
    """The recall of every method over all cases at each of `RATES`.

    Left out are runs of another shape, which no other method looks at, and those that were looked at and found wrong.
    """
    wrong = {(row["feed"], row["at"]) for row in rows if row["what"] == "clean" and _is_wrong(row)}
    rows = [row for row in rows if row["what"] != "clean" or (row["feed"], row["at"]) not in wrong]
    scored = [row for row in scored if row["what"] != "clean" or (row["feed"], row["at"]) not in wrong]
    clean, cases = [[row for row in rows if row["what"] == what] for what in ("clean", "case")]
    found: dict[str, Any] = {}
    for form, some_keys in keys.items():
        points = [
            [float(np.mean([key in row["held"] for row in some])) for key in some_keys] for some in (clean, cases)
        ]
        found[form] = [at_rate(*points, rate) for rate in RATES]
    titles = {row["feed"] for row in clean}
    theirs = [row for row in scored if row["feed"] in titles]
    for method in METHODS if theirs else ():
        found[method.name] = [_baseline_recalls(method.name, theirs, rate)["all"] for rate in RATES]
    return found


def _is_wrong(row: Row) -> bool:
    found = audited().get((row["feed"], row["partition"]))
    shape = any(why.startswith(SHAPE) for why in row["held"].get("headgate 0.003", ()))
    return shape or (found is not None and found[0])


def _list_held(rows: Sequence[Row], unseen: frozenset[str]) -> dict[str, list[dict[str, Any]]]:
    """The clean runs that ours holds, and what was found of those that somebody looked at."""
    return {
        ours: [
            {
                "feed": row["feed"],
                "partition": row["partition"],
                "unseen": row["feed"] in unseen,
                "true": _is_wrong(row),
                "why": audited().get((row["feed"], row["partition"]), (False, ""))[1],
            }
            for row in rows
            if row["what"] == "clean" and ours in row["held"]
        ]
        for ours in OURS
    }


def _equal(ours: str, rows: Sequence[Row], scored: Sequence[Row], keys: dict[str, list[str]]) -> dict[str, Any]:
    """The recall of every method when it holds as many clean runs as ours does, over all and by dataset."""
    clean, cases = [[row for row in rows if row["what"] == what] for what in ("clean", "case")]
    rate = float(np.mean([ours in row["held"] for row in clean]))
    parts = {"all": cases, **grouped(cases, dataset)}
    found: dict[str, Any] = {
        "rate": rate,
        "runs": len(clean),
        "cases": {name: len(some) for name, some in parts.items()},
    }
    recalls: dict[str, Any] = {
        ours: {name: (float(np.mean([ours in row["held"] for row in some])), True) for name, some in parts.items()}
    }
    for form, some_keys in keys.items():
        if form != "headgate":
            rates = [float(np.mean([key in row["held"] for row in clean])) for key in some_keys]
            recalls[form] = {
                name: at_rate(rates, [float(np.mean([key in row["held"] for row in some])) for key in some_keys], rate)
                for name, some in parts.items()
            }
    titles = {row["feed"] for row in clean}
    theirs = [row for row in scored if row["feed"] in titles]
    for method in METHODS if theirs else ():
        recalls[method.name] = _baseline_recalls(method.name, theirs, rate)
    return found | {"recalls": recalls}


def _baseline_recalls(name: str, rows: Sequence[Row], rate: float) -> dict[str, tuple[float, bool]]:
    clean = np.array([row["scores"][name] for row in rows if row["what"] == "clean" and name in row["scores"]])
    cases = [row for row in rows if row["what"] == "case"]
    found = {}
    for part, some in {"all": cases, **grouped(cases, dataset)}.items():
        found[part] = at_rate(*score_points(clean, np.array([row["scores"][name] for row in some])), rate)
    return found


# --- incidents and modes


def listed(given: argparse.Namespace) -> dict[str, Any]:
    """Every incident of the list, with what held it."""
    rows = kept() if given.kept else replayed()
    judged = {(row["row"], row["feed"], row["partition"]): row for row in rows if row["what"] == "incident"}
    found = []
    for each in incidents():
        for partition in each.partitions:
            row = judged.get((each.row, each.title, partition), {})
            about = {"row": each.row, "feed": each.title, "partition": partition, "type": each.type}
            told = {"description": each.description, "runs": row.get("runs", _runs_before(each.title, partition))}
            found.append(about | told | {key: _first(row.get(key)) for key in ("held", "corrected")})
    return {"incidents": found, "keys": [*OURS, "paper 0.001"]}


def _first(held: dict[str, Sequence[str]] | None) -> dict[str, Sequence[str]] | None:
    """Of a batch of another shape every column is a reason; a few tell enough."""
    return None if held is None else {form: why[:3] for form, why in held.items()}


def _runs_before(title: str, partition: str) -> int:
    runs = next((analysed(feed) for feed in feeds(SHORTEST) if feed.title == title), [])
    return sum(batch.partition < partition for batch in runs)


def compared(_: argparse.Namespace) -> dict[str, Any] | None:
    """What learners see in plain values beside what they see in hidden ones; only where this run hides values."""
    return compare_modes() if VALUES == "hidden" else None


if __name__ == "__main__":
    main()
