"""`headgate calibrate`: gather evidence from the recorded batches of your own tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headgate.cli.command import command
from headgate.cli.commands.run import Datasets
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Where the evidence is written; else where evidence: says, or evidence.json beside the configuration.",
        show_default=False,
    ),
]
Merge = Annotated[
    list[str] | None,
    typer.Option(
        "--merge", metavar="FILE", help="Evidence of another store to add; repeat it for several.", show_default=False
    ),
]


@command("calibrate")
def calibrate(
    context: CommandContext, datasets: Datasets = None, output: Output = None, merge: Merge = None
) -> CommandResult:
    """Gather how rare good batches of your own tables were, so that limits rest on them and not on other people's.

    The recorded good batches are replayed; no data is read. The file has counts alone: no value and no name. Files of
    several stores can be merged. Name the file in the configuration: evidence: evidence.json.

    \b
    Examples:
      headgate calibrate
      headgate calibrate --merge finance.json --merge sales.json
      headgate calibrate orders --output orders.json
    """
    from headgate.cli.output import write_atomically
    from headgate.gate.calibration import calibrate as gather_evidence
    from headgate.learn.evidence import NO_EVIDENCE
    from headgate.learn.pooled_rates import load_pooled_rates
    from headgate.project.project import read_evidence

    project = context.open_project()
    chosen = [project.dataset(name) for name in dict.fromkeys(datasets or project.names)]
    target = project.evidence_file if output is None else Path(output)
    known = read_evidence(target) if target.exists() else NO_EVIDENCE
    if known.tables and known.levels != load_pooled_rates().levels:
        context.echo(f"{target.name} is of another version of the package; what it has of other stores is left out.")
        known = NO_EVIDENCE
    for file in merge or ():
        known = known.merge(read_evidence(Path(file)))
    with context.show_progress("calibration") as report:
        result = gather_evidence(
            project.store,
            [each.name for each in chosen],
            scopes={each.name: each.scope for each in chosen},
            known=known,
            progress=report,
        )
    context.echo(result)
    written = bool(result.evidence.tables)
    if written:
        write_atomically(str(target), result.evidence.encode().decode())
        context.echo(f"Wrote {target}.")
        if project.config.evidence is None:
            context.echo(f"To use it, write evidence: {target.name} in {project.path.name}.")
    return CommandResult(calibration=result.to_dict(), written=str(target) if written else None)
