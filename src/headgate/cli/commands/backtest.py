"""`headgate backtest`: what the gate would have done with the recorded batches under several budgets."""

from __future__ import annotations

from typing import Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

Budgets = Annotated[
    list[float] | None,
    typer.Option(
        "--budget",
        metavar="SHARE",
        help="A share of good batches that may be held, to be tried; repeat it. Else 0.002 to 0.05.",
        show_default=False,
    ),
]
Spots = Annotated[
    int, typer.Option("--spots", metavar="N", min=0, help="Good batches into which issues are injected; 0 for none.")
]


@command("backtest")
def backtest(
    context: CommandContext, dataset: options.Dataset, budget: Budgets = None, spots: Spots = 12
) -> CommandResult:
    """Judge the recorded batches again with several budgets: what would be held, what missed, which budget to take.

    \b
    Examples:
      headgate backtest orders
      headgate backtest orders --budget 0.01 --budget 0.05
      headgate backtest orders --spots 0 --output-json backtest.json
    """
    from headgate.gate.backtest.backtest import BUDGETS
    from headgate.values.errors import MisuseError

    for share in budget or ():
        if not 0 < share < 1:
            raise MisuseError(
                f"--budget {share:g} is no share of good batches between 0 and 1.", hint="Write --budget 0.01."
            )
    gate = context.open_project().dataset(dataset).gate
    with context.show_progress(f"backtest of {dataset}") as report:
        result = gate.backtest(budgets=budget or BUDGETS, spots=spots, progress=report)
    context.echo(result)
    return CommandResult(backtest=result.to_dict())
