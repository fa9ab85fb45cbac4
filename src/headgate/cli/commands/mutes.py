"""`headgate mute` and `unmute`: record that what was learned of a column holds no batch for some time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.values.mute import Mute

Column = Annotated[
    str,
    typer.Argument(metavar="COLUMN", help="The column; * stands for any characters.", show_default=False),
]
Until = Annotated[
    str,
    typer.Option(
        "--until", metavar="DATE", help="When it ends: 2026-12-01, or 2026-12-01T06:00, in UTC.", show_default=False
    ),
]


@command("mute")
def mute(
    context: CommandContext,
    dataset: options.Dataset,
    column: Column,
    until: Until,
    note: options.Note = "",
    who: options.Who = None,
) -> CommandResult:
    """Let what was learned of a column hold no batch until a time.

    Checks and pins of the column apply. The mute is recorded, and ends by itself.

    \b
    Examples:
      headgate mute orders comment --until 2026-12-01 --note backfill
      headgate mute orders "debug_*" --until 2026-12-01T06:00 --who ann
    """
    recorded = context.open_project().dataset(dataset).gate.mute(column, until=until, note=note, who=who or "")
    return _report_mute(context, recorded)


@command("unmute")
def unmute(
    context: CommandContext,
    dataset: options.Dataset,
    column: Column,
    note: options.Note = "",
    who: options.Who = None,
) -> CommandResult:
    """End a mute before its time: what was learned of the column holds batches again.

    \b
    Examples:
      headgate unmute orders comment
      headgate unmute orders comment --note "backfill is done" --who ann
    """
    recorded = context.open_project().dataset(dataset).gate.unmute(column, note=note, who=who or "")
    return _report_mute(context, recorded)


def _report_mute(context: CommandContext, recorded: Mute) -> CommandResult:
    if not context.quiet:
        context.echo(f"{recorded.dataset}: {recorded.describe()}.")
    return CommandResult(mute=mute_to_dict(recorded))


def mute_to_dict(mute: Mute) -> dict[str, object]:
    """A mute as it is in the JSON document."""
    return {
        "dataset": mute.dataset,
        "column": mute.column,
        "until": mute.until,
        "who": mute.who,
        "note": mute.note,
        "at": mute.at,
    }
