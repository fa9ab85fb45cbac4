"""`headgate accept`, `reject`, `release` and `discard`: record a person's ruling on a batch, or on a range of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.gate.batch_verdict import BatchVerdict
    from headgate.project.dataset import Dataset
    from headgate.values.run import Ruling

_RANGE = ".."


class RulingWords(NamedTuple):
    """What the help of a ruling says, and what is printed after it."""

    summary: str
    range_summary: str
    reason: str  # the note of the examples
    consequence: str
    range_consequence: str
    more: str = ""  # a further paragraph of the help


_WORDS = {
    "accept": RulingWords(
        "Say that a batch was as it should be: it is published, and the next ones are judged by it too.",
        "accepts all held batches from one partition to another, in their order: a new normal.",
        "new tariff",
        "It teaches what is normal, and is published. To undo what it taught: {reject}",
        "They teach what is normal, and are published. To undo what one of them taught: {reject}",
        "It first prints what that does to the ranges of the next batch. Then it asks, if standard input is a terminal."
        " It does not ask with --yes, with --output-json - or without a terminal. If you answer no, nothing is recorded"
        " and the exit code is 1. --quiet prints no ranges.\n\n",
    ),
    "reject": RulingWords(
        "Say that a batch was wrong: nothing is learned from it, and it stays held until it is repaired.",
        "rejects all held batches from one partition to another.",
        "prices in cents",
        "It teaches nothing. Repair the batch, then: headgate run {dataset} --partition {partition}",
        "They teach nothing. Repair the batches, then judge them again: headgate run {dataset}",
    ),
    "release": RulingWords(
        "Publish a held batch as it is, and learn nothing from it.",
        "releases all held batches from one partition to another.",
        "the blizzard",
        "It is published as it is, and teaches nothing.",
        "They are published as they are, and teach nothing.",
    ),
    "discard": RulingWords(
        "Drop a held batch for good; its run stays in the history and teaches nothing.",
        "discards all held batches from one partition to another.",
        "sent twice",
        "It is dropped, and teaches nothing.",
        "They are dropped, and teach nothing.",
    ),
}
_HELP = """{words.summary}

FROM..TO {words.range_summary}

{words.more}\b
Examples:
  headgate {action} orders 2026-11-14 --note "{words.reason}"
  headgate {action} orders 2026-11-14 --note "{words.reason}" --who ann
  headgate {action} orders 2026-11-12..2026-11-14 --note "{words.reason}"
"""


class NamedBatches(NamedTuple):
    """The batch that a person names, or the first and the last of a range."""

    dataset: Dataset
    first: str
    last: str | None
    number: int | None

    @property
    def is_range(self) -> bool:
        return self.last is not None


def make_ruling_command(action: str) -> Callable[..., None]:
    """The command of a ruling that asks nothing: all of them take the same options."""

    def rule(
        context: CommandContext,
        dataset: options.Dataset,
        partition: options.PartitionsArgument,
        note: options.Note = "",
        who: options.Who = None,
        revision: options.Revision = None,
    ) -> CommandResult:
        batches = find_named_batches(context, action, dataset, partition, revision)
        return record_ruling(context, action, batches, note, who)

    rule.__doc__ = _HELP.format(action=action, words=_WORDS[action])
    return command(action)(rule)


def make_accept_command() -> Callable[..., None]:
    """The command that accepts. It first shows what that does to the next ranges, and may ask."""

    def rule(
        context: CommandContext,
        dataset: options.Dataset,
        partition: options.PartitionsArgument,
        note: options.Note = "",
        who: options.Who = None,
        revision: options.Revision = None,
        yes: options.Yes = False,
    ) -> CommandResult:
        from headgate.cli.accept_preview import confirm_accept, preview_to_list, show_preview

        batches = find_named_batches(context, "accept", dataset, partition, revision)
        changes = show_preview(context, batches.dataset.gate, batches.first, batches.last, batches.number)
        preview = {} if changes is None else {"preview": preview_to_list(changes)}
        if not yes and not confirm_accept(context, is_range=batches.is_range):
            return CommandResult(exit_codes.FAILED, rulings=[], **preview)
        result = record_ruling(context, "accept", batches, note, who)
        return CommandResult(result.exit_code, **result.body, **preview)

    rule.__doc__ = _HELP.format(action="accept", words=_WORDS["accept"])
    return command("accept")(rule)


def find_named_batches(
    context: CommandContext, action: str, dataset: str, partition: str, number: int | None
) -> NamedBatches:
    """The batches that are ruled on. A batch that is not judged yet, or of several revisions, is refused.

    Args:
        context: The call.
        action: The ruling.
        dataset: The name of the dataset.
        partition: A partition, or FROM..TO.
        number: The revision that was named.
    """
    from headgate.cli.recorded_runs import verdict_of

    chosen = context.open_project().dataset(dataset)
    first, last = find_range(chosen, partition) or (partition, None)
    if last is None:
        verdict = verdict_of(chosen, partition, number)
        _require_revision(verdict, action, number)
        number = verdict.revision.number
    return NamedBatches(chosen, first, last, number)


def record_ruling(
    context: CommandContext, action: str, batches: NamedBatches, note: str, who: str | None
) -> CommandResult:
    """Record a ruling on a batch or on a range of them, carry it out, and print what follows from it.

    Args:
        context: The call.
        action: The ruling.
        batches: What is ruled on.
        note: Why.
        who: Who says so; None for the name that the person is logged in with.
    """
    rule = getattr(batches.dataset.gate, action)
    rulings = rule(batches.first, to=batches.last, note=note, who=who or "", number=batches.number)
    if not context.quiet:
        context.echo(*map(format_ruling, rulings), _format_consequence(action, rulings, is_range=batches.is_range))
    described = [ruling_to_dict(each) for each in rulings]
    return CommandResult(rulings=described) if batches.is_range else CommandResult(ruling=described[0])


def _format_consequence(action: str, rulings: Sequence[Ruling], *, is_range: bool) -> str:
    """What follows from the rulings; of a range, after their number."""
    import shlex

    dataset, partition = shlex.quote(rulings[0].dataset), shlex.quote(rulings[0].partition)
    words = _WORDS[action].range_consequence if len(rulings) > 1 else _WORDS[action].consequence
    reject = f"headgate reject {dataset} {partition} --revision {rulings[0].number}"
    consequence = words.format(dataset=dataset, partition=partition, reject=reject)
    count = f"{len(rulings):,} batch{'es' * (len(rulings) != 1)} {rulings[0].decision.value}. " if is_range else ""
    return count + consequence


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


def format_ruling(ruling: Ruling) -> str:
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


accept = make_accept_command()
reject = make_ruling_command("reject")
release = make_ruling_command("release")
discard = make_ruling_command("discard")
