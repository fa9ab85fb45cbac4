"""The values at a place inside a nested Arrow column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine.nested import PathStep, Reading, TypeTree
from headgate.metrics.base.arrow import kind_of, to_plain

_TYPES = 256  # that are kept: the batches of a table have the same
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}

Offsets = npt.NDArray[np.int64]


@lru_cache(maxsize=_TYPES)
def read_arrow_type(kind: pa.DataType, text: str = "") -> TypeTree:
    """An Arrow type with the types inside it."""
    is_ = pa.types
    fields: tuple[tuple[str, TypeTree], ...] = ()
    element: TypeTree | None = None
    reading: Reading | None = None
    if is_.is_struct(kind):
        fields = tuple((each.name, read_arrow_type(each.type)) for each in map(kind.field, range(kind.num_fields)))
    elif is_.is_map(kind):
        element = read_arrow_type(pa.struct([("key", kind.key_type), ("value", kind.item_type)]))
    elif _is_list(kind):
        element = read_arrow_type(kind.value_type)
    elif is_.is_duration(kind) or is_.is_time(kind):
        reading = "seconds"
    if element is not None:
        reading = "size"
    return TypeTree(kind_of(kind), text or str(kind), fields, element, reading)


def _is_list(kind: pa.DataType) -> bool:
    is_ = pa.types
    names = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(is_, name)(kind) for name in names if hasattr(is_, name))


def read_place(array: Any, steps: Sequence[PathStep]) -> pa.Array:
    """The values at a place: one in each row, or a list of them if the place is inside an array or a map."""
    values, offsets = _follow_steps(to_plain(array), steps)
    return values if offsets is None else pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _follow_steps(array: pa.Array, steps: Sequence[PathStep]) -> tuple[pa.Array, Offsets | None]:
    """The values at a place, and where those of each row begin; None if every row has one."""
    if not steps:
        return to_plain(array), None
    first, rest = steps[0], steps[1:]
    if first.to == "field":
        return _follow_steps(pc.struct_field(array, [first.index]), rest)  # with the nulls of the struct
    if first.to == "seconds":
        return _count_seconds(array), None
    values, lengths = _split_lists(array)
    if first.to == "size":
        return pa.array(lengths, pa.int32(), mask=np.asarray(array.is_null())), None
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    inside, inner = _follow_steps(to_plain(values), rest)
    return inside, offsets if inner is None else inner[offsets]


def _count_seconds(array: pa.Array) -> pa.Array:
    """A duration, or a time since midnight, in seconds."""
    width = pa.int32() if pa.types.is_time32(array.type) else pa.int64()
    return pc.divide(array.view(width).cast(pa.float64(), safe=False), _PER_SECOND[array.type.unit])


def _split_lists(array: pa.Array) -> tuple[pa.Array, Offsets]:
    """The elements of all rows one after another, and how many each row has. A null has none."""
    if not pa.types.is_map(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0)
        return array.flatten(), lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    bounds = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    entries = pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"])
    entries = entries.slice(bounds[0], bounds[-1] - bounds[0])
    valid, lengths = np.asarray(array.is_valid()), np.diff(bounds)
    if lengths[~valid].any():
        entries = entries.filter(pa.array(np.repeat(valid, lengths)))
    return entries, np.where(valid, lengths, 0)


class Elements(NamedTuple):
    """The elements of one column of a batch as rows, beside the values of the other columns in their rows."""

    columns: dict[str, pa.Array]
    offsets: Offsets

    @property
    def total(self) -> int:
        return int(self.offsets[-1])

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row of each element."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def split_elements(label: str, rows: Mapping[str, Any], names: Iterable[str]) -> Elements:
    """A row for each value of a repeated column, with these columns of the batch."""
    values, lengths = _split_lists(to_plain(rows[label]))
    elements = Elements({label: values}, np.concatenate([[0], np.cumsum(lengths)]))
    others = [name for name in names if name != label]
    if others:
        places = pa.array(elements.rows)
        elements.columns.update({name: to_plain(rows[name]).take(places) for name in others})
    return elements
