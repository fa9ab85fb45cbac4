"""`headgate run`: judge every batch that waits, record it, and publish or hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.judge_batches import BatchResult
    from headgate.project.dataset import Dataset

Partition = Annotated[
    str | None,
    typer.Option(
        "--partition",
        "-p",
        metavar="PARTITION",
        help="Judge this batch, also if it was judged before; else every batch that waits.",
        show_default=False,
    ),
]


@command("run")
def run(
    context: CommandContext,
    datasets: options.Datasets = None,
    partition: Partition = None,
    fail_on: options.FailOnOption = options.FailOn.ERROR,
    output_html: options.Html = None,
) -> CommandResult:
    """Judge every batch that waits, record it, and publish or hold it.

    A batch waits if the source has it and the history has not, or if it was staged again. Batches are judged in the
    order of their partitions; one that is held does not end the run of the next ones. What an interrupted run has
    judged is published or held first, as headgate recover does.

    \b
    Examples:
      headgate run
      headgate run orders customers --fail-on warn
      headgate run orders --partition 2026-11-14 --output-html batch.html
      headgate run --set datasets.orders.false_alarms=0.02 --output-json run.json
    """
    from headgate.cli import report_files
    from headgate.cli.commands import run_summary
    from headgate.cli.commands.results import write_run_results
    from headgate.cli.judge_batches import judge_datasets

    output = options.parse_output(output_html, "--output-html")
    project = context.open_project()
    chosen = [project.dataset(name) for name in dict.fromkeys(datasets or project.names)]
    _check_partition(chosen, partition)
    results: list[BatchResult] = []
    for result in judge_datasets(context, chosen, partition):
        results.append(result)
        run_summary.print_batch(context, result)
    idle = [dataset for dataset in chosen if all(each.dataset is not dataset for each in results)]
    written = report_files.write_run_pages(context, project, chosen, results, output)
    has_results = write_run_results(context, project, chosen)
    empty = run_summary.print_summary(context, results, idle, written)
    codes = [each.exit_code(fail_on) for each in results]
    codes += [exit_codes.UNDELIVERED] if written.has_failed or not has_results else []
    codes += [exit_codes.UNKNOWN] if empty else []  # a source without any batch is more likely a wrong path
    return CommandResult(
        exit_codes.worst_code(codes),
        batches=[each.to_dict(fail_on, context.secrets) for each in results],
        empty=empty,
        summary=run_summary.count_results(results),
        reports=[str(path) for path in written.paths],
    )


def _check_partition(chosen: list[Dataset], partition: str | None) -> None:
    """Require one dataset for a named partition, and a named partition for a source that cannot list its batches."""
    from headgate.values.errors import MisuseError

    names = [each.name for each in chosen]
    if partition is not None and len(chosen) != 1:
        raise MisuseError(
            f"--partition {partition} is a batch of one dataset, and {', '.join(names)} were asked for.",
            hint=f"Write headgate run {names[0]} --partition {partition}.",
        )
    unlisted = [each.name for each in chosen if partition is None and not each.is_listed]
    if unlisted:
        others = [name for name in names if name not in unlisted]
        rest = f", and headgate run {' '.join(others)} for the others" if others else ""
        raise MisuseError(
            f"the source of {unlisted[0]} cannot say which batches it has.",
            hint=f"Write headgate run {unlisted[0]} --partition 2026-11-14{rest}; or, if a column tells its batches "
            """apart, where: "day = '{partition}'" in its source.""",
        )
