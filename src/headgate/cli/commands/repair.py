"""`headgate repair`: undo the faults of a held batch, stage the result as a new input, and judge it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.judge_batches import BatchResult
    from headgate.gate.repair_trial import RepairTrial
    from headgate.project.dataset import Dataset
    from headgate.values.run import Ruling

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what is undone and whether the batch passes then; write nothing.")
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="PATH",
        help="Write the repaired rows to this new Parquet file, with Spark to a folder, instead of staging them.",
        show_default=False,
    ),
]
AllowEstimate = Annotated[
    bool,
    typer.Option(
        "--allow-estimate", help="Write the rows though a factor, an offset or a shift of times is an estimate."
    ),
]


@command("repair")
def repair(
    context: CommandContext,
    dataset: options.Dataset,
    partition: options.PartitionArgument,
    dry_run: DryRun = False,
    to: To = None,
    allow_estimate: AllowEstimate = False,
    note: options.Note = "",
    who: options.Who = None,
    revision: options.Revision = None,
) -> CommandResult:
    """Undo the faults of a held batch, stage the result as a new input, and judge it.

    The repaired batch is first judged without recording anything. If it would not pass, nothing is written, and the
    exit code is 1. Else the held revision is rejected, with a note of what was undone, and the repaired rows are staged
    and judged as a new revision. The held batch stays in quarantine. A batch that readers have is left alone.

    If a factor, an offset or a shift of times is an estimate, the repaired values are near the right ones, and may not
    be equal to them. Then nothing is written without --allow-estimate.

    Batches that headgate does not publish have no staging: name a file with --to, and put it in the place of the batch.

    \b
    Examples:
      headgate repair orders 2026-11-14 --dry-run
      headgate repair orders 2026-11-14
      headgate repair orders 2026-11-14 --to repaired.parquet
    """
    from headgate.cli.recorded_runs import verdict_of
    from headgate.project.repairs import require_staging, try_repair
    from headgate.values.errors import MisuseError

    chosen = context.open_project().dataset(dataset)
    verdict = verdict_of(chosen, partition, revision)
    path = _check_path(chosen, to, dry_run=dry_run)
    if path is None and not dry_run:
        require_staging(chosen, verdict)
    with context.show_progress(f"{dataset} {partition}", "judging") as report:
        trial = try_repair(chosen, verdict, progress=report)
    _print_trial(context, trial)
    if dry_run or not trial.passed:
        return _make_result(trial)
    if trial.is_estimate and not allow_estimate:
        raise MisuseError(
            f"{dataset} {partition} is not written: the repair is an estimate, and gives values near the right ones.",
            hint="Repair the batch at its source, or add --allow-estimate.",
        )
    ruling = _reject(chosen, trial, note, who, path)
    if path is not None:
        return _write_to(context, trial, ruling, path)
    return _stage_and_judge(context, chosen, trial, ruling)


def _check_path(dataset: Dataset, to: str | None, *, dry_run: bool) -> str | None:
    """The path of `--to`, absolute if it is one of this machine; refused if rows cannot be written to it."""
    from pathlib import Path

    from headgate.project.repairs import require_free_path
    from headgate.values.errors import MisuseError
    from headgate.values.local_path import to_local_path

    if to is None:
        return None
    if dry_run:
        raise MisuseError("--dry-run writes nothing, and --to names where to write.", hint="Leave one of them out.")
    if "://" in to and dataset.engine == "spark":
        return to
    path = str(Path(to_local_path(to, "--to")).absolute())
    require_free_path(path)
    return path


def _print_trial(context: CommandContext, trial: RepairTrial) -> None:
    """Print whether the repaired batch would pass, and what could not be undone; why not, if it would not."""
    from headgate.cli.shell_page import make_shell_page

    if not trial.passed:
        context.echo(make_shell_page(context, trial, commands=False))
    elif not context.quiet:
        context.echo(trial.headline)
    for obstacle in trial.obstacles:
        context.echo(f"  not undone: {obstacle}")


def _reject(dataset: Dataset, trial: RepairTrial, note: str, who: str | None, path: str | None) -> Ruling:
    """Record that the batch was wrong, and what is done about it. This comes before anything is written."""
    done = f"repair{'' if path is None else f' to {path}'}: {'; '.join(trial.repairs)}"
    number = trial.revision.number
    words = f"{done}; {note}" if note else done
    return dataset.gate.reject(trial.partition, note=words, who=who or "", number=number)[0]


def _write_to(context: CommandContext, trial: RepairTrial, ruling: Ruling, path: str) -> CommandResult:
    from headgate.cli.commands.rulings import format_ruling
    from headgate.project.repairs import write_parquet

    write_parquet(trial.data, path)
    if not context.quiet:
        context.echo(format_ruling(ruling), f"The repaired rows are in {path}; nothing was judged or published.")
    return _make_result(trial, ruling, path)


def _stage_and_judge(context: CommandContext, dataset: Dataset, trial: RepairTrial, ruling: Ruling) -> CommandResult:
    from headgate.cli.commands.rulings import format_ruling
    from headgate.cli.commands.run_summary import print_batch
    from headgate.cli.judge_batches import BatchResult
    from headgate.project.repairs import stage_repaired

    if not context.quiet:
        context.echo(format_ruling(ruling))
    location, started = stage_repaired(dataset, trial.partition, trial.data), time.monotonic()
    with context.show_progress(f"{dataset.name} {trial.partition}", "learning") as report:
        verdict = dataset.judge(trial.partition, repaired=trial.repairs, progress=report)
    result = BatchResult(dataset, trial.partition, verdict, seconds=time.monotonic() - started)
    print_batch(context, result)
    return _make_result(trial, ruling, location, result, context.secrets)


def _make_result(
    trial: RepairTrial,
    ruling: Ruling | None = None,
    location: str | None = None,
    batch: BatchResult | None = None,
    secrets: tuple[str, ...] = (),
) -> CommandResult:
    from headgate.cli.commands.rulings import ruling_to_dict
    from headgate.cli.options import FailOn

    return CommandResult(
        _choose_exit_code(trial) if batch is None else batch.exit_code(FailOn.ERROR),
        would_pass=trial.passed,
        repairs=list(trial.repairs),
        obstacles=list(trial.obstacles),
        trial=trial.to_dict(),
        ruling=None if ruling is None else ruling_to_dict(ruling),
        location=location,
        batch=None if batch is None else batch.to_dict(FailOn.ERROR, secrets),
    )


def _choose_exit_code(trial: RepairTrial) -> int:
    """The exit code of a batch that would be published or held."""
    from headgate.values.expectation import Status

    if trial.passed:
        return exit_codes.PASSED
    return exit_codes.UNKNOWN if trial.status in (Status.ERROR, Status.SKIP) else exit_codes.FAILED
