"""Envelopes with right checksums whose content is absurd.

Of 26,000 operations on states with one field replaced, 3,700 ended with IndexError, ValueError, OverflowError,
struct.error or UnicodeDecodeError. Now such content is refused when it is decoded.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import metrics
from headgate.values.codec import Head, decode, encode, seal, unpack_state
from headgate.values.errors import CorruptBytes, HeadgateError
from headgate.values.state import State, state_types, tag_of
from tests.laws.cases import every_case

metrics()
KINDS = state_types()
COLUMNS = {
    "integer": pa.array([1, 2, 2, 3, None]),
    "float": pa.array([1.5, 2, 2, None, 4]),
    "string": pa.array(["a", "b", "b", None, "ccc 1"]),
    "boolean": pa.array([True, False, None, True, True]),
}
NUMBERS = (
    -1, 0, 1, 2**53, 2**63 - 1, -(2**63), 2**64 - 1, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), True,
)  # fmt: skip
BYTES = (
    b"", b"\x00", b"\xff" * 7, b"\xff" * 8, b"\x00" * 16, b"\xff" * 16, b"\x01" + b"\x00" * 7, b"\xff" * 4096,
    b"\x02\x01\x07\x0c" + b"\xff" * 60, b"\x0a\x01\x07\x0c" + b"\x00" * 4132, b"\x05\x01\x0f\x00" + b"\xc8" * 200,
)  # fmt: skip
NESTED = (
    [], [[]], [[1, 2, 3]], [[-1, None, -1]], [[1, "x", -1]], {}, {1: -1}, {-1: 1}, {"a": -1}, {2**40: 2**40},
    {"a": 2**62}, [["nope", b"x"]], [["groups", b"\xff"]], [["moments", b"\x80"]], {"count": -1}, {"count": 3},
    {"sketch": b"\xff"},
)  # fmt: skip
HOSTILE: tuple[Any, ...] = (*NUMBERS, None, "", "x", "1", *BYTES, *NESTED)


def fold_samples() -> tuple[dict[type[State], list[State]], dict[type[State], list[Metric[Any]]]]:
    """Some states of each kind, and the metrics that read it."""
    states, readers = defaultdict(list), defaultdict(list)
    for case in every_case():
        readers[case.metric.state].append(case.metric)
        if set(case.kinds) <= set(COLUMNS):
            states[case.metric.state].append(case.fold([COLUMNS[kind] for kind in case.kinds]))
    return states, readers


STATES, READERS = fold_samples()


def forge_states(kind: type[State]) -> Iterator[bytes]:
    """Envelopes of a kind, each with one field replaced by a hostile value."""
    for state in [kind(), *STATES[kind][:4]]:
        fields = msgspec.msgpack.decode(msgspec.msgpack.encode(state))
        for field in fields.keys() - {"type"}:
            for value in HOSTILE:
                yield seal(msgspec.msgpack.encode({**fields, field: value}), Head(tag_of(kind), "k"))


def use_state(state: State, other: State) -> Iterator[Callable[[], Any]]:
    kind = type(state)
    yield lambda: state + other
    yield lambda: other + state
    yield lambda: state + state
    yield lambda: kind.merge_all([state, other, state])
    yield lambda: kind.stack([state, other]).merge_rows(np.arange(2))
    yield lambda: state.hide_values(b"secret")
    yield lambda: state.pieces(4)
    yield lambda: state.shrink()
    yield lambda: encode(state, "k")
    for metric in READERS[kind]:
        yield lambda metric=metric: metric.measure(state)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_forged_state_is_refused_or_harmless(kind: type[State]) -> None:
    accepted = refused = 0
    for envelope in forge_states(kind):
        try:
            state = decode(envelope, "k")
        except HeadgateError:
            refused += 1
            continue
        accepted += 1
        other = STATES[type(state)][0] if STATES[type(state)] else type(state)()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for use in use_state(state, other):
                with suppress(HeadgateError):
                    use()
    assert refused > accepted / 4


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_state_that_a_fold_makes_is_sound(kind: type[State]) -> None:
    for state in [kind(), *STATES[kind]]:
        assert state.is_sound()
        total = state.current() + state.current()
        assert decode(encode(total, "k"), "k") == total or kind.__name__ == "Quantiles"


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize(
    "body",
    [b"", b"\xc1", b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff",
     b"\x91" * 100_000, b"\x81\xa1a" * 50_000, b"\xa1\xff"],
    ids=["nothing", "no type", "a map of 4 billion", "a list of 4 billion", "4 GB of bytes", "4 GB of text",
         "100,000 lists in each other", "50,000 maps in each other", "no UTF-8"],
)  # fmt: skip
def test_a_forged_body_is_refused(kind: type[State], body: bytes) -> None:
    with pytest.raises(CorruptBytes):
        decode(seal(body, Head(tag_of(kind), "k")), "k")


def test_the_bytes_of_another_kind_are_refused() -> None:
    for tag, kind in KINDS.items():
        for state in STATES[kind][:1]:
            body = msgspec.msgpack.encode(state)
            for other in KINDS.keys() - {tag}:
                with pytest.raises(CorruptBytes):
                    unpack_state(body, other)
