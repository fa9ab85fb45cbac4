"""`headgate explain`: the verdict on a recorded batch, told again from the history."""

from __future__ import annotations

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.commands.rulings import told
from headgate.cli.context import Call
from headgate.cli.output import Answer
from headgate.cli.verdict_story import story


@command("explain")
def explain(
    call: Call,
    dataset: options.Dataset,
    partition: options.Place,
    revision: options.Revision = None,
    output_html: options.Html = None,
) -> Answer:
    """Say again why a batch was published or held, from the history alone; no data are read.

    \b
    Examples:
      headgate explain orders 2026-11-14
      headgate explain orders 2026-11-14 --revision 1 --output-json -
      headgate explain orders 2026-11-14 --output-html batch.html
    """
    from headgate.cli.recorded_runs import verdict_of
    from headgate.cli.report_files import Written, write_to

    chosen = call.project().dataset(dataset)
    gate = chosen.gate
    verdict = verdict_of(chosen, partition, revision)
    rulings = [each for each in gate.store.rulings(dataset, partition) if each.number == verdict.revision.number]
    call.say(story(call, verdict))
    for each in rulings:
        if each.who != "gate":
            said = f": {each.note}" if each.note else ""
            call.say(f"  {each.decision.value.capitalize()} by {each.who or 'somebody'}{said}")
    if call.verbose:
        call.say("", verdict.table())
    written = Written(call)
    if output_html is not None:
        write_to(written, chosen, verdict, output_html)
    code = exit_codes.UNDELIVERED if written.trouble else exit_codes.PASSED
    return Answer(code, verdict=verdict.to_dict(), rulings=[told(each) for each in rulings])
