"""`python -m benchmarks.diagnosis run`: whether the gate names the fault of a held batch.

`incidents` writes what the gate says of each real incident, `cost` what a diagnosis of many columns takes.
`collect --cache DIR` keeps all that is needed to diagnose the held cases again without judging them; `run` with the
same directory takes the rows from there.
`page` writes docs/diagnosis-benchmark.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.diagnosis.cost import measure_cost
from benchmarks.diagnosis.incidents import format_incidents, judge_incidents
from benchmarks.diagnosis.page import write_page
from benchmarks.diagnosis.protocol import BUDGET, Plan, judge_feed, order_feeds
from benchmarks.diagnosis.summary import format_summary
from benchmarks.gate.good_batches import judge_feeds, write_results
from benchmarks.history.feeds import Feed, feeds, held_out_feeds

_PACKAGED = "pooled rates of the package, without the rarities of the dataset itself; nested ones take hours to gather"
RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    RESULTS.mkdir(exist_ok=True)
    match options.command:
        case "page":
            write_page(RESULTS)
        case "incidents":
            rows = judge_incidents(options.workers, options.packaged_rates)
            write_results(RESULTS / "incidents.json", rows)
            print(format_incidents(rows))
        case "cost":
            text = json.dumps(measure_cost(options.columns, options.rows, options.rounds), indent=1)
            (RESULTS / "cost.json").write_text(f"{text}\n", encoding="utf-8")
            print(text)
        case _:
            _judge_faults(options)


def _judge_faults(options: argparse.Namespace) -> None:
    chosen = held_out_feeds() if options.held_out else choose_feeds(options.datasets, options.feeds)
    plan = Plan(broken=options.broken, cache=options.cache, packaged_rates=options.packaged_rates)
    judge = partial(judge_feed, plan=plan)
    if options.workers == 1:
        rows = [row for feed in order_feeds(chosen) for row in judge(feed, BUDGET)]
    else:
        rows = judge_feeds(judge, options.workers, BUDGET, chosen)
    if options.command == "run":
        write_results(RESULTS / ("diagnosis_heldout.json" if options.held_out else "diagnosis.json"), rows)
    print(format_summary(rows))


def choose_feeds(datasets: str, names: Sequence[str] = ()) -> list[Feed]:
    """The feeds of some datasets: those that parameters were chosen on, the others, or all; of these, those named."""
    chosen = [feed for feed in feeds() if datasets == "all" or feed.chosen_on == (datasets == "chosen")]
    return [feed for feed in chosen if not names or feed.name in names or feed.title in names]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnosis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("page", help="write docs/diagnosis-benchmark.md from the results")
    command = commands.add_parser("incidents", help="judge the real incidents and write results")
    command.add_argument("--workers", type=int, default=2)
    command.add_argument("--packaged-rates", action="store_true", help=_PACKAGED)
    command = commands.add_parser("cost", help="measure what a diagnosis takes and write results")
    for name, default in {"columns": 50, "rows": 20_000, "rounds": 7}.items():
        command.add_argument(f"--{name}", type=int, default=default)
    for name, text in {"run": "judge all feeds and write results", "collect": "keep held cases in a cache"}.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("--datasets", choices=("chosen", "others", "all"), default="all")
        command.add_argument("--feeds", nargs="*", default=(), help="names of feeds; all if none are given")
        command.add_argument("--held-out", action="store_true", help="the feeds that nothing is chosen on")
        command.add_argument("--broken", type=int, help="batches of each feed that are broken")
        command.add_argument("--workers", type=int, default=2)
        command.add_argument("--packaged-rates", action="store_true", help=_PACKAGED)
        command.add_argument("--cache", type=Path, required=name == "collect", help="outside the repository")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
