"""Dictionary encoded texts give every metric the state that plain ones give, without being decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headgate.engine.analyze import analyze
from headgate.metrics.base.arrow import keep_dictionary, kind_of
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric, GroupMetric, Metric, PairMetric
from headgate.metrics.base.registry import default_metrics, metrics
from headgate.values.codec import pack_state
from headgate.values.schema import Column, Schema
from tests.metrics.reference import PARAMETERS

CHANCE = np.random.default_rng(5)
TEXTS = ["", "a", "Ünïcödé", "12", "-3.5", "2026-11-15", "x" * 300, "a\x00b", "mail@example.org", "true", "\ttab"]


def encode(values: list[Any], entries: list[Any], kind: pa.DataType) -> pa.DictionaryArray:
    places = [None if value is None else entries.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(entries, kind))


def pick(entries: list[Any], count: int) -> list[Any]:
    picks = CHANCE.integers(0, len(entries) + 1, count).tolist()
    return [None if at == len(entries) else entries[at] for at in picks]


NUMBERED = [f"INV-{at:06d}" for at in range(3_000)]
ARRAYS = {
    "few": encode(pick(TEXTS, 500), TEXTS, pa.string()),
    "large": encode(pick(TEXTS, 500), TEXTS, pa.large_string()),
    "bytes": encode(pick([text.encode() for text in TEXTS], 500), [text.encode() for text in TEXTS], pa.binary()),
    "unused entries": encode(pick(TEXTS[2:5], 500), TEXTS, pa.string()),
    "all different": encode(NUMBERED, NUMBERED, pa.string()),
    "sliced": encode(pick(NUMBERED, 4_000), NUMBERED, pa.string()).slice(700, 2_500),
    "only nulls": encode([None] * 40, TEXTS, pa.string()),
    "empty": encode([], TEXTS, pa.string()),
    "many entries": encode(NUMBERED[:20], NUMBERED, pa.string()),
    "null entries": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["a", None, "b"])),
    "equal entries": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2] * 9), pa.array(["a", "b", "a"])),
    "bytes that are not UTF-8": encode([b"\xff", b"a\x80", None] * 9, [b"\xff", b"a\x80"], pa.binary()),
}
DECODED = {"many entries", "null entries", "equal entries"}


def make_metrics() -> list[Metric[Any]]:
    made: list[Metric[Any]] = []
    for name, kind in metrics().items():
        if issubclass(kind, ColumnMetric):
            made.append(kind("c", **dict(PARAMETERS.get(name, ()))))
        elif issubclass(kind, GroupMetric) and kind.least == 1 and "table" not in kind.__struct_fields__:
            made.append(kind(["c"]))
        elif issubclass(kind, PairMetric):
            made.append(kind("c", "c", **dict(PARAMETERS.get(name, ()))))
    return made


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("metric", make_metrics(), ids=lambda metric: metric.name)
def test_a_metric_has_the_state_of_plain_texts(metric: Metric[Any], name: str) -> None:
    array = ARRAYS[name]
    kind = kind_of(array.type)
    if kind not in metric.accepts:
        return
    plain = array.cast(array.type.value_type)
    states = [
        metric.fold_views([ColumnBatch(each, kind)] * len(metric.inputs)) for each in (array, plain, chunk(array))
    ]
    assert pack_state(states[0]) == pack_state(states[1]) == pack_state(states[2])


def chunk(array: pa.Array) -> pa.ChunkedArray:
    half = len(array) // 2
    return pa.chunked_array([array.slice(0, half), array.slice(half)], array.type)


@pytest.mark.parametrize("name", ARRAYS)
def test_the_default_metrics_decode_only_what_they_must(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    array = ARRAYS[name]
    kind = kind_of(array.type)
    assert pa.types.is_dictionary(keep_dictionary(array).type) == (name not in DECODED)
    batch = ColumnBatch(array, kind)
    schema = Schema((Column("c", kind, str(array.type)),))
    for metric in default_metrics(schema):
        if metric.inputs == ("c",):
            metric.fold_views([batch])
    assert batch.hashes[0].tolist() == ColumnBatch(array.cast(array.type.value_type), kind).hashes[0].tolist()
    assert batch.words.tolist() == ColumnBatch(array.cast(array.type.value_type), kind).words.tolist()
    assert "array" not in vars(batch)


def test_an_analysis_with_a_filter() -> None:
    array = ARRAYS["few"]
    keys = pa.array(np.arange(len(array)) % 3)
    asked = [f"{name}(c)" for name in ("completeness", "approx_count_distinct", "max_length", "uniqueness")]
    encoded, plain = pa.table({"c": array, "k": keys}), pa.table({"c": array.cast(pa.string()), "k": keys})
    for where in ("", ' where "k = 1"'):
        wanted = [each + where for each in asked]
        assert analyze(encoded, wanted).outcomes == analyze(plain, wanted).outcomes
