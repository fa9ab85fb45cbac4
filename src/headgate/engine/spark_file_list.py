"""The files that a scan of Spark reads, as Spark lists them: where each is, how large, and its partition.

Tested by `tests/spark/test_spark_files.py`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyspark.sql.types import StructField, StructType

from headgate.engine.parquet_files import FilePart
from headgate.engine.parquet_types import UnlikeSpark
from headgate.engine.s3_access import S3Access, read_access

MOST_FILES = 5_000  # the driver asks the JVM about each
_DELETED_ROWS = "row_index_filter"  # how the names of facts begin that Delta keeps of the deleted rows of a file
_FOLDER_TYPES = frozenset({"string", "int", "bigint", "boolean", "date"})


def read_fields(schema: Any) -> list[StructField]:
    """The fields of a schema of the JVM, by one call for all of them."""
    return StructType.fromJson(json.loads(schema.json())).fields


def iterate(sequence: Any) -> Iterator[Any]:
    """The elements of a sequence of Scala."""
    return (sequence.apply(at) for at in range(sequence.size()))


def list_keys(scala_map: Any) -> list[str]:
    """The keys of a map of Scala."""
    return [str(key) for key in iterate(scala_map.keys().toSeq())]


class ListedFile(NamedTuple):
    """A file: where it is, as a scheme and a host, how a task finds it there, and its size in bytes."""

    place: tuple[str, str]
    part: FilePart
    size: int


def list_files(scan: Any) -> list[ListedFile]:
    """The files of the partitions that the conditions of a scan leave.

    Files without any byte are left out: Spark reads no part of them. Raises `UnlikeSpark` if tasks cannot have them.
    """
    relation = scan.relation()
    types = [field.dataType.simpleString() for field in read_fields(relation.partitionSchema())]
    if unknown := set(types) - _FOLDER_TYPES:
        raise UnlikeSpark(f"a partition column is a {min(unknown)}")
    found: list[ListedFile] = []
    for folder in iterate(relation.location().listFiles(scan.partitionFilters(), scan.dataFilters())):
        values = tuple(_read_value(folder.values(), at, kind) for at, kind in enumerate(types))
        files = folder.files()
        if len(found) + files.size() > MOST_FILES:
            raise UnlikeSpark(f"it has more than {MOST_FILES:,} files")
        for file in iterate(files):
            facts = file.metadata()
            if facts.nonEmpty() and any(name.startswith(_DELETED_ROWS) for name in list_keys(facts)):
                raise UnlikeSpark("rows of a file are deleted")
            address, size = file.getPath().toUri(), int(file.getLen())
            if size:
                place = (address.getScheme(), address.getAuthority() or "")
                found.append(ListedFile(place, FilePart(address.getPath(), 0, None, values), size))
    return found


def find_access(places: set[tuple[str, str]], settings: Any) -> S3Access | None:
    """How tasks open files in these places, each a scheme and a host; None for local files.

    Args:
        places: Where the files are.
        settings: The settings of Hadoop, in the JVM.
    """
    if places <= {("file", "")}:
        return None
    scheme, bucket = min(places)
    if len(places) > 1 or scheme != "s3a":
        raise UnlikeSpark(f"the files are in {scheme}://")
    access = read_access(bucket, settings.get)
    if access is None:
        raise UnlikeSpark(f"the session's settings have no keys and region for s3a://{bucket}")
    return access


def _read_value(row: Any, at: int, kind: str) -> Any:
    if row.isNullAt(at):
        return None
    match kind:
        case "string":
            return row.getUTF8String(at).toString()
        case "int":
            return row.getInt(at)
        case "bigint":
            return row.getLong(at)
        case "boolean":
            return row.getBoolean(at)
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=row.getInt(at))
