"""`headgate doctor`: whether everything that Headgate needs is there, and what to do if not."""

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
    lines = [_clean_finding(context, line) for line in _run_checks(context, spark)]
    context.echo(FindingTable([line for line in lines if line.level != "ok"] if context.quiet else lines))
    counts = {level: sum(line.level == level for line in lines) for level in _STYLES}
    context.echo(_format_summary(counts))
    findings = [{"name": line.what, "status": line.level, "says": line.message, "hint": line.hint} for line in lines]
    return CommandResult(_choose_exit_code(lines), findings=findings)


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
    except ConfigError as trouble:
        yield from check_environment(needs_spark=spark, remote=False)
        mistakes: Sequence[Any] = trouble.mistakes or (trouble,)
        for each in mistakes:
            hint = str(getattr(each, "hint", ""))
            said = str(each).removesuffix(hint).strip()
            yield Finding("problem", "configuration", said, hint, configured=True)
        return
    except HeadgateError as trouble:
        yield Finding("problem", "configuration", str(trouble), configured=True)
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


def _choose_exit_code(lines: Sequence[Finding]) -> int:
    problems = [line for line in lines if line.level == "problem"]
    return exit_codes.worst_code(exit_codes.MISUSED if line.configured else exit_codes.UNKNOWN for line in problems)


def _format_summary(counts: dict[str, int]) -> str:
    if not counts["problem"] and not counts["warning"]:
        return "All is well."
    told = [f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in ("problem", "warning") if counts[level]]
    return f"{' and '.join(told)}."


class FindingTable:
    """The lines as a table: plain text as `str`, with colours on a terminal."""

    def __init__(self, lines: Sequence[Finding]) -> None:
        self.lines = lines

    def __str__(self) -> str:
        wide = max((len(line.what) for line in self.lines), default=0)
        told = []
        for line in self.lines:
            told.append(f"{line.level:<8} {line.what:<{wide}}  {line.message}")
            if line.hint:
                told.append(f"{'':<8} {'':<{wide}}  -> {line.hint}")
        return "\n".join(told)

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for line in self.lines:
            said = Text(line.message)
            if line.hint:
                said.append(f"\n-> {line.hint}", style="bold")
            table.add_row(Text(line.level, style=_STYLES[line.level]), Text(line.what), said)
        return table
