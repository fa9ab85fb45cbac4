"""Batches in files, read by this process with Arrow."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from headgate.project.path_template import BatchFile, PathTemplate
from headgate.values.errors import ConfigError, EngineError, did_you_mean
from headgate.values.hidden import Hidden

_MIN_BLOCK, _MAX_BLOCK = 1 << 20, 1 << 28  # bytes of a text file from which its types are told
_BOOLEANS = {"true": True, "false": False}
CSV_OPTIONS = ("sep", "delimiter", "header", "quote", "escape", "nullValue", "encoding")


def open_batch(
    template: PathTemplate, dataset: str, partition: str, format_name: str, options: Mapping[str, Hidden]
) -> ds.Dataset:
    """The files of a batch as one Arrow dataset, whose columns are those of all its files."""
    places = template.places(partition)
    files = template.files(partition)
    if not files:
        raise template.no_such_batch(dataset, partition)
    base = places[0] if len(places) == 1 and places[0] != files[0].path else ""
    try:
        read_as = arrow_format(format_name, max(each.size for each in files), options)
        return _make_dataset(template.filesystem, files, read_as, base)
    except PermissionError:
        raise EngineError(f"{dataset} {partition} may not be read.", hint=f"Let this user read {places[0]}.") from None
    except (pa.ArrowException, OSError) as trouble:
        what = " ".join(str(trouble).split())[:300]
        raise EngineError(
            f"{dataset} {partition} cannot be read as {format_name}: {what.rstrip('.')}.",
            hint=_HINTS.get(format_name, ""),
        ) from None


def select_rows(data: ds.Dataset, column: str, partition: str, dataset: str) -> ds.Dataset:
    """Those rows of a dataset whose column has the batch's name, whatever type the column has."""
    kind = _find_field(data, column, dataset).type
    try:
        wanted = pa.scalar(partition).cast(kind)
    except pa.ArrowException:
        raise EngineError(f"{dataset}: {partition} is no value of the column {column}, which is {kind}.") from None
    return data.filter(ds.field(column) == wanted)


def read_values(data: ds.Dataset, column: str, dataset: str) -> set[str]:
    """The values of a column as texts."""
    _find_field(data, column, dataset)
    found: set[str] = set()
    for batch in data.to_batches(columns={"value": ds.field(column)}):
        found.update(str(each) for each in batch.column(0).unique().cast(pa.string()).to_pylist() if each is not None)
    return found


def _find_field(data: ds.Dataset, column: str, dataset: str) -> pa.Field:
    if data.schema.get_field_index(column) < 0:
        raise EngineError(
            f"{dataset}: where: names the column {column!r};", hint=did_you_mean(column, data.schema.names)
        )
    return data.schema.field(column)


def fingerprint_files(files: Iterable[BatchFile], root: str, *read_as: str) -> str | None:
    """Tells one input from another by the names, sizes and times of its files, and by how they are read."""
    whole, count = hashlib.sha256(), 0
    for each in sorted(files):
        count += 1
        name = each.path.removeprefix(root)
        whole.update(f"{name}\0{each.size}\0{each.changed}\0".encode("utf-8", "surrogatepass"))
    whole.update("\0".join(read_as).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()[:40] if count else None


def _make_dataset(filesystem: Any, files: list[BatchFile], file_format: ds.FileFormat, base: str) -> ds.Dataset:
    """Folders below the batch's own (`hour=06`) become columns, as they do in Spark."""
    options = ds.FileSystemFactoryOptions(partition_base_dir=base or None, exclude_invalid_files=False)
    if base:
        options.partitioning_factory = ds.HivePartitioning.discover(infer_dictionary=False)
    paths = [each.path for each in files]
    factory = ds.FileSystemDatasetFactory(filesystem, paths, file_format, options)
    inspected = [file_format.inspect(path, filesystem) for path in paths]
    # of the factory's own, the last is that of the folders; of files it looks at the first only
    merged = pa.unify_schemas([*inspected, factory.inspect_schemas()[-1]], promote_options="permissive")
    return factory.finish(merged)


def arrow_format(format_name: str, largest: int, options: Mapping[str, Hidden]) -> ds.FileFormat:
    """How files of a format are read, the largest of which has so many bytes."""
    block = min(_MAX_BLOCK, max(_MIN_BLOCK, largest + 1))
    match format_name:
        case "csv":
            return _csv_format(options, block)
        case "json":
            import pyarrow.json as pj

            _check_options(options, ())
            return ds.JsonFileFormat(read_options=pj.ReadOptions(block_size=block))
        case "orc":
            _check_options(options, ())
            return ds.OrcFileFormat()
    _check_options(options, ())
    return ds.ParquetFileFormat()


def _csv_format(options: Mapping[str, Hidden], block: int) -> ds.FileFormat:
    import pyarrow.csv as pc

    _check_options(options, CSV_OPTIONS)
    parse, read, convert = (
        pc.ParseOptions(newlines_in_values=True),
        pc.ReadOptions(block_size=block),
        pc.ConvertOptions(),
    )
    convert.strings_can_be_null = True
    convert.quoted_strings_can_be_null = False
    setters: dict[str, Callable[[str], None]] = {
        "sep": lambda value: setattr(parse, "delimiter", value),
        "delimiter": lambda value: setattr(parse, "delimiter", value),
        "quote": lambda value: setattr(parse, "quote_char", value or False),
        "escape": lambda value: setattr(parse, "escape_char", value or False),
        "nullValue": lambda value: setattr(convert, "null_values", [value]),
        "encoding": lambda value: setattr(read, "encoding", value),
        "header": lambda value: setattr(read, "autogenerate_column_names", not _parse_bool("header", value)),
    }
    for name, value in options.items():
        try:
            setters[name](value.reveal())
        except (ValueError, TypeError, LookupError) as trouble:
            if isinstance(trouble, ConfigError):
                raise
            raise ConfigError(f"the option {name!r} cannot be this.", hint=f"Write {_EXAMPLES[name]}.") from None
    return ds.CsvFileFormat(parse_options=parse, read_options=read, convert_options=convert)


def _parse_bool(name: str, value: str) -> bool:
    if value.lower() not in _BOOLEANS:
        raise ConfigError(f"the option {name!r} is true or false.", hint=f"Write {_EXAMPLES[name]}.")
    return _BOOLEANS[value.lower()]


def _check_options(options: Mapping[str, Hidden], known: tuple[str, ...]) -> None:
    for name in options:
        if name not in known:
            raise ConfigError(
                f"the local engine knows no option {name!r} of this format;",
                hint=f"{did_you_mean(name, known)} With engine: spark all of Spark's are known.",
            )


_EXAMPLES = {
    "sep": 'options: {sep: ";"}',
    "delimiter": 'options: {delimiter: ";"}',
    "header": "options: {header: false}",
    "quote": 'options: {quote: "\'"}',
    "escape": 'options: {escape: "\\\\"}',
    "nullValue": "options: {nullValue: NA}",
    "encoding": "options: {encoding: latin-1}",
}
_HINTS = {
    "csv": 'Is the separator right? Write options: {sep: ";"}.',
    "json": "The local engine reads one JSON object in each line.",
    "parquet": "Is format: right? It is parquet if nothing is said.",
}
