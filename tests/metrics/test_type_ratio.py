"""The share of texts that look like a type."""

from __future__ import annotations

import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine.analyze import analyze
from headgate.values.errors import MisuseError
from headgate.values.outcome import Undefined

TABLE = pa.table({"x": ["1", " 2 ", "2.5", "true", "2026-11-15", "2026-11-15 10:30", "", "word", None, None]})


@pytest.mark.parametrize(
    ("name", "count"),
    [("integral", 2), ("fractional", 3), ("boolean", 1), ("date", 1), ("timestamp", 1), ("string", 2)],
)
def test_it_is_a_share_of_the_present_values(name: str, count: int) -> None:
    metric = hg.TypeRatio("x", type=name)
    assert analyze(TABLE, [metric]).value(metric) == count / 8


def test_the_type_that_is_meant_without_a_word_is_integral() -> None:
    assert hg.TypeRatio("x") == hg.TypeRatio("x", type="integral")
    assert str(hg.TypeRatio("x").key) == 'type_ratio(x, type="integral")'


def test_all_types_are_read_from_the_state_of_data_type() -> None:
    asked = [hg.DataType("x"), hg.TypeRatio("x"), hg.TypeRatio("x", type="date")]
    assert len(analyze(TABLE, asked).states) == 1


def test_without_values_it_is_undefined() -> None:
    found = analyze(pa.table({"x": pa.nulls(3, pa.string())}), [hg.TypeRatio("x")])
    assert found[hg.TypeRatio("x")] == Undefined("no values in scope")


@pytest.mark.parametrize("name", ["integer", "numeric", ""])
def test_an_unknown_type_is_misuse(name: str) -> None:
    with pytest.raises(MisuseError, match="Write integral, fractional, boolean, date, timestamp or string"):
        hg.TypeRatio("x", type=name)
