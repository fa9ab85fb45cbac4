"""`headgate discard`: a person's word on a batch."""

from __future__ import annotations

from headgate.cli import options, rulings
from headgate.cli.call import Call
from headgate.cli.command import command
from headgate.cli.output import Answer


@command("discard")
def discard(
    call: Call,
    dataset: options.Dataset,
    partition: options.Place,
    note: rulings.Note = "",
    who: rulings.Who = None,
    revision: options.Revision = None,
) -> Answer:
    """Drop a held batch for good; its run stays in the history and teaches nothing.

    \b
    Examples:
      headgate discard orders 2026-11-14 --note "sent twice"
      headgate discard orders 2026-11-14 --note "sent twice" --who ann
    """
    return rulings.rule(call, "discard", dataset, partition, note, who, revision)
