"""`headgate check`: evaluate checks on a batch once, without recording anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.checks.check import Check
    from headgate.cli.input_batch import InputBatch
    from headgate.display.page import Page
    from headgate.evaluate.verification import Verification

MAX_CHECKS_BYTES = 4 << 20

Checks = Annotated[
    Path | None,
    typer.Option(
        "--checks",
        metavar="PATH",
        help="A YAML file with a checks: section; else the checks of the dataset.",
        show_default=False,
    ),
]


@command("check")
def check(
    context: CommandContext,
    source: options.Source,
    checks: Checks = None,
    partition: options.Partition = None,
    format: options.Format = None,
    fail_on: options.FailOnOption = options.FailOn.ERROR,
) -> CommandResult:
    """Hold a file or a batch against checks, without a history; nothing is recorded or moved.

    \b
    Examples:
      headgate check orders.parquet --checks checks.yml
      headgate check orders --partition 2026-11-14
      headgate check orders.csv --checks checks.yml --fail-on warn --output-json result.json
    """
    from headgate.cli.input_batch import find_batch
    from headgate.evaluate.verify import verify

    batch = find_batch(context, source, partition, format)
    wanted = _read_checks(checks) if checks is not None else _find_declared_checks(batch)
    history: dict[str, Any] = {}
    if batch.dataset is not None:
        history = {"store": batch.dataset.gate.store, "dataset": batch.name, "partition": partition}
    with context.show_progress(f"check of {batch.title}") as report:
        verdict = verify(batch.data, wanted, progress=report, **history)
    code = code_of(verdict, fail_on)
    if code or not context.quiet:
        context.echo(*([verdict] if context.verbose else summarize_verdict(context, verdict)))
    return CommandResult(code, source=batch.to_dict(), verdict=verdict.to_dict())


def summarize_verdict(context: CommandContext, verdict: Verification) -> list[Page] | list[str]:
    """The checks that failed or could not be evaluated; coloured on a terminal."""
    from headgate.display.blocks import Point, Points, Tone
    from headgate.display.page import Page
    from headgate.values.expectation import Status

    if not context.out.is_terminal:
        return verdict.explain().splitlines()
    tones = {Status.PASS: Tone.GOOD, Status.FAIL: Tone.BAD}
    title, *lines = verdict.explain().splitlines()
    points = tuple(Point(line[2:], mark=line[:1], tone=Tone.BAD if line[0] == "✗" else Tone.UNSURE) for line in lines)
    blocks = (Points(points),) if points else ()
    return [Page(title, tones.get(verdict.status, Tone.UNSURE), verdict.status.value.upper(), blocks)]


def code_of(verdict: Verification, fail_on: options.FailOn) -> int:
    """The exit code of a verification."""
    from headgate.values.expectation import Status

    match verdict.status:
        case Status.ERROR | Status.SKIP:  # a check that did not run did not pass
            return exit_codes.UNKNOWN
        case Status.FAIL if fail_on is not options.FailOn.NEVER:
            return exit_codes.FAILED
    return exit_codes.FAILED if fail_on is options.FailOn.WARN and verdict.failures else exit_codes.PASSED


def _read_checks(path: Path) -> Check:
    from headgate.checks.check import Check
    from headgate.values.errors import MisuseError

    try:
        if path.stat().st_size > MAX_CHECKS_BYTES:
            raise MisuseError(f"{path} is too large for a file of checks.", hint="It has at most 4 MB.")
        return Check.from_yaml(path.read_text(encoding="utf-8"), name=path.stem)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise MisuseError(
            f"the checks in {path} could not be read: {why}.", hint="headgate suggest FILE > checks.yml makes some."
        ) from error


def _find_declared_checks(batch: InputBatch) -> list[Check]:
    from headgate.values.errors import MisuseError

    declared = list(batch.dataset.gate.checks) if batch.dataset is not None else []
    if not declared:
        where = f"the dataset {batch.name} declares none" if batch.dataset is not None else "a file has none of its own"
        raise MisuseError(
            f"there are no checks: {where}.",
            hint="Add --checks checks.yml; headgate suggest FILE > checks.yml makes some.",
        )
    return declared
