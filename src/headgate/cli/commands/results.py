"""`headgate results`: write verdicts, metrics and causes to tables that dashboards read.

Tested by `tests/cli/commands/test_results.py`, on real tables by `tests/integrations/tables/test_results.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.cli import options
from headgate.cli.command import command, report_error
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.project.dataset import Dataset
    from headgate.project.project import Project


@command("results")
def results(context: CommandContext, datasets: options.Datasets = None) -> CommandResult:
    """Write verdicts, metrics and causes to the tables that results: names.

    The tables get what the history has and they have not. headgate run does the same at its end; this command also
    brings what people have decided since, and the runs from before results: was there.

    \b
    Examples:
      headgate results
      headgate results orders
    """
    from headgate.values.errors import MisuseError

    project = context.open_project()
    if project.results is None:
        raise MisuseError("the file has no results:.", hint="Write results: {to: iceberg, tables: lake.dq.headgate}.")
    chosen = [project.dataset(name) for name in dict.fromkeys(datasets or project.names)]
    with context.show_progress("results", "writing"):
        written = {each.name: project.results.update(each.gate) for each in chosen}
    if not context.quiet:
        total = sum(written.values())
        context.echo(f"{total:,} run{'s' * (total != 1)} written to {project.results.locate('verdicts')}.")
    return CommandResult(written=written)


def write_run_results(context: CommandContext, project: Project, chosen: Sequence[Dataset]) -> bool:
    """Write the results of a run, if `results:` says where. A failure is a warning; says whether there was none."""
    if project.results is None:
        return True
    is_written = True
    for dataset in chosen:
        try:
            project.results.update(dataset.gate)
        except Exception as error:
            is_written = False
            context.echo_err(
                f"warning: the results of {dataset.name} were not written; the next run writes them:", "yellow"
            )
            report_error(context, error)
    return is_written
