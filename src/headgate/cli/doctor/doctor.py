"""`headgate doctor`: check everything that Headgate needs, and say what to do about problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.doctor.machine import Finding

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


@command("doctor")
def doctor(
    context: CommandContext,
    spark: Annotated[
        bool, typer.Option("--spark", help="Start Spark too; without it only where headgate.yml has spark:.")
    ] = False,
) -> CommandResult:
    """Look whether Python, Spark, Java, the configuration, store, sources and alerts are as they should be.

    Nothing is changed and nothing is left behind. A problem ends with exit code 3, a wrong configuration with 2.

    \b
    Examples:
      headgate doctor
      headgate doctor --spark
      headgate doctor --config quality/headgate.yml --output-json -
    """
    findings = [_clean_finding(context, each) for each in _run_checks(context, spark)]
    context.echo(FindingTable([each for each in findings if each.level != "ok"] if context.quiet else findings))
    counts = {level: sum(each.level == level for each in findings) for level in _STYLES}
    context.echo(_format_summary(counts))
    return CommandResult(_choose_exit_code(findings), findings=[_finding_to_dict(each) for each in findings])


def _finding_to_dict(finding: Finding) -> dict[str, str]:
    return {"name": finding.what, "status": finding.level, "says": finding.message, "hint": finding.hint}


def _run_checks(context: CommandContext, spark: bool) -> Iterator[Finding]:
    from headgate.cli.doctor.machine import Finding, check_environment
    from headgate.values.errors import ConfigError, HeadgateError

    if not Path(context.config).exists() and context.config == options.CONFIG:
        yield from check_environment(needs_spark=spark, remote=False)
        hint = "headgate init writes one; headgate init --demo brings data to try it on."
        yield Finding("warning", "configuration", f"there is no {context.config} here", hint)
        return
    try:
        project = context.open_project()
    except ConfigError as error:
        yield from check_environment(needs_spark=spark, remote=False)
        mistakes: Sequence[Any] = error.mistakes or (error,)
        for mistake in mistakes:
            hint = str(getattr(mistake, "hint", ""))
            message = str(mistake).removesuffix(hint).strip()
            yield Finding("problem", "configuration", message, hint, configured=True)
        return
    except HeadgateError as error:
        yield Finding("problem", "configuration", str(error), configured=True)
        return
    yield from _run_project_checks(context, project, spark)


def _run_project_checks(context: CommandContext, project: Any, spark: bool) -> Iterator[Finding]:
    from headgate.cli.doctor.machine import Finding, check_environment
    from headgate.cli.doctor.project import check_project, needs_spark

    settings = project.config.spark
    remote = settings is not None and settings.remote is not None
    yield from check_environment(spark or needs_spark(project), remote)
    count = len(project.names)
    yield Finding("ok", "configuration", f"{context.config} is right: {count} dataset{'s' * (count != 1)}")
    yield from check_project(project, spark)


def _clean_finding(context: CommandContext, finding: Finding) -> Finding:
    return finding._replace(
        what=context.clean_text(finding.what),
        message=context.clean_text(finding.message),
        hint=context.clean_text(finding.hint),
    )


def _choose_exit_code(findings: Sequence[Finding]) -> int:
    problems = [each for each in findings if each.level == "problem"]
    return exit_codes.worst_code(exit_codes.MISUSED if each.configured else exit_codes.UNKNOWN for each in problems)


def _format_summary(counts: dict[str, int]) -> str:
    if not counts["problem"] and not counts["warning"]:
        return "All is well."
    parts = [
        f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in ("problem", "warning") if counts[level]
    ]
    return f"{' and '.join(parts)}."


class FindingTable:
    """The findings as a table: plain text as `str`, with colours on a terminal."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings

    def __str__(self) -> str:
        width = max((len(finding.what) for finding in self.findings), default=0)
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.level:<8} {finding.what:<{width}}  {finding.message}")
            if finding.hint:
                lines.append(f"{'':<8} {'':<{width}}  -> {finding.hint}")
        return "\n".join(lines)

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for finding in self.findings:
            message = Text(finding.message)
            if finding.hint:
                message.append(f"\n-> {finding.hint}", style="bold")
            table.add_row(Text(finding.level, style=_STYLES[finding.level]), Text(finding.what), message)
        return table
