"""`headgate profile`: a summary of every column of a batch."""

from __future__ import annotations

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult


@command("profile")
def profile(
    context: CommandContext,
    source: options.Source,
    partition: options.Partition = None,
    column: options.Columns = None,
    format: options.Format = None,
) -> CommandResult:
    """Show every column of a file or a batch at a glance: type, share present, distinct values, range, top values.

    \b
    Examples:
      headgate profile orders.parquet
      headgate profile orders.csv --column price --column country
      headgate profile orders --partition 2026-11-14 --output-json profile.json
    """
    from headgate.cli.input_batch import find_batch
    from headgate.learn.rules.profile import profile as profile_columns

    batch = find_batch(context, source, partition, format)
    with context.show_progress(f"profile of {batch.title}") as report:
        result = profile_columns(batch.data, column, progress=report)
    context.echo(result)
    return CommandResult(source=batch.to_dict(), profile=result.to_dict())
