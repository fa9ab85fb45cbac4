"""`headgate accept`, `reject`, `release` and `discard`: record a person's ruling on a batch, or on a range of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.project import Dataset
    from headgate.values.run import Ruling

_RANGE = ".."
_CONSEQUENCES = {
    "accept": "It teaches what is normal, and is published.",
    "reject": "It teaches nothing. Repair the batch, then: headgate run {dataset} --partition {partition}",
    "release": "It is published as it is, and teaches nothing.",
    "discard": "It is dropped, and teaches nothing.",
}
_RANGE_CONSEQUENCES = {
    "accept": "They teach what is normal, and are published.",
    "reject": "They teach nothing. Repair the batches, then judge them again: headgate run {dataset}",
    "release": "They are published as they are, and teach nothing.",
    "discard": "They are dropped, and teach nothing.",
}


@command("accept")
def accept(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionsArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Say that a batch was as it should be: it is published, and the next ones are judged by it too.

    FROM..TO accepts all held batches from one partition to another, in their order: a new normal.

    \b
    Examples:
      headgate accept orders 2026-11-14 --note "new tariff"
      headgate accept orders 2026-11-14 --note "new tariff" --who ann
      headgate accept orders 2026-11-12..2026-11-14 --note "new tariff"
    """
    return record_ruling(context, "accept", dataset, partition, note, who, revision)


@command("reject")
def reject(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionsArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Say that a batch was wrong: nothing is learned from it, and it stays held until it is repaired.

    FROM..TO rejects all held batches from one partition to another.

    \b
    Examples:
      headgate reject orders 2026-11-14 --note "prices in cents"
      headgate reject orders 2026-11-14 --note "prices in cents" --who ann
      headgate reject orders 2026-11-12..2026-11-14 --note "prices in cents"
    """
    return record_ruling(context, "reject", dataset, partition, note, who, revision)


@command("release")
def release(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionsArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Publish a held batch as it is, and learn nothing from it.

    FROM..TO releases all held batches from one partition to another.

    \b
    Examples:
      headgate release orders 2026-11-14 --note "the blizzard"
      headgate release orders 2026-11-14 --note "the blizzard" --who ann
      headgate release orders 2026-11-12..2026-11-14 --note "the blizzard"
    """
    return record_ruling(context, "release", dataset, partition, note, who, revision)


@command("discard")
def discard(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionsArgument,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Drop a held batch for good; its run stays in the history and teaches nothing.

    FROM..TO discards all held batches from one partition to another.

    \b
    Examples:
      headgate discard orders 2026-11-14 --note "sent twice"
      headgate discard orders 2026-11-14 --note "sent twice" --who ann
      headgate discard orders 2026-11-12..2026-11-14 --note "sent twice"
    """
    return record_ruling(context, "discard", dataset, partition, note, who, revision)


def record_ruling(
    context: CommandContext, action: str, dataset: str, partition: str, note: str, who: str | None, number: int | None
) -> CommandResult:
    """Record a ruling on a batch or on a range of them, carry it out, and print what follows from it."""
    import shlex

    from headgate.cli.recorded_runs import verdict_of

    chosen = context.open_project().dataset(dataset)
    ends = find_range(chosen, partition)
    if ends is not None:
        return _record_range(context, action, chosen, ends, note, who, number)
    verdict = verdict_of(chosen, partition, number)
    _require_revision(verdict, action, number)
    ruling = getattr(chosen.gate, action)(partition, note=note, who=who or "", number=verdict.revision.number)
    consequence = _CONSEQUENCES[action].format(dataset=shlex.quote(dataset), partition=shlex.quote(partition))
    if not context.quiet:
        context.echo(_format_ruling(ruling), consequence)
    return CommandResult(ruling=ruling_to_dict(ruling))


def find_range(dataset: Dataset, text: str) -> tuple[str, str] | None:
    """The first and the last partition of a range, FROM..TO; None if the text is the name of one partition.

    A partition of exactly this name is meant by it. If `..` stands in it several times, both ends must be known.
    """
    from headgate.values.errors import MisuseError

    if _RANGE not in text or dataset.gate.store.revisions(dataset.name, text) or text in dataset.partitions():
        return None
    cuts = [at for at in range(len(text)) if text.startswith(_RANGE, at)]
    ends = [(text[:at], text[at + len(_RANGE) :]) for at in cuts]
    if len(ends) > 1:
        known = {each.partition for each in dataset.gate.store.revisions(dataset.name)}
        ends = [each for each in ends if known.issuperset(each)]
    if len(ends) != 1 or not all(ends[0]):
        raise MisuseError(
            f"{text} is neither a partition of {dataset.name} nor a range of them.",
            hint="Write the first and the last partition: 2026-11-12..2026-11-14.",
        )
    return ends[0]


def _record_range(
    context: CommandContext,
    action: str,
    dataset: Dataset,
    ends: tuple[str, str],
    note: str,
    who: str | None,
    number: int | None,
) -> CommandResult:
    import shlex

    from headgate.values.errors import MisuseError

    if number is not None:
        raise MisuseError("--revision is of one batch, not of a range.", hint="Name the batch alone, or leave it out.")
    rulings = getattr(dataset.gate, f"{action}_range")(*ends, note=note, who=who or "")
    if not context.quiet:
        count = f"{len(rulings):,} batch{'es' * (len(rulings) != 1)} {rulings[0].decision.value}."
        consequence = _RANGE_CONSEQUENCES[action].format(dataset=shlex.quote(dataset.name))
        context.echo(*map(_format_ruling, rulings), f"{count} {consequence}")
    return CommandResult(rulings=[ruling_to_dict(each) for each in rulings])


def _format_ruling(ruling: Ruling) -> str:
    reason = f" ({ruling.note})" if ruling.note else ""
    return f"{ruling.dataset} {ruling.partition} was {ruling.decision.value} by {ruling.who}{reason}."


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
