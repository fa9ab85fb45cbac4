"""`headgate rows`: the failing rows of a batch, with their reasons."""

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
    except UnknownRun:  # not judged yet: only the declared checks are evaluated
        verdict = None
    with context.show_progress(f"rows of {dataset} {partition}", "looking"):
        failing = find_failing_rows(chosen, partition, verdict, limit)
    _check_columns(column or (), failing.columns)
    if failing.rows:
        more = f"; the first {len(failing.rows)}" if failing.total > len(failing.rows) else ""
        break_ = "rows break" if failing.total != 1 else "row breaks"
        context.echo(failing.page(f"{dataset} {partition}: {failing.total:,} {break_} something{more}", column or ()))
    else:
        context.echo(f"{dataset} {partition}: no single row is to blame.")
    records = [{"values": row, "reasons": list(why)} for row, why in zip(failing.rows, failing.reasons, strict=True)]
    return CommandResult(dataset=dataset, partition=partition, total=failing.total, rows=records)


def _check_columns(wanted: Sequence[str], columns: Sequence[str]) -> None:
    from headgate.values.errors import MisuseError, did_you_mean

    for name in wanted:
        if name not in columns:
            raise MisuseError(f"there is no column {name!r};", hint=did_you_mean(name, columns))
