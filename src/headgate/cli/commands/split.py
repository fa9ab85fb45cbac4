"""`headgate split`: publish the good rows of a held batch, and keep the bad ones with their reasons.

Tested by `tests/cli/commands/test_split.py`, on real tables by `tests/integrations/tables/test_project.py`.
"""

from __future__ import annotations

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult


@command("split")
def split(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Publish the good rows of a held batch, and keep the bad ones with their reasons.

    For batches that are published into a table, where single rows are to blame for all that failed. The bad rows go to
    the table that publish: {quarantine: ...} names. Nothing is learned from the batch.

    \b
    Examples:
      headgate split orders 2026-11-14 --note "two prices below zero"
    """
    from headgate.cli.commands.rulings import find_named_batches, format_ruling, ruling_to_dict
    from headgate.cli.recorded_runs import verdict_of

    batch = find_named_batches(context, "split", dataset, partition, revision)
    verdict = verdict_of(batch.dataset, partition, batch.number)
    with context.show_progress(f"{dataset} {partition}", "splitting"):
        done = batch.dataset.split(verdict, note=note or "rows split", who=who or "")
    if not context.quiet:
        rows = f"{done.good:,} rows are published, {done.bad:,} are kept in {done.location}."
        context.echo(format_ruling(done.ruling), rows, "Repair them, and judge the batch again: docs/guides/tables.md.")
    return CommandResult(ruling=ruling_to_dict(done.ruling), published=done.good, kept=done.bad, location=done.location)
