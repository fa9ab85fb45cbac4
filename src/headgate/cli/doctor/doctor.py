"""`headgate doctor`: whether everything that Headgate needs is there, and what to do if not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import Call
from headgate.cli.output import Answer

if TYPE_CHECKING:
    from headgate.cli.doctor.machine import Line

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


@command("doctor")
def doctor(
    call: Call,
    spark: Annotated[
        bool, typer.Option("--spark", help="Start Spark too; without it only where headgate.yml has spark:.")
    ] = False,
) -> Answer:
    """Look whether Python, Spark, Java, the configuration, store, sources and alerts are as they should be.

    Nothing is changed and nothing is left behind. A problem ends with exit code 3, a wrong configuration with 2.

    \b
    Examples:
      headgate doctor
      headgate doctor --spark
      headgate doctor --config quality/headgate.yml --output-json -
    """
    lines = [_clean(call, line) for line in _lines(call, spark)]
    call.say(Findings([line for line in lines if line.level != "ok"] if call.quiet else lines))
    counts = {level: sum(line.level == level for line in lines) for level in _STYLES}
    call.say(_summary(counts))
    told = [{"name": line.what, "status": line.level, "says": line.said, "hint": line.do} for line in lines]
    return Answer(_code(lines), findings=told)


def _lines(call: Call, spark: bool) -> Iterator[Line]:
    from headgate.cli.doctor.machine import Line, environment
    from headgate.values.errors import ConfigError, HeadgateError

    if not Path(call.config).exists() and call.config == options.CONFIG:
        yield from environment(needs_spark=spark, remote=False)
        hint = "headgate init writes one; headgate init --demo brings data to try it on."
        yield Line("warning", "configuration", f"there is no {call.config} here", hint)
        return
    try:
        project = call.project()
    except ConfigError as trouble:
        yield from environment(needs_spark=spark, remote=False)
        mistakes: Sequence[Any] = trouble.mistakes or (trouble,)
        for each in mistakes:
            hint = str(getattr(each, "hint", ""))
            said = str(each).removesuffix(hint).strip()
            yield Line("problem", "configuration", said, hint, configured=True)
        return
    except HeadgateError as trouble:
        yield Line("problem", "configuration", str(trouble), configured=True)
        return
    yield from _of_project(call, project, spark)


def _of_project(call: Call, project: Any, spark: bool) -> Iterator[Line]:
    from headgate.cli.doctor.machine import Line, environment
    from headgate.cli.doctor.project import needs_spark, project_lines

    said = project.config.spark
    remote = said is not None and said.remote is not None
    yield from environment(spark or needs_spark(project), remote)
    count = len(project.names)
    yield Line("ok", "configuration", f"{call.config} is right: {count} dataset{'s' * (count != 1)}")
    yield from project_lines(project, spark)


def _clean(call: Call, line: Line) -> Line:
    return line._replace(what=call.clean(line.what), said=call.clean(line.said), do=call.clean(line.do))


def _code(lines: Sequence[Line]) -> int:
    problems = [line for line in lines if line.level == "problem"]
    return exit_codes.worst(exit_codes.MISUSED if line.configured else exit_codes.UNKNOWN for line in problems)


def _summary(counts: dict[str, int]) -> str:
    if not counts["problem"] and not counts["warning"]:
        return "All is well."
    told = [f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in ("problem", "warning") if counts[level]]
    return f"{' and '.join(told)}."


class Findings:
    """The lines as a table: plain text as `str`, with colours on a terminal."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines

    def __str__(self) -> str:
        wide = max((len(line.what) for line in self.lines), default=0)
        told = []
        for line in self.lines:
            told.append(f"{line.level:<8} {line.what:<{wide}}  {line.said}")
            if line.do:
                told.append(f"{'':<8} {'':<{wide}}  -> {line.do}")
        return "\n".join(told)

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for line in self.lines:
            said = Text(line.said)
            if line.do:
                said.append(f"\n-> {line.do}", style="bold")
            table.add_row(Text(line.level, style=_STYLES[line.level]), Text(line.what), said)
        return table
