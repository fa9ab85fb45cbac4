"""`headgate history`: the runs of a dataset, or one metric over them."""

from __future__ import annotations

from typing import Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import Call
from headgate.cli.output import Answer

Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="METRIC", help='One metric over the runs: "mean(price)".', show_default=False),
]
Last = Annotated[int, typer.Option("--last", "-n", metavar="N", min=1, help="How many of the newest runs.")]


@command("history")
def history(call: Call, dataset: options.Dataset, metric: Metric = None, last: Last = 30) -> Answer:
    """List the runs of a dataset with status, decision, rows and causes; or one metric over them, with its band.

    \b
    Examples:
      headgate history orders
      headgate history orders --last 7 --output-json -
      headgate history orders --metric "mean(price)"
    """
    from headgate.cli import recorded_runs

    gate = call.project().dataset(dataset).gate
    found = recorded_runs.recorded(gate, last)
    if not found:
        call.say(f"{dataset} has no recorded run.")
        return Answer(dataset=dataset, runs=[])
    if metric is None:
        call.say(recorded_runs.grid(found))
        return Answer(dataset=dataset, runs=[each.told() for each in found])
    points = recorded_runs.series(gate, found, metric)
    call.say(recorded_runs.series_page(metric, points, call.width))
    return Answer(dataset=dataset, metric=metric, series=[each.told() for each in points])
