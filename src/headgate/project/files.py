"""Reads batches from files with Arrow, without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from headgate.engine.file_errors import make_read_error
from headgate.project.path_template import BatchFile, PathTemplate
from headgate.values.errors import ConfigError, EngineError, did_you_mean
from headgate.values.hidden import Hidden

_MIN_BLOCK, _MAX_BLOCK = 1 << 20, 1 << 28  # bytes of a text file from which Arrow infers the types
_BOOLEANS = {"true": True, "false": False}
CSV_OPTIONS = ("sep", "delimiter", "header", "quote", "escape", "nullValue", "encoding")


def open_batch(
    template: PathTemplate, dataset: str, partition: str, format_name: str, options: Mapping[str, Hidden]
) -> ds.Dataset:
    """The files of a batch as one Arrow dataset with the columns of all of them."""
    paths = template.paths(partition)
    files = template.files(partition)
    if not files:
        raise template.no_such_batch(dataset, partition)
    base = paths[0] if len(paths) == 1 and paths[0] != files[0].path else ""
    try:
        file_format = arrow_format(format_name, max(each.size for each in files), options)
        return _make_dataset(template.filesystem, files, file_format, base)
    except PermissionError:
        raise EngineError(f"{dataset} {partition} may not be read.", hint=f"Let this user read {paths[0]}.") from None
    except (pa.ArrowException, OSError) as error:
        what = f"{dataset} {partition} cannot be read as {format_name}"
        raise make_read_error(what, error, _HINTS.get(format_name, "")) from None


def select_rows(data: ds.Dataset, column: str, partition: str, dataset: str) -> ds.Dataset:
    """The rows whose column equals the partition, which is cast to the type of the column."""
    return data.filter(ds.field(column) == _read_value(data, column, partition, dataset))


def select_since(data: ds.Dataset, column: str, partition: str, dataset: str) -> ds.Dataset:
    """The rows whose column is at least the partition."""
    return data.filter(ds.field(column) >= _read_value(data, column, partition, dataset))


def split_rows(data: ds.Dataset, column: str, dataset: str) -> Iterator[tuple[str, ds.Dataset]]:
    """The rows of each value of a column, with its text."""
    for value in read_values(data, column, dataset):
        yield value, select_rows(data, column, value, dataset)


def _read_value(data: ds.Dataset, column: str, partition: str, dataset: str) -> pa.Scalar:
    """A partition as a value of the column."""
    kind = _find_field(data, column, dataset).type
    try:
        return pa.scalar(partition).cast(kind)
    except pa.ArrowException:
        raise EngineError(f"{dataset}: {partition} is no value of the column {column}, which is {kind}.") from None


def read_values(data: ds.Dataset, column: str, dataset: str) -> set[str]:
    """The distinct values of a column as strings."""
    _find_field(data, column, dataset)
    values: set[str] = set()
    try:
        for batch in data.to_batches(columns={"value": ds.field(column)}):
            found = batch.column(0).unique().cast(pa.string()).to_pylist()
            values.update(str(each) for each in found if each is not None)
    except (pa.ArrowException, OSError) as error:
        raise make_read_error(f"{dataset}: the batches of {column} could not be listed", error) from None
    return values


def _find_field(data: ds.Dataset, column: str, dataset: str) -> pa.Field:
    if data.schema.get_field_index(column) < 0:
        raise EngineError(
            f"{dataset}: where: names the column {column!r};", hint=did_you_mean(column, data.schema.names)
        )
    return data.schema.field(column)


def hash_files(files: Iterable[BatchFile], root: str, *read_as: str) -> str:
    """A hash of the names, sizes and times of files and of how they are read; empty if there are no files.

    Names are relative to the root, so that the hash stays when a project is moved.
    """
    digest, count = hashlib.sha256(), 0
    for file in sorted(files):
        count += 1
        name = file.path.removeprefix(root)
        digest.update(f"{name}\0{file.size}\0{file.changed}\0".encode("utf-8", "surrogatepass"))
    digest.update("\0".join(read_as).encode("utf-8", "surrogatepass"))
    return f"files:{digest.hexdigest()[:40]}" if count else ""


def _make_dataset(filesystem: Any, files: list[BatchFile], file_format: ds.FileFormat, base: str) -> ds.Dataset:
    """The dataset of files. Folders such as `hour=06` below `base` become columns, as they do in Spark."""
    options = ds.FileSystemFactoryOptions(partition_base_dir=base or None, exclude_invalid_files=False)
    if base:
        options.partitioning_factory = ds.HivePartitioning.discover(infer_dictionary=False)
    paths = [each.path for each in files]
    factory = ds.FileSystemDatasetFactory(filesystem, paths, file_format, options)
    schemas = [file_format.inspect(path, filesystem) for path in paths]
    # The factory inspects only the first file. Its last schema is that of the folders, and is the one that is needed.
    merged = pa.unify_schemas([*schemas, factory.inspect_schemas()[-1]], promote_options="permissive")
    return factory.finish(merged)


def arrow_format(format_name: str, largest: int, options: Mapping[str, Hidden]) -> ds.FileFormat:
    """The Arrow format of these files; `largest` is the size of the largest in bytes."""
    # Arrow infers the types of a text file from its first block: that is to be the whole file, if it is not huge.
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
        except (ValueError, TypeError, LookupError) as error:
            if isinstance(error, ConfigError):
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
