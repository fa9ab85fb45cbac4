"""`headgate suggest`: checks that a batch suggests itself, to be pasted."""

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
    from headgate.learn.rules.suggest import suggest as suggested

    found = find_batch(context, source, partition, format)
    with context.show_progress(f"suggestions for {found.title}"):
        made = suggested(found.data, found.name, columns=column)
    if why:
        context.echo(made)
    else:
        context.echo_raw(made.to_python(found.name) if python else made.to_yaml(found.name))
    return CommandResult(source=found.to_dict(), **made.to_dict(), yaml=made.to_yaml(found.name))
