"""Finds the batch that `profile`, `suggest` and `check` read: a file without configuration, or a batch of a dataset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headgate.cli.context import CommandContext
    from headgate.project.dataset import Dataset

FORMATS = ("parquet", "csv", "json", "orc")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
# The start of an Arrow message: the file and its format, which our message names already.
_ARROW_PREFIX = re.compile(
    r"Error creating dataset\. Could not read schema from '.*?'\. Is this a '\w+' file\?: "
    r"(?:Could not open \w+ input source '.*?': )?(?:Invalid: )?",
    re.DOTALL,
)


class InputBatch(NamedTuple):
    """A batch with its name, and its dataset and partition if it belongs to one."""

    data: Any
    name: str
    partition: str | None = None
    dataset: Dataset | None = None

    @property
    def title(self) -> str:
        return self.name if self.partition is None else f"{self.name} {self.partition}"

    def to_dict(self) -> dict[str, str | None]:
        return {"name": self.name, "partition": self.partition}


def find_batch(
    context: CommandContext, source: str, partition: str | None = None, format: str | None = None
) -> InputBatch:
    """The batch that an argument of the command line names: an existing path is a file, anything else a dataset."""
    from headgate.values.errors import MisuseError

    if partition is None and (Path(source).exists() or format or _looks_like_a_path(source)):
        return InputBatch(open_file(source, format), Path(source).name.partition(".")[0] or source)
    if not Path(context.config).exists():
        raise MisuseError(
            f"there is no file {source}, and no {context.config} that could name a dataset {source}.",
            hint="Give the path of a Parquet, CSV, JSON or ORC file, or write a configuration: headgate init.",
        )
    dataset = context.open_project().dataset(source)
    if partition is None:
        known = dataset.partitions()
        newest = known[-1] if known else "2026-11-14"
        raise MisuseError(
            f"{source} is a dataset, and it is not said which batch of it.", hint=f"Add --partition {newest}."
        )
    return InputBatch(dataset.read(partition), source, partition, dataset)


def open_file(source: str, format: str | None = None) -> Any:
    """Open a file or a folder as an Arrow dataset, which is read in chunks."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    from headgate.values.errors import EngineError, MisuseError

    path = Path(source)
    if not path.exists():
        raise MisuseError(f"there is no file {source}.", hint=_hint_similar_names(path))
    kind = _choose_format(path, format)
    try:
        data = ds.dataset(
            str(path), format=_arrow_format_of(kind, path), partitioning="hive" if path.is_dir() else None
        )
    except PermissionError:
        raise EngineError(f"{source} may not be read.", hint="Let this user read it, or name another file.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise EngineError(
            f"{source} could not be read as {kind}: {_first_line(error)}.", hint=_hint_format(format)
        ) from error
    if not data.schema.names:
        raise EngineError(f"{source} has no columns.", hint=_hint_format(format))
    return data


def _looks_like_a_path(source: str) -> bool:
    return "/" in source or "\\" in source or _format_from_name(Path(source)) is not None


def _format_from_name(path: Path) -> str | None:
    """The format that the suffix of a file names; a suffix of compression is skipped."""
    suffixes = [each.lower() for each in path.suffixes if each.lower() not in _COMPRESSED]
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _choose_format(path: Path, given: str | None) -> str:
    from headgate.values.errors import MisuseError, did_you_mean

    if given is not None:
        if given not in FORMATS:
            raise MisuseError(f"{given!r} is not a format that is read;", hint=did_you_mean(given, FORMATS))
        return given
    inside = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    kind = next((name for each in inside if (name := _format_from_name(each))), None)
    if kind is None:
        raise MisuseError(f"the name of {path} does not tell its format.", hint=f"Add --format {' or '.join(FORMATS)}.")
    return kind


def _arrow_format_of(kind: str, path: Path) -> Any:
    """The format with the options of a configured dataset: a check that this file suggests must mean the same there."""
    from headgate.project.files import arrow_format
    from headgate.values.hidden import Hidden

    tabs = kind == "csv" and ".tsv" in (each.lower() for each in path.suffixes)
    inside = path.rglob("*") if path.is_dir() else [path]
    largest = max((each.stat().st_size for each in inside if each.is_file()), default=0)
    return arrow_format(kind, largest, {"sep": Hidden("\t")} if tabs else {})


def _hint_similar_names(path: Path) -> str:
    from headgate.values.errors import did_you_mean

    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder {folder} either."
    names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    return f"In {folder.resolve().name or folder}: {did_you_mean(path.name, names)}"


def _hint_format(format: str | None) -> str:
    return "Say what it is with --format parquet, csv, json or orc." if format is None else "Is it of another format?"


def _first_line(error: BaseException) -> str:
    lines = _ARROW_PREFIX.sub("", str(error).strip()).splitlines()
    return lines[0].rstrip(".")[:300] if lines else type(error).__name__
