"""The verdict said "published" of an input that was not moved: one corrected text in 200,000 rows, or two columns that
were paired otherwise, gave the fingerprint of the old batch, and what was staged after the scan was moved unread."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.store.fault_points import watch
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.errors import MisuseError, PublishError
from headgate.values.run import Decision
from tests.attack.lake import Lake, broken, orders


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake", MemoryStore())


def people(rows: int = 200_000) -> pa.Table:
    names = [f"person {number % 5_000}" for number in range(rows)]
    return pa.table({"name": names, "age": [number % 70 for number in range(rows)]})


def test_one_corrected_text_in_200_000_rows_is_published(tmp_path: Path) -> None:
    lake, first = Lake(tmp_path, MemoryStore(), checks=()), people()
    assert lake.judge(first).revision.number == 1
    names = first["name"].to_pylist()
    names[77_777] = "persom 2777"
    corrected = first.set_column(0, "name", pa.array(names))
    verdict = lake.judge(corrected)
    assert (verdict.revision.number, verdict.decision) == (2, Decision.PUBLISHED)
    assert lake.shown() == corrected
    assert not lake.is_staged()


def test_two_columns_that_are_paired_otherwise_are_another_input(lake: Lake) -> None:
    first = orders(1)
    lake.judge(first)
    other = first.set_column(1, "price", pa.array(np.roll(first["price"].to_numpy(), 1)))
    assert lake.judge(other).revision.number == 2
    assert lake.shown() == other


def test_the_same_rows_in_another_order_are_the_same_batch_and_do_not_stay_staged(lake: Lake) -> None:
    first = orders(1)
    lake.judge(first)
    verdict = lake.judge(first.take(np.random.default_rng(0).permutation(len(first))))
    assert (verdict.revision.number, verdict.decision) == (1, Decision.PUBLISHED)
    assert lake.shown() == first
    assert not lake.is_staged()


def test_a_held_batch_that_is_staged_again_is_the_same_revision(lake: Lake) -> None:
    assert lake.judge(broken(orders(1))).action is Action.HOLD
    assert lake.judge(broken(orders(1))).revision.number == 1
    assert not lake.is_staged()
    lake.gate.accept("p")
    assert lake.shown() == broken(orders(1))


def test_a_fingerprint_that_the_job_gives_for_two_inputs_does_not_hide_the_second(lake: Lake) -> None:
    lake.judge(orders(1), fingerprint="always the same")
    assert lake.judge(orders(2), fingerprint="always the same").revision.number == 2
    assert lake.shown() == orders(2)


def test_an_input_that_changes_after_the_scan_is_not_published(lake: Lake) -> None:
    lake.stage(orders(1))

    def replace(name: str) -> None:
        if name == "gate.judged":
            lake.stage(broken(orders(2)))

    with watch(replace):
        verdict = lake.gate.judge(lake.read(), "p")
    assert (verdict.passed, verdict.action, verdict.decision) == (True, Action.HOLD, Decision.WITHDRAWN)
    assert lake.shown() is None
    assert lake.gate.judge(lake.read(), "p").action is Action.HOLD


@pytest.mark.parametrize("change", ["append", "touch", "add", "remove"])
def test_any_change_between_the_scan_and_the_claim_is_noticed(lake: Lake, change: str) -> None:
    place = lake.stage(orders(1))
    file = place / "part-0.parquet"
    pq.write_table(orders(1), place / "part-1.parquet")

    def tamper(name: str) -> None:
        if name != "folders.claim":  # the last step before the rename
            return
        match change:
            case "append":
                file.write_bytes(file.read_bytes() + b" ")
            case "touch":
                os.utime(file, ns=(1, 1))
            case "add":
                pq.write_table(orders(9), place / "part-2.parquet")
            case "remove":
                file.unlink()

    with watch(tamper):
        assert lake.gate.judge(lake.read(), "p").decision is Decision.WITHDRAWN
    assert lake.shown() is None
    assert lake.is_staged(), "what is there now was not given back"


def test_a_held_batch_that_somebody_edits_is_not_released(lake: Lake) -> None:
    verdict = lake.judge(broken(orders(1)))
    pq.write_table(orders(2), Path(verdict.location) / "part-0.parquet")
    with pytest.raises(PublishError, match="holds other files than those that were judged"):
        lake.gate.release("p")
    assert lake.shown() is None


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_inside_of_a_staged_folder_is_refused(lake: Lake, tmp_path: Path, kind: str) -> None:
    place = lake.stage(orders(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pq.write_table(orders(2), elsewhere / "x.parquet")
    (place / "deep").mkdir()
    (place / "deep" / "link.parquet").symlink_to(elsewhere / "x.parquet" if kind == "file" else elsewhere)
    with pytest.raises(PublishError, match=r"link\.parquet is a link"):
        lake.gate.judge(lake.read(), "p")
    assert lake.store.revisions("orders") == ()


def test_nothing_is_recorded_of_a_batch_that_is_not_staged(lake: Lake) -> None:
    with pytest.raises(PublishError, match="nothing is staged for orders p, so it was not recorded"):
        lake.gate.judge(orders(1), "p")
    assert lake.store.revisions("orders") == ()


def test_a_split_publishes_only_rows_that_meet_the_checks(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    lake.stage(broken(orders(1)), part="good")
    lake.stage(orders(1).slice(0, 1), part="bad")
    with pytest.raises(MisuseError, match="the good rows of p do not meet"):
        lake.gate.split("p", lake.read(part="good"))
    assert lake.shown() is None
    assert [each.decision for each in lake.store.rulings("orders")] == [Decision.HELD]


def test_a_split_publishes_the_rows_that_were_checked(lake: Lake) -> None:
    lake.judge(broken(orders(1)))
    lake.stage(orders(1).slice(1), part="good")
    lake.stage(orders(1).slice(0, 1), part="bad")

    def replace(name: str) -> None:
        if name == "gate.ruled":
            lake.stage(orders(9), part="good")

    with watch(replace), pytest.raises(PublishError, match="other files"):
        lake.gate.split("p", lake.read(part="good"))
    assert lake.shown() is None


def checksum(table: Any) -> object:
    (state,) = hg.analyze(table, ["checksum()"]).states.values()
    return state


def test_the_checksum_sees_every_cell_and_no_order() -> None:
    table = pa.table(
        {
            "n": pa.array([1, 2, None, -3]),
            "x": pa.array([0.5, None, float("nan"), -0.0]),
            "s": pa.array(["a", None, "", "ü"]),
            "list": pa.array([[1, 2], [], None, [3]]),
            "struct": pa.array([{"a": 1}, {"a": None}, None, {"a": 2}]),
        }
    )
    base = checksum(table)
    assert checksum(table.take([2, 0, 3, 1])) == base
    seen = {base}
    for at, name in enumerate(table.column_names):
        for row in range(len(table)):
            values = table[name].to_pylist()
            values[row] = values[row - 1]
            changed = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
            if changed[name].combine_chunks() != table[name].combine_chunks():
                seen.add(checksum(changed))
    assert len(seen) == 1 + len(table) * len(table.column_names)


def test_a_staged_copy_is_kept_until_it_is_swept(lake: Lake) -> None:
    lake.judge(orders(1))
    lake.judge(orders(1))
    (copy,) = (lake.folders.path("p").parent / "_data" / "p").glob("*~copy")
    assert pq.read_table(copy) == orders(1)
    assert lake.folders.sweep() == 0
    assert lake.folders.sweep(older_than=-1.0) == 1
    assert lake.shown() == orders(1)
    shutil.rmtree(lake.folders.path("p"))
