"""Arrow columns of every kind, drawn by Hypothesis: extremes, nulls, odd types, hostile text, bytes that are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import strategies as st

from headgate.metrics.states.frequencies import Frequencies
from headgate.values.schema import Kind

Values = st.SearchStrategy[Any]
MOST = 24
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

HOSTILE_NAMES = ("", ".", "a.b", ".a", "a b", '"', "'", "`", "``a``", "a\nb", "\t", "\\", "a=b", "a,b", "(", ")", "#2",
                 "where", "null", "TRUE", "é", "名前", "😀", "\u202eabc", "<script>", "a" * 5000)  # fmt: skip

_TEXT = st.one_of(
    st.sampled_from(
        ["", " ", "a", "A", "0", "é", "ß", "中文", "😀", "𐐷", "a\u0301", "\u00a0", "\x00", "\t", "1999-01-02"]
    ),
    st.text(alphabet="abcXYZ019 -_./", max_size=8),
    st.text(alphabet=st.characters(max_codepoint=0x31FFF, exclude_categories=["Cs"]), max_size=6),
)
_NOT_UTF8 = st.sampled_from(
    [b"\xff", b"\xc3", b"\xe2\x82", b"\x80abc", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"ab\xfe\xffcd"]
)
_BYTES = st.one_of(st.binary(max_size=8), st.sampled_from([b"", b"\x00", b"\xff" * 20]), _NOT_UTF8)


class Of(NamedTuple):
    """A type with the values to draw for it and the way from them to an array, where Arrow's own is not enough."""

    type: pa.DataType
    values: Values
    build: Callable[[list[Any], pa.DataType], pa.Array] = pa.array


def names() -> st.SearchStrategy[str]:
    """Column names, most of them hostile."""
    return st.one_of(
        st.sampled_from(HOSTILE_NAMES), st.text(max_size=12), st.text(alphabet="abc_", min_size=1, max_size=4)
    )


def columns(kind: Kind, *, most: int = MOST) -> st.SearchStrategy[pa.Array]:
    """One column of a kind, with nulls."""
    return of_kind(kind).flatmap(lambda of: arrays(of, most=most))


def arrays(of: Of, *, least: int = 0, most: int = MOST) -> st.SearchStrategy[pa.Array]:
    """Columns of one type, with nulls."""
    cells = st.one_of(st.none(), of.values, of.values, of.values)
    return st.lists(cells, min_size=least, max_size=most).map(lambda values: of.build(values, of.type))


def of_kind(kind: Kind) -> st.SearchStrategy[Of]:
    """The types of a kind."""
    return st.sampled_from(_TYPES[kind])


def kinds() -> st.SearchStrategy[Kind]:
    return st.sampled_from(list(Kind))


@st.composite
def tables(draw: st.DrawFn, *, most: int = MOST) -> pa.Table:
    """Tables of up to five columns of any kind; names are unique, nothing else about them is kind."""
    rows = draw(st.integers(0, most))
    labels = draw(st.lists(names(), min_size=1, max_size=5, unique=True))
    chosen = [draw(kinds().flatmap(of_kind)) for _ in labels]
    return pa.table([draw(arrays(of, least=rows, most=rows)) for of in chosen], names=labels)


def text_of_bytes(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """A string array that Arrow has not looked at: its bytes may be no UTF-8."""
    raw = pa.array(values, pa.binary() if pa.types.is_string(kind) else pa.large_binary())
    return pa.Array.from_buffers(kind, len(raw), raw.buffers(), raw.null_count)


# pyarrow has views from version 16 on.
TEXT_VIEWS = [pa.string_view()] if hasattr(pa, "string_view") else []
BYTE_VIEWS = [pa.binary_view()] if hasattr(pa, "binary_view") else []


def taken(array: pa.Array, rows: npt.NDArray[np.int64]) -> pa.Array:
    """These rows; Arrow cannot take from views, so they go by way of plain arrays."""
    views = {**dict.fromkeys(TEXT_VIEWS, pa.large_string()), **dict.fromkeys(BYTE_VIEWS, pa.large_binary())}
    plain = views.get(array.type, array.type)
    return array.cast(plain).take(pa.array(rows, pa.int64())).cast(array.type)


def _as_view(values: list[Any], kind: pa.DataType) -> pa.Array:
    whole = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(values, whole).view(kind)


def _whole_days(values: list[int | None], kind: pa.DataType) -> pa.Array:
    return _as_view([None if day is None else day * 86_400_000 for day in values], kind)


def _integers(kind: pa.DataType, bits: int) -> Of:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return Of(kind, st.one_of(st.integers(low, high), st.integers(-3, 3), st.sampled_from([low, high])))


def _floats(kind: pa.DataType, width: int) -> Of:
    odd = st.sampled_from([float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 0.1, 5e-324 if width == 64 else 0.5])
    return Of(kind, st.one_of(st.floats(width=width), odd, st.floats(-1000, 1000, width=width)), _as_floats)


def _as_floats(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Not every pyarrow takes a half float from a float of Python."""
    is_half = pa.types.is_float16(kind)
    return pa.array([np.float16(value) if is_half and value is not None else value for value in values], kind)


def _decimals(kind: pa.DataType) -> Of:
    most = 10**kind.precision - 1
    unscaled = st.one_of(st.integers(-most, most), st.integers(-5, 5), st.sampled_from([most, -most]))
    return Of(kind, unscaled.map(lambda whole: Decimal(f"{whole}E-{kind.scale}")))


def _moments(unit: str, zone: str | None) -> Of:
    every = st.integers(-(2**63) + 1, 2**63 - 1)
    usual = st.integers(-(10**9), 4 * 10**9).map(lambda second: second * _UNITS[unit])
    return Of(pa.timestamp(unit, zone), st.one_of(usual, every, st.integers(-3, 3)), _as_view)


_TYPES: dict[Kind, list[Of]] = {
    Kind.INTEGER: [
        _integers(pa.int64(), 64),
        _integers(pa.int32(), 32),
        _integers(pa.int8(), 8),
        Of(pa.uint32(), st.integers(0, 2**32 - 1)),
    ],
    Kind.FLOAT: [_floats(pa.float64(), 64), _floats(pa.float32(), 32), _floats(pa.float16(), 16)],
    Kind.DECIMAL: [
        _decimals(pa.decimal128(9, 2)),
        _decimals(pa.decimal128(18, 5)),
        _decimals(pa.decimal128(38, 18)),
        _decimals(pa.decimal256(50, 10)),
        Of(pa.uint64(), st.one_of(st.integers(0, 2**64 - 1), st.just(2**64 - 1))),
    ],
    Kind.BOOLEAN: [Of(pa.bool_(), st.booleans())],
    Kind.STRING: [
        Of(pa.string(), _TEXT),
        Of(pa.large_string(), _TEXT),
        *(Of(kind, _TEXT) for kind in TEXT_VIEWS),
        Of(pa.string(), st.one_of(_TEXT.map(str.encode), _NOT_UTF8), text_of_bytes),
        Of(pa.large_string(), st.one_of(_TEXT.map(str.encode), _NOT_UTF8), text_of_bytes),
    ],
    Kind.DATE: [
        Of(pa.date32(), st.one_of(st.integers(-30_000, 60_000), st.integers(-(2**31), 2**31 - 1)), _as_view),
        Of(pa.date64(), st.integers(-30_000, 60_000), _whole_days),
    ],
    Kind.TIMESTAMP: [_moments(unit, zone) for unit in _UNITS for zone in (None, "UTC", "Asia/Kolkata")],
    Kind.BINARY: [
        Of(pa.binary(), _BYTES),
        Of(pa.large_binary(), _BYTES),
        *(Of(kind, _BYTES) for kind in BYTE_VIEWS),
        Of(pa.binary(3), st.binary(min_size=3, max_size=3)),
    ],
    Kind.OTHER: [
        Of(pa.list_(pa.int64()), st.lists(st.one_of(st.none(), st.integers(-9, 9)), max_size=3)),
        Of(pa.struct({"x": pa.int64(), "y": pa.string()}), st.fixed_dictionaries({"x": st.integers(0, 9), "y": _TEXT})),
        Of(pa.map_(pa.string(), pa.int64()), st.lists(st.tuples(st.text(max_size=2), st.integers(-9, 9)), max_size=2)),
        Of(pa.time64("us"), st.integers(0, 86_399_999_999)),
        Of(pa.duration("s"), st.integers(-(10**6), 10**6)),
        Of(pa.null(), st.none()),
    ],
}  # fmt: skip


def frequencies(labels: Mapping[str, int], capacity: int = 512) -> Frequencies:
    """A summary of these labels."""
    names = list(labels)
    counts = np.array(list(labels.values()), np.int64)
    return Frequencies.of(counts, lambda at: [names[each] for each in at.tolist()], capacity)
