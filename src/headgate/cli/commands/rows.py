"""`headgate rows`: the rows of a batch that break something, with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many rows are shown.")]


@command("rows")
def rows(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    limit: Limit = 10,
    column: options.Columns = None,
) -> CommandResult:
    """Show the rows of a batch that break an expectation, with the reasons; the data are read again.

    Values of the data are shown here, as you ask for them. A failure that no single row is to blame for, such as a
    mean out of its range, has no rows.

    \b
    Examples:
      headgate rows orders 2026-11-14
      headgate rows orders 2026-11-14 --limit 50 --column order_id --column price
    """
    from headgate.cli.failing_rows import find_failing_rows
    from headgate.values.errors import UnknownRun

    chosen = context.open_project().dataset(dataset)
    try:
        verdict = chosen.gate.explain(partition)
    except UnknownRun:  # it waits: then the declared checks are all there is
        verdict = None
    with context.show_progress(f"rows of {dataset} {partition}", "looking"):
        found = find_failing_rows(chosen, partition, verdict, limit)
    _check_columns(column or (), found.columns)
    if found.rows:
        more = f"; the first {len(found.rows)}" if found.total > len(found.rows) else ""
        break_ = "rows break" if found.total != 1 else "row breaks"
        context.echo(found.page(f"{dataset} {partition}: {found.total:,} {break_} something{more}", column or ()))
    else:
        context.echo(f"{dataset} {partition}: no single row is to blame.")
    told = [{"values": row, "reasons": list(why)} for row, why in zip(found.rows, found.reasons, strict=True)]
    return CommandResult(dataset=dataset, partition=partition, total=found.total, rows=told)


def _check_columns(wanted: Sequence[str], columns: Sequence[str]) -> None:
    from headgate.values.errors import MisuseError, did_you_mean

    for name in wanted:
        if name not in columns:
            raise MisuseError(f"there is no column {name!r};", hint=did_you_mean(name, columns))
