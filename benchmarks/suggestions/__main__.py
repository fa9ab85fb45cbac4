"""`python -m benchmarks.suggestions`: a tenth of each real table suggests, the rest judges; writes the page in docs.

Both read the table itself, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.suggestions.data import CHOSEN_ON, Source, sources
from benchmarks.suggestions.page import write_page
from benchmarks.suggestions.paper import paper_suggestions
from benchmarks.timing import versions
from headgate.checks.constraint import expectations
from headgate.checks.rule_context import AnyRuleContext
from headgate.engine.analysis import Analysis
from headgate.engine.row_rule import RowRule
from headgate.engine.rows import failing_rows
from headgate.learn.rules.profile import profile
from headgate.learn.rules.rule import Suggestion
from headgate.learn.rules.split import split_rows
from headgate.learn.rules.suggest import draft_suggestions, measure_coverage, metrics_of
from headgate.metrics.base.registry import from_key
from headgate.values.expectation import Expectation
from headgate.values.outcome import Measured

RESULTS = Path(__file__).parent / "results" / "suggestions.json"
TRAINS = 0.1
SEEDS = (0, 1, 2)
EXAMPLES = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.suggestions", description=__doc__)
    parser.add_argument("--choosing", action="store_true", help="only the tables to choose parameters on; no page")
    parser.add_argument("--page", action="store_true", help="write the page again from the results")
    given = parser.parse_args()
    if not given.page:
        chosen = [each for each in sources() if each.name in CHOSEN_ON or not given.choosing]
        tables = [_measured(source, SEEDS[:1] if given.choosing else SEEDS) for source in chosen]
        found = {"versions": versions("pyarrow", "numpy", "datasketches"), "trains": TRAINS, "seeds": SEEDS} | {
            "tables": tables
        }
        if given.choosing:
            return
        RESULTS.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page(json.loads(RESULTS.read_text(encoding="utf-8")))


def _measured(source: Source, seeds: Sequence[int]) -> dict[str, Any]:
    table = source.read()
    told = {
        "name": source.name,
        "folder": source.folder,
        "what": source.what,
        "chosen_on": source.name in CHOSEN_ON,
        "rows": table.num_rows,
        "columns": table.num_columns,
        "runs": [_run(source, table, seed) for seed in seeds],
    }
    _print(told)
    return told


def _run(source: Source, table: pa.Table, seed: int) -> dict[str, Any]:
    cut = split_rows(table, TRAINS, seed)
    found = profile(cut.training)
    context = AnyRuleContext(found.schema)
    ours = [(each, expectations(each.rule, context)) for each in draft_suggestions(found, source.name)]
    paper = [each for column in found.values() for each in paper_suggestions(column, source.name)]
    theirs = [(each, expectations(each.rule, context)) for each in paper]
    training, rest = cut.measure(metrics_of(asked for _, asked in (*ours, *theirs)))
    sound = [(each, asked) for each, asked in ours if measure_coverage(asked, training.outcomes) in (1.0, None)]
    return {
        "seed": seed,
        "training": found.rows,
        "dropped": len(ours) - len(sound),
        "suggestions": [_told(each, asked, rest, table) for each, asked in sound],
        "paper": [_judged(each, asked, rest) for each, asked in theirs],
    }


def _told(each: Suggestion, asked: Sequence[Expectation], rest: Analysis, table: pa.Table) -> dict[str, Any]:
    told = _judged(each, asked, rest) | {"why": each.why}
    if not told["holds"]:
        told["reason"] = " ".join(one.judge(rest.outcomes[one.metric]).reason for one in asked)
        told["examples"] = _examples(asked[0], rest, table)
    return told


def _judged(each: Suggestion, asked: Sequence[Expectation], rest: Analysis) -> dict[str, Any]:
    share = measure_coverage(asked, rest.outcomes)
    name = each.by or each.rule.name
    return {"constraint": str(each), "by": name, "coverage": share, "holds": share in (1.0, None)}


def _examples(asked: Expectation, rest: Analysis, table: pa.Table) -> list[str]:
    """Values that break an expectation, anywhere in the table: what trained broke none of ours."""
    outcome = rest.outcomes[asked.metric]
    metric = from_key(asked.metric)
    if not isinstance(outcome, Measured) or not isinstance(outcome.value, float):
        return []
    failing = metric.failing_rows(asked.predicate, outcome.value)
    if failing is None:
        return []
    columns = list(failing.columns)
    rows = failing_rows(table.select(columns), [RowRule("", "", failing, metric.where)])
    values = rows[columns[0]].to_pylist()
    return sorted({"null" if value is None else str(value) for value in values}, key=lambda text: (len(text), text))[
        :EXAMPLES
    ]


def _print(told: dict[str, Any]) -> None:
    for run in told["runs"]:
        ours, paper = ([each["holds"] for each in run[key]] for key in ("suggestions", "paper"))
        print(
            f"{told['name']:40} {told['rows']:>8,} x {told['columns']:>3}: {sum(ours)}/{len(ours)} hold, "
            f"paper {sum(paper)}/{len(paper)}, dropped {run['dropped']}",
            flush=True,
        )
        for each in run["suggestions"]:
            if not each["holds"]:
                print(f"    {each['by']}: {each['reason'][:160]} {each['examples']}  [{each['why']}]"[:420])


if __name__ == "__main__":
    main()
