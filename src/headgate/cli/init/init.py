"""`headgate init`: write a first headgate.yml from existing data, or a demo."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.cli.init.draft import SuggestedChecks
    from headgate.cli.init.sources import FoundSource


@command("init", project=False)
def init(
    context: CommandContext,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Where the batches are; with --demo, where the demo goes. Without it, this folder.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Write sixty days of real flights, some of them broken, to try things on.")
    ] = False,
    config: options.Config = options.CONFIG,
) -> CommandResult:
    """Write a first headgate.yml, with the datasets that are found and checks that they suggest.

    \b
    Examples:
      headgate init --demo
      headgate init lake/orders
      headgate init lake/orders lake/customers --config quality/headgate.yml
    """
    if demo:
        return _write_demo(context, paths or [Path()], config)
    from headgate.cli.init.draft import format_config, suggest_checks

    target = _require_absent(Path(config))
    sources = _find_sources(paths or [Path()], named=bool(paths))
    with context.show_progress("suggestions"):
        drafts = [(source, suggest_checks(source)) for source in sources]
    _write_new(target, format_config(drafts, target.parent))
    return _report_written(context, target, drafts)


def _find_sources(paths: list[Path], *, named: bool) -> list[FoundSource]:
    """The datasets in these folders, each with a unique name. A folder that the user named must hold one."""
    from dataclasses import replace

    from headgate.cli.init.batch_column import split_by_column
    from headgate.cli.init.sources import sources_in
    from headgate.values.errors import MisuseError

    sources: dict[str, FoundSource] = {}
    for path in paths:
        if not path.exists():
            raise MisuseError(f"there is no {path}.", hint="Name the folder that the batches are in.")
        inside = sources_in(path)
        if named and not inside:
            raise MisuseError(
                f"{path} has no batches that can be told apart.",
                hint="Name a folder with day=2026-11-14 or 2026-11-14 in it, or with files such as "
                "orders-2026-11-14.csv, or one file that grows; headgate init without a folder writes an example to "
                "change.",
            )
        for source in inside:
            name = next(name for name in _possible_names(source.name) if name not in sources)
            sources[name] = replace(split_by_column(source), name=name)
    return list(sources.values())


def _possible_names(name: str) -> list[str]:
    return [name, *(f"{name}_{number}" for number in range(2, 100))]


def _report_written(
    context: CommandContext, target: Path, drafts: list[tuple[FoundSource, SuggestedChecks]]
) -> CommandResult:
    """Print what was written and what to type next."""
    from headgate.cli.init.draft import make_printable, path_of

    config_option = "" if str(target) == options.CONFIG else f" --config {shlex.quote(str(target))}"
    next_command = f"headgate {_choose_next([source for source, _ in drafts])}{config_option}"
    datasets = []
    count = f": {_format_count(len(drafts), 'dataset')}" if drafts else ""
    context.echo(f"{target} is written{count}.")
    for source, suggested in drafts:
        path = path_of(source, target.parent)
        checks = len(suggested.held)
        line = f"{source.name}: {source.format}, {path}, {_describe_batches(source)}; "
        line += f"{_format_count(checks, 'check')} suggested"
        context.echo(f"  {make_printable(line)}")
        datasets.append(
            {
                "name": source.name,
                "format": source.format,
                "path": path,
                "partitions": len(source.partitions),
                "checks": len(suggested.held),
            }
        )
    if not drafts:
        context.echo("No recurring data were found here. It has an example: put your own table there.")
    context.echo(f"Next: look through {target}, then type   {next_command}")
    return CommandResult(config=str(target), datasets=datasets, next=next_command)


def _choose_next(sources: list[FoundSource]) -> str:
    """The command to type next; a source that cannot list its batches needs a partition."""
    unlisted = [source.name for source in sources if not source.partitions]
    if unlisted:
        return f"run {unlisted[0]} --partition 2026-11-14"
    return "run" if sources else "doctor"


def _describe_batches(source: FoundSource) -> str:
    if not source.partitions:
        return "one batch"
    first, last = source.partitions[0], source.partitions[-1]
    between = f", {first} to {last}" if first != last else f", {first}"
    return _format_count(len(source.partitions), "batch", "batches") + between


def _write_demo(context: CommandContext, paths: list[Path], config: str) -> CommandResult:
    from headgate.cli.init import demo
    from headgate.values.errors import MisuseError
    from headgate.values.local_path import to_local_path

    if len(paths) > 1:
        raise MisuseError("the demo goes into one folder.", hint="Write headgate init --demo FOLDER.")
    folder = to_local_path(paths[0], "the folder of the demo")
    target = _require_absent(folder / Path(config).name)  # beside the lake: the demo's paths are relative
    lake = folder / "lake" / "flights"
    if lake.exists():
        raise MisuseError(f"there is a {lake} already.", hint="Name another folder: headgate init --demo FOLDER.")
    count = _write_days(lake)
    _write_new(target, demo.CONFIG.read_text(encoding="utf-8"))
    change_folder = f"cd {shlex.quote(str(folder))} && " if folder.resolve() != Path.cwd() else ""
    next_command = "headgate run" if config == options.CONFIG else f"headgate run --config {shlex.quote(target.name)}"
    context.echo(
        f"{target} and {lake} are written: {count} days of flights from New York, one folder for each day.",
        "Some of the days are broken. Which ones, and why, is for the gate to say.",
        f"Next, type   {change_folder}{next_command}",
    )
    datasets = [
        {
            "name": "flights",
            "format": "parquet",
            "path": "lake/flights/day={partition}",
            "partitions": count,
            "checks": 3,
        }
    ]
    return CommandResult(config=str(target), datasets=datasets, next=next_command)


def _write_days(lake: Path) -> int:
    import pyarrow.parquet as pq

    from headgate.cli.init.demo import read_broken_days

    count = 0
    try:
        for name, day in read_broken_days():
            (lake / f"day={name}").mkdir(parents=True)
            pq.write_table(day, lake / f"day={name}" / "flights.parquet")
            count += 1
    except OSError as error:
        shutil.rmtree(lake, ignore_errors=True)  # an incomplete demo would be in the way of the next try
        raise _write_error(lake, error) from error
    return count


def _require_absent(target: Path) -> Path:
    from headgate.values.errors import MisuseError
    from headgate.values.local_path import to_local_path

    target = to_local_path(target, "--config")
    if os.path.lexists(target):
        raise MisuseError(
            f"there is a {target} already, and it is left as it is.",
            hint="Edit it (headgate doctor checks it), or write another with --config other.yml.",
        )
    return target


def _write_new(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "x", encoding="utf-8") as file:  # x: another process may have written one in the meantime
            file.write(text)
    except OSError as error:
        raise _write_error(target, error) from error


def _write_error(path: Path, error: OSError) -> Exception:
    from headgate.values.errors import MisuseError

    return MisuseError(f"{path} could not be written: {error.strerror}.", hint="Name a folder that you may write to.")


def _format_count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
