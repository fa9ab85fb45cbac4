"""`headgate calibrate`: gather evidence from the recorded batches of your own tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.learn.evidence import Evidence

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
    context: CommandContext, datasets: options.Datasets = None, output: Output = None, merge: Merge = None
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
    from headgate.learn.evidence import Evidence

    project = context.open_project()
    recorded = project.store.datasets()
    names = dict.fromkeys(datasets or [name for name in project.names if name in recorded])
    chosen = [project.dataset(name) for name in names]
    target = project.evidence_file if output is None else Path(output)
    known = read_known(context, target)
    for file in merge or ():
        known = known.merge(require_version(Evidence.read(file), file))
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
            named = os.path.relpath(target.absolute(), project.folder)
            context.echo(f"To use it, write evidence: {named} in {project.path.name}.")
    return CommandResult(calibration=result.to_dict(), written=str(target) if written else None)


def read_known(context: CommandContext, target: Path) -> Evidence:
    """The evidence of other stores in the file that is written again; none if it is of another version."""
    from headgate.learn.evidence import NO_EVIDENCE, Evidence
    from headgate.learn.pooled_rates import load_pooled_rates
    from headgate.values.errors import MisuseError

    if not target.parent.is_dir():
        raise MisuseError(f"there is no folder {target.parent}.", hint="Make it, or give another file with --output.")
    if not target.is_file():
        return NO_EVIDENCE
    try:
        known = Evidence.read(target)
    except MisuseError as error:
        said = str(error).removesuffix(error.hint).strip()
        raise MisuseError(said, hint="Remove it, or give another file with --output.") from None
    if not known.fits(load_pooled_rates()):
        context.echo(f"{target.name} is of another version of the package; what it has of other stores is left out.")
        return NO_EVIDENCE
    return known


def require_version(evidence: Evidence, file: str) -> Evidence:
    """Evidence of this version of the package; raises `MisuseError` for another."""
    from headgate.learn.pooled_rates import load_pooled_rates
    from headgate.values.errors import MisuseError

    if not evidence.fits(load_pooled_rates()):
        raise MisuseError(
            f"{file} was gathered with another version of the package.", hint="Run headgate calibrate there again."
        )
    return evidence
