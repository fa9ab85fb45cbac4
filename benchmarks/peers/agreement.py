"""Whether a system gave the answers that are true of the table: one that does other work is not compared."""

from __future__ import annotations

import math
from typing import Any

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.types as pt

from benchmarks.peers.reference import answer_checks, count_failing_rows
from benchmarks.peers.workloads import Cell

Truth = dict[str, Any]
Result = dict[str, Any]

EXACT = 1e-6  # relative; sums of doubles depend on their order
# of estimates and of definitions: of the population or of a sample; three standard errors of a sketch of 5%
TOLERANCES = {"stddev": 1e-3, "distinct": 0.2, "quantile": 0.05}
PROFILED = ("complete", "distinct", "min", "max", "mean", "stddev", "min_length", "max_length")


def find_truth(cell: Cell) -> Truth:
    """What the answers of this cell must be; nothing of a workload whose answers have no truth."""
    match cell.workload.name:
        case "checks" | "append" | "replace":
            return {"answers": answer_checks(cell.table, cell.checks)}
        case "failing_rows":
            return {"failing_rows": count_failing_rows(cell.table, cell.checks)}
        case "profile":
            return {"profile": profile_columns(cell)}
    return {}


def profile_columns(cell: Cell) -> dict[str, dict[str, float]]:
    data = ds.dataset([file for path in cell.table.paths for file in ds.dataset(path).files])
    return {name: _profile(data.to_table(columns=[name]).column(0)) for name in data.schema.names}


def _profile(values: Any) -> dict[str, float]:
    present = values.drop_null()
    found = {
        "complete": len(present) / len(values),
        "distinct": float(pc.count_distinct(present).as_py()),
    }
    if pt.is_integer(values.type) or pt.is_floating(values.type):
        found |= {name: float(getattr(pc, name)(present).as_py()) for name in ("min", "max", "mean", "stddev")}
    elif pt.is_string(values.type):
        lengths = pc.min_max(pc.utf8_length(present))
        found |= {"min_length": float(lengths["min"].as_py()), "max_length": float(lengths["max"].as_py())}
    return found


def compare(cell: Cell, truth: Truth, told: Result) -> Result:
    """How many answers were given and which of them are not true, in words."""
    if "answers" in truth:
        return _compare_answers(cell, truth["answers"], told.get("answers", []))
    if "failing_rows" in truth:
        given, wanted = told.get("failing_rows"), truth["failing_rows"]
        wrong = [] if given == wanted else [f"{given:,} failing rows, where {wanted:,} are"]
        return {"asked": 1, "answered": 1, "wrong": wrong}
    if "profile" in truth:
        return _compare_profiles(truth["profile"], told.get("profile", {}))
    return {}


def _compare_answers(cell: Cell, truth: Truth, answers: list[Result]) -> Result:
    wrong, answered, cannot = [], 0, []
    by_id = {answer["id"]: answer for answer in answers}
    for check in cell.checks:
        answer, true = by_id.get(check["id"], {"passed": None, "cannot": "no answer"}), truth[check["id"]]
        title = f"{check['kind']}({check.get('column', '')})"
        if answer["passed"] is None:
            cannot.append(f"{title}: {answer.get('cannot', 'no answer')}"[:300])
            continue
        answered += 1
        if answer["passed"] != true["passed"]:
            wrong.append(f"{title} {_say(answer['passed'])}, where it {_say(true['passed'])}")
        elif (value := answer.get("value")) is not None and not _is_near(check["kind"], value, true["values"]):
            wrong.append(f"{title} is {value:.6g}, where it is {true['values'][0]:.6g}")
    return {"asked": len(cell.checks), "answered": answered, "wrong": wrong, "cannot": cannot}


def _say(passed: bool) -> str:
    return "passes" if passed else "fails"


def _compare_profiles(truth: dict[str, dict[str, float]], told: dict[str, dict[str, float]]) -> Result:
    wrong, answered = [], 0
    for name, figures in truth.items():
        for kind, true in figures.items():
            given = told.get(name, {}).get(kind)
            if given is None:
                continue
            answered += 1
            if not _is_near(kind, given, [true]):
                wrong.append(f"{kind}({name}) is {given:.6g}, where it is {true:.6g}")
    asked = sum(len(figures) for figures in truth.values())
    return {"asked": asked, "answered": answered, "wrong": wrong}


def _is_near(kind: str, value: float, accepted: list[float]) -> bool:
    relative = TOLERANCES.get(kind, EXACT)
    return any(math.isclose(value, true, rel_tol=relative, abs_tol=1e-9) for true in accepted)
