"""What is true of a table, computed with pyarrow and numpy alone, so that no system judges itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from benchmarks.peers.checks import OF_ROWS, SHARES, Check, columns_of
from benchmarks.peers.tables import Table

Truth = dict[str, Any]


def answer_checks(table: Table, checks: Sequence[Check]) -> dict[str, Truth]:
    """For each check whether it holds, and the values that a system may give for it: definitions of nulls differ."""
    data = ds.dataset([file for path in table.paths for file in _files_of(path)])
    asked: dict[str, list[Check]] = {name: [] for name in columns_of(checks)}
    found: dict[str, Truth] = {}
    for check in checks:
        if check["kind"] == "rows":
            found[check["id"]] = _judge(check, [float(table.rows)])
        else:
            asked[check["column"]].append(check)
    for name, of_column in asked.items():  # column by column, so that five million rows fit into memory
        values = data.to_table(columns=[name]).column(name).combine_chunks()
        found |= {check["id"]: _judge(check, _measure(check, values)) for check in of_column}
    return {check["id"]: found[check["id"]] for check in checks}


def count_failing_rows(table: Table, checks: Sequence[Check]) -> int:
    """Rows that break at least one of the rules."""
    data = ds.dataset([file for path in table.paths for file in _files_of(path)])
    broken = np.zeros(table.rows, bool)
    for check in checks:
        assert check["kind"] in OF_ROWS
        values = data.to_table(columns=[check["column"]]).column(0).combine_chunks()
        present = values.is_valid()
        holds = present if check["kind"] == "complete" else pc.or_(pc.invert(present), _fill(_holds(check, values)))
        broken |= ~holds.to_numpy(zero_copy_only=False)
    return int(broken.sum())


def _fill(holds: pa.Array) -> pa.Array:
    return pc.fill_null(holds, False)


def _files_of(path: str) -> list[str]:
    return sorted(file for file in ds.dataset(path, format="parquet").files if file.endswith(".parquet"))


def _judge(check: Check, accepted: list[float]) -> Truth:
    low, high = check["between"]
    passed = {(low is None or value >= low) and (high is None or value <= high) for value in accepted}
    assert len(passed) == 1, f"the definition of a null decides {check}: {accepted}"
    return {"passed": passed.pop(), "values": accepted}


def _measure(check: Check, values: pa.Array) -> list[float]:
    kind = check["kind"]
    present = values.drop_null()
    if kind == "complete":
        return [len(present) / len(values)]
    if kind == "unique":
        counts = pc.value_counts(present).field("counts")
        once = pc.sum(pc.equal(counts, 1)).as_py() or 0
        return _of_rows(once, once, len(present), len(values))
    if kind in SHARES:
        held = pc.sum(_holds(check, present)).as_py() or 0
        return _of_rows(held, held + values.null_count, len(present), len(values))
    if kind == "distinct":
        return [float(pc.count_distinct(present).as_py())]
    if kind == "quantile":
        return [float(pc.quantile(present, check["q"], interpolation="lower")[0].as_py())]
    if kind in ("min_length", "max_length"):
        lengths = pc.min_max(pc.utf8_length(present))
        return [float(lengths["min" if kind == "min_length" else "max"].as_py())]
    return [float(getattr(pc, kind)(present).as_py())]


def _of_rows(held: int, held_or_null: int, present: int, rows: int) -> list[float]:
    """The share of the values; of the rows, where a null is no match; of the rows, where a null is one."""
    return sorted({held / present, held / rows, held_or_null / rows})


def _holds(check: Check, values: pa.Array) -> pa.Array:
    match check["kind"]:
        case "pattern":
            return pc.match_substring_regex(values, check["pattern"])
        case "one_of":
            return pc.is_in(values, pa.array(check["values"]))
        case "range":
            return pc.and_(pc.greater_equal(values, check["low"]), pc.less_equal(values, check["high"]))
    raise ValueError(check["kind"])
