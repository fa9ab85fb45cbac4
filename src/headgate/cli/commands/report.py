"""`headgate report`: HTML pages of a batch, of a dataset, or of all datasets, from the history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.report_files import WrittenPages
    from headgate.project.dataset import Dataset
    from headgate.project.project import Project

DatasetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DATASET",
        help="The page of this dataset; else of all.",
        autocompletion=options.complete_dataset,
        show_default=False,
    ),
]
BatchArgument = Annotated[
    str | None, typer.Argument(metavar="PARTITION", help="The page of this batch of it.", show_default=False)
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="One HTML file; else pages in the folder reports: of the configuration, or in reports beside it.",
        show_default=False,
    ),
]


@command("report")
def report(
    context: CommandContext, dataset: DatasetArgument = None, partition: BatchArgument = None, output: Output = None
) -> CommandResult:
    """Write the HTML page of a batch, of a dataset, or of all datasets, from the history alone.

    \b
    Examples:
      headgate report
      headgate report orders
      headgate report orders 2026-11-14 --output batch.html
    """
    from headgate.cli.report_files import WrittenPages

    output = options.parse_output(output, "--output")
    project = context.open_project()
    chosen = None if dataset is None else project.dataset(dataset)
    written = WrittenPages(context)
    if output is not None:
        _write_single_page(written, project, chosen, partition, output)
    else:
        _write_linked_pages(written, project, chosen, partition)
    if written.start_page is not None and not context.quiet:
        context.echo(str(written.start_page))
    return CommandResult(
        exit_codes.UNDELIVERED if written.has_failed else exit_codes.PASSED,
        reports=[str(each) for each in written.paths],
    )


def _write_single_page(
    written: WrittenPages, project: Project, chosen: Dataset | None, partition: str | None, output: Path
) -> None:
    from headgate.cli.recorded_runs import verdict_of
    from headgate.cli.report_files import write_page_to
    from headgate.report.html import Report

    if chosen is None:
        gates = [project.dataset(name).gate for name in project.names]
        written.add_page("all datasets", lambda: Report.fleet(gates).save(output))
    elif partition is None:
        written.add_page(chosen.name, lambda: Report.of(chosen.gate).save(output))
    else:
        write_page_to(written, chosen, verdict_of(chosen, partition), output)


def _write_linked_pages(written: WrittenPages, project: Project, chosen: Dataset | None, partition: str | None) -> None:
    """Write pages that link to each other. The page that was asked for comes last: its path is printed."""
    from headgate.cli.recorded_runs import verdict_of
    from headgate.cli.report_files import FOLDER, write_batch_page
    from headgate.report.site import Site

    site = Site(project.reports or project.folder / FOLDER)
    if chosen is not None and partition is not None:
        write_batch_page(written, site, chosen, verdict_of(chosen, partition))
        return
    datasets = [chosen] if chosen is not None else [project.dataset(name) for name in project.names]
    for dataset in datasets:
        newest = dataset.gate.store.last(dataset.name, 1)
        if newest:
            write_batch_page(written, site, dataset, dataset.gate.explain(newest[0].partition))
        written.add_page(dataset.name, lambda gate=dataset.gate: site.write_dataset(gate))  # type: ignore[misc]
    if chosen is None:
        gates = [each.gate for each in datasets]
        written.add_page("all datasets", lambda: site.write_fleet(gates))
