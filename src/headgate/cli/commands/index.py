"""`headgate index`: build, merge, describe and query an index of patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import exit_codes, options
from headgate.cli.command import command
from headgate.cli.context import CommandContext
from headgate.cli.output import CommandResult

if TYPE_CHECKING:
    from headgate.learn.patterns.index import PatternIndex

app = typer.Typer(
    help="Build and ask an index of patterns: how the columns of a lake are written.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Target = Annotated[Path, typer.Argument(metavar="OUT", help="The index file to write.", show_default=False)]
Name = Annotated[str, typer.Option("--name", metavar="TEXT", help="What the index is called.", show_default=False)]
Index = Annotated[
    Path | None,
    typer.Argument(metavar="INDEX", help="An index file; else the public one of the package.", show_default=False),
]


@app.command("build", short_help="Write the index of a lake's columns.")
@command("index build", project=False)
def build(
    context: CommandContext,
    out: Target,
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Parquet and CSV files, and folders.", show_default=False)
    ],
    name: Name = "",
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="Rows of each table that are read.")] = 10_000,
    tau: Annotated[
        int, typer.Option("--tau", metavar="N", min=1, help="Tokens of the longest value that has patterns.")
    ] = 13,
    floor: Annotated[int, typer.Option("--floor", metavar="N", min=1, help="Leave out patterns of fewer columns.")] = 1,
) -> CommandResult:
    """Write the index of all patterns of the columns in these files; it holds hashes and counts, no value.

    \b
    Examples:
      headgate index build lake.hgi lake/
      headgate index build lake.hgi lake/orders lake/stock.csv --name warehouse --floor 3
    """
    import msgspec

    from headgate.learn.patterns.build import build_index

    with context.show_progress(f"index of {len(sources)} source{'s' * (len(sources) != 1)}", "reading"):
        built = build_index(sources, out, name=name, rows=rows, tau=tau, floor=floor)
    context.echo(str(built))
    return CommandResult(built=msgspec.to_builtins(built))


@app.command("merge", short_help="Add several indexes up to one.")
@command("index merge", project=False)
def merge(
    context: CommandContext,
    out: Target,
    indexes: Annotated[
        list[Path], typer.Argument(metavar="INDEX", help="Index files that share no columns.", show_default=False)
    ],
    name: Name = "",
) -> CommandResult:
    """Add several indexes up to one, as if their columns had been indexed together.

    \b
    Examples:
      headgate index merge all.hgi lake.hgi shops.hgi
      headgate index merge all.hgi lake.hgi shops.hgi --name "warehouse and shops"
    """
    from headgate.learn.patterns.index import PatternIndex

    for path in indexes:
        _require_index(path)
    with PatternIndex.merge(list(indexes), out, name=name) as merged:
        context.echo(f"{out}: {len(merged):,} patterns of {merged.columns:,} columns")
        return CommandResult(merged={"target": str(out), "patterns": len(merged), "columns": merged.columns})


@app.command("stats", short_help="Say what an index is made of.")
@command("index stats", project=False)
def stats(context: CommandContext, index: Index = None) -> CommandResult:
    """Say what an index is made of.

    \b
    Examples:
      headgate index stats
      headgate index stats lake.hgi
    """
    import msgspec

    with _open_index(index) as opened:
        statistics = opened.stats()
    context.echo(statistics)
    return CommandResult(stats=msgspec.to_builtins(statistics, str_keys=True))


@app.command("infer", short_help="Find the patterns of a file's text columns.")
@command("index infer", project=False)
def infer(
    context: CommandContext,
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A Parquet, CSV, JSON or ORC file.", show_default=False)
    ],
    column: options.Columns = None,
    index: Annotated[
        Path | None, typer.Option("--index", metavar="PATH", help="An index file; else the public one.")
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option("--limit", metavar="SHARE", help="The largest rate of false alarms of a rule; else 0.185."),
    ] = None,
    format: options.Format = None,
) -> CommandResult:
    """Find the pattern that the next values of each text column should follow.

    \b
    Examples:
      headgate index infer orders.parquet
      headgate index infer orders.csv --column code --index lake.hgi --limit 0.02
    """
    from headgate.cli.commands.index_rules import infer_rules, rules_table

    with _open_index(index) as opened:
        rules = infer_rules(opened, source, column, limit, format)
    context.echo(rules_table(rules))
    return CommandResult(exit_codes.PASSED, rules=rules)


def _require_index(path: Path) -> None:
    from headgate.values.errors import MisuseError

    if not path.is_file():
        raise MisuseError(f"there is no index {path}.", hint="headgate index build OUT SOURCE... writes one.")


def _open_index(path: Path | None) -> PatternIndex:
    from headgate.learn.patterns.index import PatternIndex

    if path is None:
        return PatternIndex.public()
    _require_index(path)
    return PatternIndex.open(path)
