"""`headgate explain`: the recorded verdict on a batch, from the history alone."""

from __future__ import annotations

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.commands.rulings import ruling_to_dict
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult
from headgate.cli.shell_page import make_shell_page


@command("explain")
def explain(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    revision: options.Revision = None,
    output_html: options.Html = None,
) -> CommandResult:
    """Say again why a batch was published or held, from the history alone; no data are read.

    \b
    Examples:
      headgate explain orders 2026-11-14
      headgate explain orders 2026-11-14 --revision 1 --output-json -
      headgate explain orders 2026-11-14 --output-html batch.html
    """
    from headgate.cli.recorded_runs import verdict_of
    from headgate.cli.report_files import WrittenPages, write_page_to
    from headgate.values.run import GATE

    output = options.parse_output(output_html, "--output-html")
    chosen = context.open_project().dataset(dataset)
    gate = chosen.gate
    verdict = verdict_of(chosen, partition, revision)
    rulings = [each for each in gate.store.rulings(dataset, partition) if each.number == verdict.revision.number]
    context.echo(make_shell_page(context, verdict))
    for ruling in rulings:
        if ruling.who != GATE:
            note = f": {ruling.note}" if ruling.note else ""
            context.echo(f"  {ruling.decision.value.capitalize()} by {ruling.who or 'somebody'}{note}")
    if context.verbose:
        context.echo("", verdict.table())
    written = WrittenPages(context)
    if output is not None:
        write_page_to(written, chosen, verdict, output)
    code = exit_codes.UNDELIVERED if written.has_failed else exit_codes.PASSED
    return CommandResult(code, verdict=verdict.to_dict(), rulings=[ruling_to_dict(each) for each in rulings])
