"""Data of an earlier batch that came again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from tests.diagnose.history import BOTH, DAYS, diagnose_one, list_names, make_day, name_day


@BOTH
def test_the_batch_that_came_again_is_named(hide: bool) -> None:
    rows = pa.array(np.random.default_rng(3).permutation(len(make_day(DAYS - 3))))
    found = diagnose_one(make_day(DAYS - 3).take(rows), hide)
    assert (found.fault, found.columns) == ("stale_copy", ())
    assert found.parameters == {"partition": name_day(DAYS - 3)}
    assert found.sentence == f"the rows of {name_day(DAYS - 3)} came again"


def test_a_part_of_an_earlier_batch_is_no_copy() -> None:
    assert "stale_copy" not in list_names(make_day(DAYS - 3).slice(0, 300))


def test_where_copies_are_usual_another_column_is_named_instead() -> None:
    gate = Gate("shop", store=MemoryStore(), false_alarms=0.05)
    for day in range(12):
        if not gate.judge(make_day(day // 2), name_day(day)).passed:
            gate.accept(name_day(day))
    renamed = make_day(5).rename_columns(["town" if name == "city" else name for name in make_day(5).column_names])
    verdict = gate.judge(renamed, name_day(12))
    assert verdict.diagnoses[0].fault == "column_renamed"
    assert "stale_copy" not in [each.fault for each in verdict.diagnoses]


def test_the_rows_of_an_earlier_batch_with_a_renamed_column_are_no_copy() -> None:
    old = make_day(DAYS - 3)
    names = ["town" if name == "city" else name for name in old.column_names]
    found = list_names(old.rename_columns(names))
    assert found[0] == "column_renamed"
    assert "stale_copy" not in found
