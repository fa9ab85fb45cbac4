"""What an issue is, and where issues are found: a file in this folder that declares one is all it takes."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.metrics.base.arrow import kind_of, to_plain
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.key import MetricKey
from headgate.values.schema import ANY, Kind

Rows: TypeAlias = npt.NDArray[np.int64]
K = TypeVar("K", bound="type[Issue]")

NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL})

_SNAKE = re.compile(r"[a-z][a-z0-9_]*")
_found: dict[str, type[Issue]] = {}


class Issue(msgspec.Struct, frozen=True):
    """A way in which a column goes wrong, and how badly: data, like a metric. `apply_to` is a pure function.

    `levels` are the parameters that learners train on: for the paper's issues those of Auto-Validate-by-History,
    Appendix B. An issue of your own overrides `change`.
    """

    name: ClassVar[str]
    accepts: ClassVar[frozenset[Kind]] = ANY
    levels: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    needs_neighbour: ClassVar[bool] = False
    of_rows: ClassVar[bool] = False  # whether it happens to whole rows, and so may give another number of them
    is_random: ClassVar[bool] = True  # whether another seed can give another result
    widens_numbers: ClassVar[bool] = False  # whether numbers may need a larger type afterwards

    @property
    def key(self) -> MetricKey:
        """The stable name: parameters at their default are left out, so a default never changes."""
        fields = msgspec.structs.fields(self)
        given = [(field.name, getattr(self, field.name)) for field in fields if not _is_default(self, field)]
        return MetricKey(self.name, (), tuple(given))

    def __str__(self) -> str:
        return str(self.key)

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """The issue at each of its levels."""
        return tuple(cls(**level) for level in cls.levels)

    def apply_to(
        self, values: pa.Array | pa.ChunkedArray, rng: np.random.Generator, neighbour: pa.Array | None = None
    ) -> pa.Array:
        """The column after the issue, in the same Arrow type unless the new values do not fit in it.

        A null stays null. `neighbour` is another column of the same kind, for the issues that need one.
        """
        self.check(kind_of(values.type))
        flat = to_plain(values)
        if self.of_rows or not flat.null_count:
            changed = self.change(flat, rng) if len(flat) else flat
        else:
            there = np.asarray(flat.is_valid().to_numpy(zero_copy_only=False))
            changed = spread(self.change(flat.drop_null(), rng), there) if there.any() else flat
        return encode_as(changed, values.type)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        """The values after the issue. There is at least one, and none of them is null unless the issue is of rows."""
        raise NotImplementedError(f"{type(self).__name__} has no change")

    def check(self, kind: Kind) -> None:
        """Refuse a kind of column that this cannot happen to."""
        if kind not in self.accepts:
            suits = ", ".join(name for name, each in issues().items() if kind in each.accepts)
            raise MisuseError(f"{self.name} cannot happen to a {kind} column;", hint=f"these can: {suits}.")


def issue(kind: K) -> K:
    """Register an issue under its stored name."""
    if not _SNAKE.fullmatch(kind.name):
        raise MisuseError(f"{kind.name!r} cannot be a stored name.", hint="Write it in snake_case.")
    if kind.name in _found and _found[kind.name].__module__ != kind.__module__:
        raise MisuseError(f"two issues are named {kind.name!r}: {_found[kind.name].__module__} and {kind.__module__}.")
    _found[kind.name] = kind
    return kind


def issues() -> dict[str, type[Issue]]:
    """Every issue by its stored name, in alphabetical order."""
    _import_all()
    return dict(sorted(_found.items()))


def standard(kind: Kind) -> tuple[Issue, ...]:
    """Every issue that can happen to a column of this kind, at each of its levels.

    >>> [str(each) for each in standard(Kind.BOOLEAN) if each.name == "volume_change"][:2]
    ['volume_change(factor=2.0)', 'volume_change(factor=10.0)']
    """
    return tuple(variant for each in issues().values() if kind in each.accepts for variant in each.variants())


def issue_named(name: str, **parameters: Any) -> Issue:
    """The issue with this name and these parameters; misuse, where it has no such name or parameter.

    >>> print(issue_named("unit_change", factor=100))
    unit_change(factor=100.0)
    """
    known = issues()
    if name not in known:
        raise MisuseError(f"no issue is named {name!r};", hint=did_you_mean(name, known, most=len(known)))
    kind = known[name]
    for given in parameters:
        if given not in kind.__struct_fields__:
            raise MisuseError(f"{name} has no parameter {given!r};", hint=did_you_mean(given, kind.__struct_fields__))
    for field in msgspec.structs.fields(kind):
        if field.required and field.name not in parameters:
            example = kind.variants()[0].key.parameters if kind.levels else ()
            shown = "".join(f" Write {parameter}={value!r}." for parameter, value in example if parameter == field.name)
            raise MisuseError(f"{name} needs {field.name}.", hint=shown.strip())
    return kind(**parameters)


def issue_from_key(key: MetricKey | str) -> Issue:
    """The issue that a text names.

    >>> issue_from_key("increased_nulls(share=0.5)")
    IncreasedNulls(share=0.5, value='blank')
    """
    key = MetricKey.parse(key) if isinstance(key, str) else key
    if key.columns or key.where is not None:
        raise MisuseError(
            f"{key} names columns or rows; an issue has only parameters.", hint=f"Write {key.name}(parameter=value)."
        )
    return issue_named(key.name, **dict(key.parameters))


def spread(values: pa.Array, there: npt.NDArray[np.bool_]) -> pa.Array:
    """The values in the places that are marked, and nulls in the others."""
    return values.take(pa.array(np.cumsum(there) - 1, pa.int64(), mask=~there))


def encode_as(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values in this encoding (dictionary, run-end, view, unsigned 64 bits); as they are where they do not fit."""
    packed = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    inner = kind.value_type if packed else kind
    # doubles for smaller floats were made because these do not hold them, and Arrow would cast them to infinities
    if values.type == kind or (pa.types.is_floating(inner) and values.type != inner):
        return values
    try:
        if pa.types.is_dictionary(kind):
            return _dictionary(values, kind)
        if pa.types.is_run_end_encoded(kind):
            return pc.run_end_encode(values, run_end_type=kind.run_end_type)
        return values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return values


def _dictionary(values: pa.Array, kind: pa.DictionaryType) -> pa.Array:
    made = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        made.indices.cast(kind.index_type), made.dictionary.cast(kind.value_type), ordered=kind.ordered
    )


def _is_default(owner: Issue, field: msgspec.structs.FieldInfo) -> bool:
    return not field.required and getattr(owner, field.name) == field.default


@cache
def _import_all() -> None:
    import headgate.inject as room

    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    for outside in entry_points(group="headgate.issues"):
        outside.load()
