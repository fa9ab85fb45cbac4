"""`headgate learn`: judge the batches that a table has already, so that there is a history on the first day."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headgate.gate.batch_verdict import BatchVerdict

_MOST = 10  # batches that did not pass that are listed

Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="PARTITION", help="The first batch to learn from; else all of them.", show_default=False
    ),
]
FromSnapshots = Annotated[
    bool,
    typer.Option(
        "--from-snapshots",
        help="Take old snapshots of an Iceberg or Delta table as its batches, where a job replaces the whole table.",
    ),
]


@command("learn")
def learn(
    context: CommandContext,
    dataset: options.Dataset,
    since: Since = None,
    from_snapshots: FromSnapshots = False,
) -> CommandResult:
    """Judge the batches that a table has already, in one scan, so that there is a history on the first day.

    Each batch is judged by those before it. Nothing is held, published or told: what is there stays as it is. Nothing
    is learned from a batch that does not pass, until you accept it. Batches that the history has are left out, so the
    command may be called again. It is for sources whose where: names a column, as day = '{partition}'; batches in
    folders of their own are judged by headgate run.

    \b
    Examples:
      headgate learn orders
      headgate learn orders --since 2026-06-01
      headgate learn prices --from-snapshots
    """
    chosen = context.open_project().dataset(dataset)
    with context.show_progress(dataset) as report:
        verdicts, unread = chosen.learn(since=since, from_snapshots=from_snapshots, progress=report)
    for line in _describe(dataset, verdicts, len(chosen.gate.store.revisions(dataset))):
        context.echo(line)
    for partition, error in list(unread.items())[:_MOST]:
        context.echo_err(f"warning: {partition} cannot be read, and is left out: {error}")
    failed = [each.partition for each in verdicts if not each.passed]
    judged = [each.partition for each in verdicts]
    code = exit_codes.UNKNOWN if unread and not judged else exit_codes.PASSED
    return CommandResult(code, dataset=dataset, judged=judged, failed=failed, unread=list(unread))


def _describe(dataset: str, verdicts: Sequence[BatchVerdict], recorded: int) -> Iterator[str]:
    if not verdicts:
        yield f"{dataset}: no batch is new; the history has {recorded:,}."
        return
    failed = [each for each in verdicts if not each.passed]
    first, last = verdicts[0].partition, verdicts[-1].partition
    many, count = f"{len(verdicts):,} batches judged, {first} to {last}", f"{len(failed):,} did not pass"
    yield f"{dataset}: {many if len(verdicts) > 1 else f'1 batch judged, {first}'}; {count}."
    for verdict in failed[:_MOST]:
        yield f"  {verdict.partition}: {verdict.causes[0].title if verdict.causes else verdict.status.value}"
    if len(failed) > _MOST:
        yield f"  ... and {len(failed) - _MOST:,} more; headgate history {shlex.quote(dataset)} lists them."
    if failed:
        name = shlex.quote(dataset)
        yield "Nothing is learned from these. Look at one, and accept it if it was right:"
        yield f"  headgate explain {name} {shlex.quote(failed[0].partition)}"
        yield f"  headgate accept {name} {shlex.quote(failed[0].partition)} --note '...'"
