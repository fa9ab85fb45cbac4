"""`headgate history`: the runs of a dataset, or one metric over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.commands.mutes import mute_to_dict
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.project.budgets import TableBudget
    from headgate.values.rarity_memory import RarityMemory

Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="METRIC", help='One metric over the runs: "mean(price)".', show_default=False),
]
Last = Annotated[
    int | None,
    typer.Option(
        "--last",
        "-n",
        metavar="N",
        min=1,
        help="How many of the newest runs; 30, or those of a day where several come in a day.",
        show_default=False,
    ),
]


@command("history")
def history(
    context: CommandContext, dataset: options.Dataset, metric: Metric = None, last: Last = None
) -> CommandResult:
    """List the runs of a dataset with status, decision, rows and causes; or one metric over them, with its band.

    Where several runs come in a day, those one after another that had the same outcome are one line.
    Below the runs stand the budget, the calendar, the columns that are muted now, what has slowly moved far, and how
    many batches wait for a decision.

    \b
    Examples:
      headgate history orders
      headgate history orders --last 7 --output-json -
      headgate history orders --metric "mean(price)"
    """
    from headgate.cli import recorded_runs
    from headgate.explain.batches_alike import describe_batches, describe_waiting, group_batches_alike
    from headgate.explain.next_steps import shell_range_commands
    from headgate.explain.verdict_page import summarize_budget

    chosen = context.open_project().dataset(dataset)
    gate = chosen.gate
    runs = recorded_runs.read_runs(gate, last)
    if not runs:
        context.echo(f"{dataset} has no recorded run.")
        return CommandResult(dataset=dataset, runs=[])
    if metric is None:
        calendar = chosen.calendar(list(dict.fromkeys(each.verdict.partition for each in runs)))
        memory = runs[-1].verdict.account.rarities
        context.echo(recorded_runs.runs_page(runs))
        mutes = gate.mutes.find_active()
        context.echo(f"Budget: {summarize_budget(chosen.budget.share, memory, chosen.budget.source)}.")
        context.echo(f"Calendar: {calendar.describe()}.", *(f"{each.describe()}." for each in mutes))
        for each in runs:
            context.echo(*(f"Drift on {each.verdict.partition}: {drift}." for drift in each.verdict.drifts))
        if waiting := gate.history.find_waiting():
            context.echo(f"{describe_waiting([each.partition for each in waiting])}.")
        for together in group_batches_alike([each.verdict for each in runs]):
            accept, _ = shell_range_commands(dataset, together)
            context.echo(f"{describe_batches(together)}.", f"  if that is the new normal: {accept.whole}")
        return CommandResult(
            dataset=dataset,
            budget=budget_to_dict(chosen.budget, memory),
            cadence=calendar.cadence.value,
            runs=[each.to_dict() for each in runs],
            mutes=[mute_to_dict(each) for each in mutes],
        )
    points = recorded_runs.read_series(gate, runs, metric)
    context.echo(recorded_runs.series_page(metric, points, context.width))
    return CommandResult(dataset=dataset, metric=metric, series=[each.to_dict() for each in points])


def budget_to_dict(budget: TableBudget, memory: RarityMemory) -> dict[str, Any]:
    """The budget of a table: as it is stated, as good batches were held so far, and as limits are found."""
    from headgate.learn.rarity_limit import find_working_budget

    return {
        "stated": budget.share,
        "source": budget.source,
        "judged_by_limits": round(memory.runs, 1),
        "held_and_accepted": round(memory.alarms, 1),
        "working": find_working_budget(budget.share, memory),
    }
