"""The types of Parquet columns as Spark reads them, and as Arrow does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine.nested import TypeTree
from headgate.metrics.base.arrow import kind_of
from headgate.values.schema import Kind

if TYPE_CHECKING:
    import pyarrow.parquet as pq


class UnlikeSpark(Exception):
    """A file that Arrow would not read as Spark does."""


_PLAIN = {
    ("BOOLEAN", "NONE"): "boolean",
    ("INT32", "NONE"): "int",
    ("INT32", "DATE"): "date",
    ("INT64", "NONE"): "bigint",
    ("INT96", "NONE"): "timestamp",
    ("FLOAT", "NONE"): "float",
    ("DOUBLE", "NONE"): "double",
    ("BYTE_ARRAY", "NONE"): "binary",
    ("BYTE_ARRAY", "STRING"): "string",
}
_INTEGERS = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}
_ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEMPORAL = frozenset({Kind.DATE, Kind.TIMESTAMP})
_FIRST_DAY = -141_427  # 1582-10-15, before which the calendars differ
_FIRST_MOMENT = -2_208_988_800_000_000  # 1900-01-01, before which time zones had odd offsets
_VERSION, _LEGACY = b"org.apache.spark.version", (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


def make_arrow_type(tree: TypeTree) -> pa.DataType:
    """The Arrow type of values of a Spark type that is not nested."""
    if decimal := _DECIMAL.fullmatch(tree.type):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if tree.type not in _ARROW:
        raise UnlikeSpark(f"there are no {tree.type} values in a file")
    return _ARROW[tree.type]


def has_moments(tree: TypeTree) -> bool:
    """Whether values of this type are dates or timestamps, or have such inside."""
    inside = [inner for _, inner in tree.fields]
    if tree.element is not None:
        inside.append(tree.element)
    return tree.kind in _TEMPORAL or any(map(has_moments, inside))


class StoredSchema:
    """The columns of one file: as what each of their leaves is stored, and how they are found."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self.arrow = file.schema_arrow
        self.facts: Mapping[bytes, bytes] = file.metadata.metadata or {}
        self.positions: dict[str, int] = {}  # of each leaf among the chunks of a row group
        self._leaves: dict[str, list[str]] = {}
        self._plain: set[str] = set()
        for at in range(len(file.schema)):
            leaf = file.schema.column(at)
            self.positions[leaf.path] = at
            if leaf.max_repetition_level == 0 and leaf.max_definition_level <= 1:
                self._plain.add(leaf.path)
            self._leaves.setdefault(leaf.path.partition(".")[0], []).append(_read_leaf(leaf))
        names = self.arrow.names
        # Arrow takes a dot in a name for a step into a struct
        self._unclear = {part for name in names if "." in name for part in (name, name.partition(".")[0])}
        self._counts = Counter(names)
        self._by_id: dict[int, str] = {}
        self._by_lower: dict[str, list[str]] = {}
        for name in self._counts:
            self._by_lower.setdefault(name.lower(), []).append(name)

    def is_plain(self, name: str) -> bool:
        """Whether a column has one value or null in every row, so that its footer counts nulls of rows."""
        return name in self._plain

    def find_column(self, wanted: str, tree: TypeTree, ignores_case: bool) -> str | None:
        """The name of a column in the file; None if the file lacks it.

        Raises `UnlikeSpark` if Spark does not read it as values of this type, or Arrow does not.
        """
        alike = self._by_lower.get(wanted.lower(), [])
        found = [name for name in alike if ignores_case or name == wanted]
        if not found:
            return None
        if len(found) > 1 or self._counts[found[0]] > 1 or found[0] in self._unclear:
            raise UnlikeSpark(f"a file has several columns {wanted!r}, or a dot in the name")
        self._check_type(found[0], tree)
        return found[0]

    def find_field(self, ids: Sequence[int], tree: TypeTree) -> str | None:
        """The name of the column with the first of these ids; None if the file lacks it.

        Raises `UnlikeSpark` if the fields inside it have others than the rest of the ids, or as `find_column` does.
        """
        if not self._by_id:
            self._by_id = {found[0]: each.name for each in self.arrow if (found := list_field_ids(each))}
        if not self._by_id:
            raise UnlikeSpark("a file has no ids of fields")
        name = self._by_id.get(ids[0])
        if name is None:
            return None
        if self._counts[name] > 1 or name in self._unclear:
            raise UnlikeSpark(f"a file has several columns {name!r}, or a dot in the name")
        if list_field_ids(self.arrow.field(name)) != list(ids):
            raise UnlikeSpark(f"{name!r} has other fields inside in a file")
        self._check_type(name, tree)
        return name

    def _check_type(self, name: str, tree: TypeTree) -> None:
        if has_moments(tree):
            _check_writer(self.facts)
        leaves = self._leaves.get(name, [])
        if not _match(tree, self.arrow.field(name).type, iter(leaves)):
            stored = ", ".join(leaf or "another type" for leaf in leaves)
            raise UnlikeSpark(f"{name!r} is {tree.type} for Spark, and stored as {stored}")


def list_field_ids(field: pa.Field) -> list[int]:
    """The ids that Iceberg gave a field and those inside it, from the outside to the inside; -1 where there is none.

    >>> marks = [{"PARQUET:field_id": str(number)} for number in range(1, 4)]
    >>> inner = pa.field("city", pa.string(), metadata=marks[1])
    >>> list_field_ids(pa.field("address", pa.struct([inner]), metadata=marks[0]))
    [1, 2]
    >>> list_field_ids(pa.field("id", pa.int64()))
    []
    """
    mark = (field.metadata or {}).get(b"PARQUET:field_id")
    if mark is None:
        return []
    kind = field.type
    if pa.types.is_map(kind):
        inside = [kind.key_field, kind.item_field]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inside = [kind.value_field]
    else:
        inside = [kind.field(at) for at in range(kind.num_fields)]
    return [int(mark), *(each for inner in inside for each in list_field_ids(inner) or [-1])]


def check_calendar(facts: Mapping[bytes, bytes] | None, array: pa.Array) -> None:
    """Raise `UnlikeSpark` for days so old that the calendar matters, which the writer of the file does not tell."""
    if _VERSION in (facts or {}):
        return
    if not (pa.types.is_date32(array.type) or pa.types.is_timestamp(array.type)):
        raise UnlikeSpark("days or moments in nested values, by an unknown calendar")
    least = pc.min(array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64())).as_py()
    first = _FIRST_DAY if pa.types.is_date32(array.type) else _FIRST_MOMENT
    unit = 1_000 if pa.types.is_timestamp(array.type) and array.type.unit == "ms" else 1
    if least is not None and least * unit < first:
        raise UnlikeSpark("days or moments before 1900, by an unknown calendar")


def _check_writer(facts: Mapping[bytes, bytes]) -> None:
    """Spark before 3.1 used another calendar, and so do later ones if they are asked to."""
    version = facts.get(_VERSION, b"9").decode("utf-8", "replace")
    major_minor = re.match(r"(\d+)(?:\.(\d+))?", version)
    old = major_minor is None or (int(major_minor[1]), int(major_minor[2] or 9)) < (3, 1)
    if old or any(name in facts for name in _LEGACY):
        raise UnlikeSpark("a file with the calendar of an older Spark")


def _read_leaf(leaf: pq.ColumnSchema) -> str:
    logical = leaf.logical_type.type
    if plain := _PLAIN.get((leaf.physical_type, logical)):
        return plain
    if logical == "DECIMAL":
        return f"decimal({leaf.precision},{leaf.scale})"
    facts = json.loads(leaf.logical_type.to_json())
    if logical == "INT" and facts.get("isSigned"):
        return _INTEGERS.get(int(facts["bitWidth"]), "")
    if logical == "TIMESTAMP" and facts.get("timeUnit") in ("milliseconds", "microseconds"):
        return "timestamp" if facts["isAdjustedToUTC"] else "timestamp_ntz"
    return ""


def _match(tree: TypeTree, kind: pa.DataType, leaves: Iterator[str]) -> bool:
    """Whether an Arrow type is that of a Spark type, and each of its leaves is stored as Spark expects."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if tree.fields:
        fields = [kind.field(at) for at in range(kind.num_fields)] if pa.types.is_struct(kind) else []
        if [field.name for field in fields] != [name for name, _ in tree.fields]:
            return False
        pairs = zip(tree.fields, fields, strict=True)
        return all(_match(inner, field.type, leaves) for (_, inner), field in pairs)
    if tree.element is not None and pa.types.is_map(kind) and tree.type.startswith("map"):
        (_, key), (_, value) = tree.element.fields or (("", tree), ("", tree))
        return _match(key, kind.key_type, leaves) and _match(value, kind.item_type, leaves)
    if tree.element is not None:
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return is_list and not tree.type.startswith("map") and _match(tree.element, kind.value_type, leaves)
    if pa.types.is_decimal(kind) and not pa.types.is_decimal128(kind):
        return False  # the hash of a decimal depends on its width
    return next(leaves, "") == tree.type and kind_of(kind) is tree.kind
