"""The files and columns that a scan of an Iceberg table reads, as Iceberg plans it.

Iceberg finds a column of a file by the id of its field, whatever its name was when the file was written. Tested by
`tests/integrations/tables/test_files.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headgate.engine.parquet_files import FileColumn, FilePart
from headgate.engine.parquet_types import UnlikeSpark
from headgate.engine.spark_file_list import MOST_FILES, ListedFile, iterate

_TABLE = "org.apache.iceberg.spark.source.SparkTable"
_SCAN = "org.apache.iceberg.spark.source.SparkBatchQueryScan"
_LEAST_RESERVED = 2**31 - 1_000  # ids of columns that no file has, such as the name of the file
_MAGIC_BYTES = 4  # at the begin of a file, before its first row group
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_iceberg_relation(node: Any) -> bool:
    """Whether a logical plan, in the JVM, reads a table of Iceberg."""
    is_table = node.getClass().getSimpleName() == "DataSourceV2Relation"
    return is_table and bool(node.table().getClass().getName() == _TABLE)


def is_iceberg_scan(node: Any) -> bool:
    """Whether a physical plan, in the JVM, is a scan of a snapshot of an Iceberg table, whose files are known."""
    is_scan = node.getClass().getSimpleName() == "BatchScanExec"
    return is_scan and node.scan().getClass().getName() == _SCAN and bool(node.runtimeFilters().isEmpty())


def list_iceberg_files(
    scan: Any, columns: Sequence[FileColumn], settings: Any
) -> tuple[list[FileColumn], list[ListedFile]]:
    """The columns with the ids that they have in files, and the files. Raises `UnlikeSpark` if tasks cannot read them.

    Args:
        scan: The physical scan.
        columns: The columns that it reads.
        settings: The settings of Hadoop, in the JVM.
    """
    default = urlsplit(settings.get("fs.defaultFS") or "file:///")
    sizes: dict[str, int] = {}
    unread: dict[str, int] = {}
    schema, identity = None, set[int]()
    for task in _list_tasks(scan):
        file = task.file()
        _check_file(task, file)
        location = str(file.location())
        sizes[location] = int(file.fileSizeInBytes())
        unread[location] = unread.get(location, sizes[location]) - int(task.length())
        if len(sizes) > MOST_FILES:
            raise UnlikeSpark(f"it has more than {MOST_FILES:,} files")
        if schema is None:
            schema = task.schema().asStruct()
        identity |= {int(each) for each in _iterate_java(task.spec().identitySourceIds())}
    if any(left not in (0, _MAGIC_BYTES) for left in unread.values()):
        raise UnlikeSpark("it reads parts of files, or a file twice")
    if schema is not None:
        columns = [_identify_column(column, schema, identity) for column in columns]
    return list(columns), [_list_file(location, size, default) for location, size in sizes.items()]


def _list_tasks(scan: Any) -> Iterator[Any]:
    for partition in iterate(scan.inputPartitions()):
        yield from _iterate_java(partition.taskGroup().tasks())


def _iterate_java(collection: Any) -> Iterator[Any]:
    """The elements of a collection of Java, which Python iterates over only if it is a list or a set."""
    elements = collection.iterator()
    while elements.hasNext():
        yield elements.next()


def _check_file(task: Any, file: Any) -> None:
    if not task.deletes().isEmpty():
        raise UnlikeSpark("rows of a file are deleted")
    form = str(file.format())
    if form != "PARQUET":
        raise UnlikeSpark(f"a file is {form}")
    if file.keyMetadata() is not None:
        raise UnlikeSpark("a file is encrypted")


def _identify_column(column: FileColumn, schema: Any, identity: set[int]) -> FileColumn:
    field = schema.field(column.name)
    if field is None or field.fieldId() >= _LEAST_RESERVED:
        raise UnlikeSpark(f"no file has {column.name!r}")
    if field.initialDefault() is not None:
        raise UnlikeSpark(f"{column.name!r} has a value in files that lack it")
    ids = tuple(_list_ids(field))
    return msgspec.structs.replace(column, ids=ids, is_always_stored=ids[0] in identity)


def _list_ids(field: Any) -> Iterator[int]:
    """The id of a field of Iceberg, then those of the fields inside it."""
    yield int(field.fieldId())
    if field.type().isNestedType():
        for inner in _iterate_java(field.type().asNestedType().fields()):
            yield from _list_ids(inner)


def _list_file(location: str, size: int, default: Any) -> ListedFile:
    """A file by its location, which is no URL: what stands in it is not quoted."""
    if not _SCHEME.match(location):
        return ListedFile((default.scheme, default.netloc), FilePart(location, 0, None), size)
    scheme, _, rest = location.partition(":")
    if not rest.startswith("//"):
        return ListedFile((scheme, ""), FilePart(rest, 0, None), size)
    host, slash, path = rest[2:].partition("/")
    return ListedFile((scheme, host), FilePart(slash + path, 0, None), size)
