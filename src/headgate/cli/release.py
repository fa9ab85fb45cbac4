"""`headgate release`: a person's word on a batch."""

from __future__ import annotations

from headgate.cli import options, rulings
from headgate.cli.call import Call
from headgate.cli.command import command
from headgate.cli.output import Answer


@command("release")
def release(
    call: Call,
    dataset: options.Dataset,
    partition: options.Place,
    note: rulings.Note = "",
    who: rulings.Who = None,
    revision: options.Revision = None,
) -> Answer:
    """Publish a held batch as it is, and learn nothing from it.

    \b
    Examples:
      headgate release orders 2026-11-14 --note "the blizzard"
      headgate release orders 2026-11-14 --note "the blizzard" --who ann
    """
    return rulings.rule(call, "release", dataset, partition, note, who, revision)
