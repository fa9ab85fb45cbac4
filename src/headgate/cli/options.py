"""The options and arguments that several commands share."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

CONFIG = "headgate.yml"
MAX_CONFIG_BYTES = 1 << 20  # a larger configuration is not read for completion


class FailOn(StrEnum):
    """Which failures end a command with exit code 1."""

    ERROR = "error"
    WARN = "warn"
    NEVER = "never"


def _list_dataset_names(path: str | None) -> list[str]:
    """The names under `datasets:`, found by their indentation: quick, and independent of the rest of the file."""
    file = Path(path or os.environ.get("HEADGATE_CONFIG") or CONFIG)
    if not file.is_file() or file.stat().st_size > MAX_CONFIG_BYTES:
        return []
    names: list[str] = []
    inside, depth = False, -1
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent == 0:
            inside, depth = text.startswith("datasets:"), -1
        elif inside and depth in (-1, indent) and ":" in text:
            depth = indent
            names.append(text.partition(":")[0].strip("'\" "))
    return names


def complete_dataset(ctx: typer.Context, incomplete: str) -> list[str]:
    """The datasets of the configuration that begin with this text. Never raises: a shell waits for the answer."""
    try:
        return [name for name in _list_dataset_names(ctx.params.get("config")) if name.startswith(incomplete)]
    except Exception:
        return []


def complete_source(ctx: typer.Context, incomplete: str) -> list[str]:
    """The datasets of the configuration, and the files and folders, that begin with this text."""
    try:
        folder, start = os.path.split(incomplete)
        entries = sorted(os.scandir(folder or "."), key=lambda each: each.name)
        fitting = [each for each in entries if each.name.startswith(start) and (start or not each.name.startswith("."))]
        files = [os.path.join(folder, each.name) + ("/" if each.is_dir() else "") for each in fitting]
    except Exception:
        files = []
    return [*complete_dataset(ctx, incomplete), *files]


Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DATASET",
        help="A file or folder of Parquet, CSV, JSON lines or ORC; or a dataset of headgate.yml, with --partition.",
        autocompletion=complete_source,
        show_default=False,
    ),
]
Datasets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATASET",
        help="Datasets of headgate.yml; all of them if none is named.",
        autocompletion=complete_dataset,
        show_default=False,
    ),
]
Dataset = Annotated[
    str,
    typer.Argument(
        metavar="DATASET", help="A dataset of headgate.yml.", autocompletion=complete_dataset, show_default=False
    ),
]
PartitionArgument = Annotated[
    str, typer.Argument(metavar="PARTITION", help="The batch's partition, such as 2026-11-14.", show_default=False)
]
PartitionsArgument = Annotated[
    str,
    typer.Argument(
        metavar="PARTITION|FROM..TO",
        help="The batch's partition, such as 2026-11-14; or all held batches from one to another.",
        show_default=False,
    ),
]
Partition = Annotated[
    str | None,
    typer.Option("--partition", "-p", metavar="PARTITION", help="The batch of the dataset.", show_default=False),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="parquet, csv, json or orc, where the file's name does not tell.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="COLUMN", help="Only this column; repeat it for several.", show_default=False),
]
FailOnOption = Annotated[
    FailOn,
    typer.Option(
        "--fail-on",
        metavar="error|warn|never",
        help="What ends with exit code 1: what was held or failed (error), warnings too (warn), nothing (never).",
    ),
]


def parse_output(path: Path | None, option: str) -> Path | None:
    """The file that an option names; an address is refused, before the work begins."""
    from headgate.values.local_path import to_local_path

    return None if path is None else to_local_path(path, option)


Html = Annotated[
    Path | None,
    typer.Option("--output-html", metavar="PATH", help="Write the report as one HTML file.", show_default=False),
]
Revision = Annotated[
    int | None,
    typer.Option("--revision", metavar="N", help="An earlier revision of the batch; else the newest.", min=1),
]
Note = Annotated[
    str, typer.Option("--note", "-m", metavar="TEXT", help="Why; it is kept in the history.", show_default=False)
]
Who = Annotated[
    str | None,
    typer.Option(
        "--who", metavar="NAME", help="Who says so; else the name you are logged in with.", show_default=False
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Without a terminal nothing is asked either.")]

Config = Annotated[
    str,
    typer.Option("--config", "-c", metavar="PATH", help="The configuration.", envvar="HEADGATE_CONFIG"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Another value for a key of the configuration: datasets.orders.false_alarms=0.02. Repeat it for several.",
        show_default=False,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--output-json", metavar="PATH|-", help="Write the result as JSON, to a file or (-) instead of the text."
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose", "-v", count=True, help="Say more; -vv shows the traceback of an error.", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing of what passed, and show no progress.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="Print without colours; NO_COLOR=1 does the same.")]
