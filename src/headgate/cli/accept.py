"""`headgate accept`: a person's word on a batch."""

from __future__ import annotations

from headgate.cli import options, rulings
from headgate.cli.call import Call
from headgate.cli.command import command
from headgate.cli.output import Answer


@command("accept")
def accept(
    call: Call,
    dataset: options.Dataset,
    partition: options.Place,
    note: rulings.Note = "",
    who: rulings.Who = None,
    revision: options.Revision = None,
) -> Answer:
    """Say that a batch was as it should be: it is published, and the next ones are judged by it too.

    \b
    Examples:
      headgate accept orders 2026-11-14 --note "new tariff"
      headgate accept orders 2026-11-14 --note "new tariff" --who ann
    """
    return rulings.rule(call, "accept", dataset, partition, note, who, revision)
