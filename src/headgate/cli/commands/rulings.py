"""`headgate accept`, `reject`, `release` and `discard`: record a person's ruling on a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.values.run import Ruling

_CONSEQUENCES = {
    "accept": "It teaches what is normal, and is published.",
    "reject": "It teaches nothing. Repair the batch, then: headgate run {dataset} --partition {partition}",
    "release": "It is published as it is, and teaches nothing.",
    "discard": "It is dropped, and teaches nothing.",
}


@command("accept")
def accept(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Say that a batch was as it should be: it is published, and the next ones are judged by it too.

    \b
    Examples:
      headgate accept orders 2026-11-14 --note "new tariff"
      headgate accept orders 2026-11-14 --note "new tariff" --who ann
    """
    return record_ruling(context, "accept", dataset, partition, note, who, revision)


@command("reject")
def reject(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Say that a batch was wrong: nothing is learned from it, and it stays held until it is repaired.

    \b
    Examples:
      headgate reject orders 2026-11-14 --note "prices in cents"
      headgate reject orders 2026-11-14 --note "prices in cents" --who ann
    """
    return record_ruling(context, "reject", dataset, partition, note, who, revision)


@command("release")
def release(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Publish a held batch as it is, and learn nothing from it.

    \b
    Examples:
      headgate release orders 2026-11-14 --note "the blizzard"
      headgate release orders 2026-11-14 --note "the blizzard" --who ann
    """
    return record_ruling(context, "release", dataset, partition, note, who, revision)


@command("discard")
def discard(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Drop a held batch for good; its run stays in the history and teaches nothing.

    \b
    Examples:
      headgate discard orders 2026-11-14 --note "sent twice"
      headgate discard orders 2026-11-14 --note "sent twice" --who ann
    """
    return record_ruling(context, "discard", dataset, partition, note, who, revision)


def record_ruling(
    context: CommandContext, action: str, dataset: str, partition: str, note: str, who: str | None, number: int | None
) -> CommandResult:
    """Record a ruling on a batch, carry it out, and print what follows from it."""
    import shlex

    from headgate.cli.recorded_runs import verdict_of

    chosen = context.open_project().dataset(dataset)
    verdict = verdict_of(chosen, partition, number)
    _require_revision(verdict, action, number)
    ruling = getattr(chosen.gate, action)(partition, note=note, who=who or "", number=verdict.revision.number)
    consequence = _CONSEQUENCES[action].format(dataset=shlex.quote(dataset), partition=shlex.quote(partition))
    reason = f" ({ruling.note})" if ruling.note else ""
    if not context.quiet:
        context.echo(f"{dataset} {partition} was {ruling.decision.value} by {ruling.who}{reason}.", consequence)
    return CommandResult(ruling=ruling_to_dict(ruling))


def _require_revision(verdict: BatchVerdict, action: str, number: int | None) -> None:
    """Refuse a ruling that does not say which revision it is about, if the batch has several.

    A newer one may have come since the person read about the batch.
    """
    newest = verdict.revision.number
    if number is not None or newest == 1:
        return
    from headgate.explain.next_steps import quote_for_shell
    from headgate.values.errors import MisuseError

    name = f"{verdict.dataset} {verdict.partition}"
    state = "undecided" if verdict.decision is None else verdict.decision.value
    raise MisuseError(
        f"{name} has {newest} revisions; the newest, {newest}, is {state}.",
        hint=f"If that is the one you mean: headgate {action} {quote_for_shell(verdict.dataset)} "
        f"{quote_for_shell(verdict.partition)} --revision {newest}.",
    )


def ruling_to_dict(ruling: Ruling) -> dict[str, object]:
    """A ruling as it is in the JSON document."""
    return {
        "dataset": ruling.dataset,
        "partition": ruling.partition,
        "revision": ruling.number,
        "decision": ruling.decision.value,
        "who": ruling.who,
        "note": ruling.note,
        "at": ruling.at,
    }
