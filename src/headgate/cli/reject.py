"""`headgate reject`: a person's word on a batch."""

from __future__ import annotations

from headgate.cli import options, rulings
from headgate.cli.call import Call
from headgate.cli.command import command
from headgate.cli.output import Answer


@command("reject")
def reject(
    call: Call,
    dataset: options.Dataset,
    partition: options.Place,
    note: rulings.Note = "",
    who: rulings.Who = None,
    revision: options.Revision = None,
) -> Answer:
    """Say that a batch was wrong: nothing is learned from it, and it stays held until it is repaired.

    \b
    Examples:
      headgate reject orders 2026-11-14 --note "prices in cents"
      headgate reject orders 2026-11-14 --note "prices in cents" --who ann
    """
    return rulings.rule(call, "reject", dataset, partition, note, who, revision)
