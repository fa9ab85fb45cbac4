"""A history in an Iceberg or Delta table: what every store must do, two writers, and kills."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.integrations.table_store import TableObjects, open_table_store
from headgate.store.fault_points import watch
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError, StoreUnavailable
from tests.cli.lake import called, document
from tests.gate.orders import named, orders
from tests.store import test_contract as contract
from tests.store.runs import a_small_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = {"iceberg": "lake.dq", "delta": "default"}
_numbers = itertools.count()

globals().update({name: value for name, value in vars(contract).items() if name.startswith("test_")})


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(params=list(FORMATS))
def table(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[tuple[str, str]]:
    name = f"{FORMATS[request.param]}.history{next(_numbers)}"
    yield name, request.param
    spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def reopen(table: tuple[str, str], spark: SparkSession) -> Callable[..., HistoryStore]:
    return lambda **options: open_table_store(*table, spark=spark, **options)  # type: ignore[arg-type]


@pytest.fixture
def store(reopen: Callable[..., HistoryStore]) -> HistoryStore:
    return reopen()


@pytest.fixture
def objects(table: tuple[str, str], spark: SparkSession) -> TableObjects:
    return TableObjects(*table, spark)  # type: ignore[arg-type]


def test_an_object_is_written_once(objects: TableObjects) -> None:
    assert objects.put("orders-1/log/1.hg", b"first")
    assert not objects.put("orders-1/log/1.hg", b"second")
    assert objects.read("orders-1/log/1.hg") == b"first"
    assert objects.read("orders-1/log/1.hg", 1, 3) == b"irs"
    assert objects.read("orders-1/log/1.hg", 9) == b""
    assert objects.read("orders-1/log/2.hg") is None
    assert objects.put("store.hg", b"\x00\xff'\\${x}")
    assert objects.read("store.hg") == b"\x00\xff'\\${x}"
    assert objects.folders() == ["orders-1"]


def test_a_commit_that_is_killed_is_there_once_or_not_at_all(reopen: Callable[..., HistoryStore]) -> None:
    reopen().commit(a_small_run("p0", seed=0))
    for kill in itertools.count(1):
        run = a_small_run(f"p{kill}", seed=kill)
        seen: list[str] = []

        def stop(point: str, at: int = kill, seen: list[str] = seen) -> None:
            if point.startswith("tables.put"):
                seen.append(point)
                if len(seen) == at:
                    raise Killed

        try:
            with watch(stop):
                reopen().commit(run)
        except Killed:
            assert [each.partition for each in reopen().revisions("orders")][:kill] == [f"p{at}" for at in range(kill)]
            reopen().commit(run)
        found = [each.partition for each in reopen().revisions("orders")]
        assert found == [f"p{at}" for at in range(kill + 1)]
        if len(seen) < kill:
            break
    assert kill > 2


def test_a_gate_works_on_it(reopen: Callable[..., HistoryStore]) -> None:
    for day in range(4):
        gate = hg.Gate("orders", store=reopen(), learn=["history"])
        assert gate.judge(orders(day), named(day)).action == "publish"
    assert [each.partition for each in reopen().last("orders", 9)] == [named(day) for day in range(4)]


def test_a_table_that_is_gone_is_told(table: tuple[str, str], spark: SparkSession) -> None:
    opened = open_table_store(*table, spark=spark)  # type: ignore[arg-type]
    opened.commit(a_small_run("p0", seed=0))
    spark.sql(f"DROP TABLE {table[0]}")
    with pytest.raises(StoreUnavailable, match="TABLE_OR_VIEW_NOT_FOUND"):
        opened.revisions("orders")


def test_names_and_choices_that_do_not_exist_are_refused(spark: SparkSession) -> None:
    with pytest.raises(MisuseError, match="cannot be the name"):
        open_table_store("a`b", "delta", spark=spark)
    with pytest.raises(MisuseError, match="is not a choice"):
        open_table_store("dq", "delta", spark=spark, values="both")  # type: ignore[arg-type]


def test_the_command_line_keeps_its_history_in_a_table(
    table: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for day in range(2):
        Path(f"lake/{named(day)}").mkdir(parents=True)
        pq.write_table(orders(day), f"lake/{named(day)}/part-0.parquet")
    dataset = 'datasets:\n  orders:\n    engine: local\n    source: {path: "lake/{partition}"}\n'
    Path("headgate.yml").write_text(f"store: {table[1]}:{table[0]}\nspark: {{}}\n{dataset}")
    assert called("run").exit_code == 0
    listed = document("history", "orders")["runs"]
    assert [each["partition"] for each in listed] == [named(0), named(1)]
    assert called("doctor").exit_code == 0
