"""The checksum of all rows. What it tells apart is in tests/attack/test_changed_input.py."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.metrics.checksum import Checksum, RowChecksum
from headgate.values.outcome import Measured

TABLE = pa.table({"n": np.arange(5_000) % 700, "s": [f"text {number % 900}" for number in range(5_000)]})


def state_of(table: pa.Table) -> RowChecksum:
    (state,) = hg.analyze(table, [hg.Checksum()]).states.values()
    assert isinstance(state, RowChecksum)
    return state


def test_the_checksums_of_parts_add_up() -> None:
    whole = state_of(TABLE)
    assert whole.rows == 5_000
    assert state_of(TABLE.slice(0, 1_234)) + state_of(TABLE.slice(1_234)) == whole


def test_encodings_and_widths_do_not_matter() -> None:
    encoded = TABLE.set_column(1, "s", TABLE["s"].dictionary_encode()).set_column(0, "n", TABLE["n"].cast(pa.int16()))
    assert state_of(encoded) == state_of(TABLE)


def test_texts_that_mostly_differ_are_hashed_as_those_that_repeat() -> None:
    texts = [f"id-{number}" for number in range(2_000)]
    split = state_of(pa.table({"s": texts[:10]})) + state_of(pa.table({"s": texts[10:]}))
    assert split == state_of(pa.table({"s": texts}))


def test_columns_that_change_places_give_another() -> None:
    table = pa.table({"a": [1, 2], "b": [3, 4]})
    assert state_of(table) != state_of(table.select(["b", "a"]))


def test_its_value_is_a_whole_number_that_a_double_holds_exactly() -> None:
    outcome = Checksum().measure(state_of(TABLE))
    assert isinstance(outcome, Measured)
    assert outcome.value == state_of(TABLE).first % 2**53
    assert Checksum().measure(RowChecksum()) == Measured(0.0)
    assert hg.analyze(pa.table({"a": pa.array([], pa.int64())}), ["checksum()"]).value("checksum()") == 0.0
