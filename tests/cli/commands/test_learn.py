"""`headgate learn`: a history on the first day, from the batches that a table has already."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.lake import called, document
from tests.gate.orders import dearer, named, orders

CONFIG = """\
store: file:history
datasets:
  orders:
    source: {path: lake/orders, where: "day = '{partition}'"}
    learn: [history]
  folders:
    source: {path: "lake/days/{partition}"}
"""
DAYS, BAD = 12, 10


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one table, whose days are told apart by a column."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headgate.yml").write_text(CONFIG)
    (tmp_path / "lake/orders").mkdir(parents=True)
    write(range(DAYS))
    return tmp_path


def write(days: range) -> None:
    for number in days:
        day = dearer(orders(number)) if number == BAD else orders(number)
        pq.write_table(day.append_column("day", pa.array([named(number)] * len(day))), f"lake/orders/{number}.parquet")


def test_what_a_table_has_is_judged_and_what_did_not_pass_is_listed(table: Path) -> None:
    result = called("learn", "orders")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "orders: 12 batches judged, 2026-01-01 to 2026-01-12; 1 did not pass."
    assert lines[1].startswith("  2026-01-11: price")
    assert "  headgate accept orders 2026-01-11 --note '...'" in lines
    assert "2026-01-11" in called("history", "orders").stdout


def test_the_next_batch_is_judged_by_them(table: Path) -> None:
    assert document("learn", "orders")["failed"] == [named(BAD)]
    write(range(DAYS, DAYS + 1))
    run = document("run", "orders")
    assert [each["partition"] for each in run["batches"]] == [named(DAYS)]
    assert "from 11 runs" in called("explain", "orders", named(DAYS)).stdout


def test_a_second_call_has_nothing_to_do(table: Path) -> None:
    assert len(document("learn", "orders")["judged"]) == DAYS
    assert called("learn", "orders").stdout == "orders: no batch is new; the history has 12.\n"


def test_it_begins_where_it_is_told(table: Path) -> None:
    judged = document("learn", "orders", "--since", named(5))["judged"]
    assert judged == [named(number) for number in range(5, DAYS)]


def test_batches_in_folders_of_their_own_are_left_to_run(table: Path) -> None:
    result = called("learn", "folders")
    assert result.exit_code == 2
    assert "no column of folders tells its batches apart" in result.stderr
    assert "judged by headgate run" in result.stderr


def test_files_have_no_snapshots(table: Path) -> None:
    result = called("learn", "folders", "--from-snapshots")
    assert result.exit_code == 2
    assert "source: {table: lake.shop.prices, format: iceberg}" in result.stderr
    assert "Leave --from-snapshots out" in called("learn", "orders", "--from-snapshots").stderr


def test_a_bad_value_of_one_day_is_an_error_of_that_day_alone(table: Path) -> None:
    checks = """    checks: [{satisfies: "CAST(amount AS INT) > 0"}]\n"""
    Path("headgate.yml").write_text(CONFIG.replace("  folders:", f"{checks}  folders:"))
    for number in range(DAYS):
        file = f"lake/orders/{number}.parquet"
        day = pq.read_table(file)
        texts = pa.array(["x" if number == 3 else "7", *["7"] * (len(day) - 1)])
        pq.write_table(day.append_column("amount", texts), file)
    found = document("learn", "orders")
    assert len(found["judged"]) == DAYS
    assert named(3) in found["failed"]
    assert len(found["failed"]) <= 2
