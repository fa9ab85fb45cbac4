"""`headgate recover`: finish what an interrupted command has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.judge_batches import BatchResult


@command("recover")
def recover(
    context: CommandContext, datasets: options.Datasets = None, fail_on: options.FailOnOption = options.FailOn.ERROR
) -> CommandResult:
    """Finish what an interrupted command has left, and judge nothing new.

    A batch that was judged and not yet published or held is published or held now, as its recorded verdict says. What
    a person has decided is carried out. headgate run does the same before it judges. It may be called at any time.

    \b
    Examples:
      headgate recover
      headgate recover orders --output-json recovered.json
    """
    from headgate.cli.commands import run_summary
    from headgate.cli.judge_batches import finish_batches

    project = context.open_project()
    chosen = [project.dataset(name) for name in dict.fromkeys(datasets or project.names)]
    results: list[BatchResult] = []
    for dataset in chosen:
        for result in finish_batches(dataset):
            results.append(result)
            run_summary.print_batch(context, result)
    if not context.quiet:
        if results:
            context.echo(run_summary.format_total(results))
        else:
            context.echo("Nothing was left unfinished.")
    return CommandResult(
        exit_codes.worst_code(each.exit_code(fail_on) for each in results),
        batches=[each.to_dict(fail_on, context.secrets) for each in results],
        summary=run_summary.count_results(results),
    )
