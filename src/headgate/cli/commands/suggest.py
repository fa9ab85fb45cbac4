"""`headgate suggest`: checks suggested from the data of a batch, as YAML or Python."""

from __future__ import annotations

from typing import Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult


@command("suggest")
def suggest(
    context: CommandContext,
    source: options.Source,
    partition: options.Partition = None,
    column: options.Columns = None,
    format: options.Format = None,
    python: Annotated[bool, typer.Option("--python", help="Print Python code instead of YAML.")] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Print all suggestions with their reasons, also those that do not hold.")
    ] = False,
) -> CommandResult:
    """Suggest checks from a sample of the rows, held against the others; what is printed can be pasted.

    \b
    Examples:
      headgate suggest orders.parquet > checks.yml
      headgate suggest orders.parquet --why
      headgate suggest orders --partition 2026-11-14 --python
    """
    from headgate.cli.input_batch import find_batch
    from headgate.learn.rules.suggest import suggest as suggest_rules

    batch = find_batch(context, source, partition, format)
    with context.show_progress(f"suggestions for {batch.title}"):
        suggestions = suggest_rules(batch.data, batch.name, columns=column)
    if why:
        context.echo(suggestions)
    else:
        context.echo_raw(suggestions.to_python(batch.name) if python else suggestions.to_yaml(batch.name))
    return CommandResult(source=batch.to_dict(), **suggestions.to_dict(), yaml=suggestions.to_yaml(batch.name))
