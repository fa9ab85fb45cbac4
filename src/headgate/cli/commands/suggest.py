"""`headgate suggest`: checks that a batch suggests itself, to be pasted."""

from __future__ import annotations

from typing import Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import Call
from headgate.cli.output import Answer


@command("suggest")
def suggest(
    call: Call,
    source: options.Source,
    partition: options.Partition = None,
    column: options.Columns = None,
    format: options.Format = None,
    python: Annotated[bool, typer.Option("--python", help="Print Python code instead of YAML.")] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Print all suggestions with their reasons, also those that do not hold.")
    ] = False,
) -> Answer:
    """Suggest checks from a sample of the rows, held against the others; what is printed can be pasted.

    \b
    Examples:
      headgate suggest orders.parquet > checks.yml
      headgate suggest orders.parquet --why
      headgate suggest orders --partition 2026-11-14 --python
    """
    from headgate.cli.input_batch import find
    from headgate.learn.rules.suggest import suggest as suggested

    found = find(call, source, partition, format)
    with call.progress(f"suggestions for {found.title}"):
        made = suggested(found.data, found.name, columns=column)
    if why:
        call.say(made)
    else:
        call.raw(made.to_python(found.name) if python else made.to_yaml(found.name))
    return Answer(source=found.told(), **made.to_dict(), yaml=made.to_yaml(found.name))
