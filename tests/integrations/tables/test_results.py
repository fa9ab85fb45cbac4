"""Results as Iceberg and Delta tables: every run once, whatever is killed, and later decisions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headgate as hg
from headgate.integrations.results import ResultTables
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError
from tests.cli.lake import called, document
from tests.gate.orders import dearer, named, orders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = {"iceberg": "lake.dq", "delta": "default"}
TABLES = ("verdicts", "metrics", "causes")
_numbers = itertools.count()


class Killed(BaseException):
    """Stands for the end of the process."""


class Lake:
    """Result tables of a format."""

    def __init__(self, spark: SparkSession, form: str) -> None:
        self.spark, self.form = spark, form
        self.name = f"{FORMATS[form]}.results{next(_numbers)}"

    @property
    def tables(self) -> ResultTables:
        return ResultTables(self.name, self.form, spark=self.spark)  # type: ignore[arg-type]

    def read(self, what: Any) -> list[dict[str, Any]]:
        table = self.tables.locate(what)
        self.spark.sql(f"REFRESH TABLE {table}")
        return [row.asDict() for row in self.spark.table(table).orderBy("partition", "revision").collect()]


@pytest.fixture(params=list(FORMATS))
def lake(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Lake]:
    made = Lake(spark, request.param)
    yield made
    for table in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS {made.name}_{table}")


def make_gate(name: str = "orders", days: int = 8) -> hg.Gate:
    gate = hg.Gate(name, store=hg.open_store("memory:"), learn=["history"])
    for day in range(days):
        gate.judge(orders(day), named(day))
    gate.judge(dearer(orders(days)), named(days))
    return gate


def test_runs_are_written_once_and_later_decisions_replace_their_verdicts(lake: Lake) -> None:
    gate, other = make_gate(), make_gate("other", days=1)
    assert lake.tables.update(gate) == 9
    assert lake.tables.update(gate) == 0
    assert lake.tables.update(other) == 2
    verdicts = [each for each in lake.read("verdicts") if each["dataset"] == "orders"]
    assert [each["partition"] for each in verdicts] == [named(day) for day in range(9)]
    assert [each["decision"] for each in verdicts] == ["published"] * 8 + ["held"]
    causes = [each["title"] for each in lake.read("causes") if each["dataset"] == "orders"]
    assert causes == [each.title for each in gate.explain(named(8)).causes]
    metrics = lake.read("metrics")
    assert len({(each["dataset"], each["partition"], each["metric"]) for each in metrics}) == len(metrics)
    size = next(each for each in metrics if each["metric"] == "size()" and each["partition"] == named(3))
    assert size["value"] == len(orders(3))

    gate.accept(named(8), note="a new tariff", who="ann")
    assert lake.tables.update(gate) == 1
    last = [each for each in lake.read("verdicts") if each["dataset"] == "orders"][-1]
    assert (last["decision"], last["decided_by"], last["note"]) == ("accepted", "ann", "a new tariff")
    assert len(lake.read("metrics")) == len(metrics)


def test_an_update_that_is_killed_anywhere_is_finished_by_the_next_one(lake: Lake) -> None:
    gate = make_gate(days=2)
    for kill in itertools.count(1):
        seen: list[str] = []

        def stop(point: str, at: int = kill, seen: list[str] = seen) -> None:
            seen.append(point)
            if len(seen) == at:
                raise Killed

        try:
            with watch(stop):
                lake.tables.update(gate)
        except Killed:
            assert lake.tables.update(gate) in (0, len(gate.store.revisions("orders")))
            assert len(lake.read("verdicts")) == 3
            metrics = [(each["partition"], each["metric"]) for each in lake.read("metrics")]
            assert len(metrics) == len(set(metrics)) > 0
            for table in TABLES:
                lake.spark.sql(f"DROP TABLE {lake.name}_{table}")
        else:
            break
    assert kill > 4


def test_two_writers_at_once_write_every_run_once(lake: Lake) -> None:
    gate = make_gate(days=2)
    ResultTables(lake.name, lake.form, spark=lake.spark).update(make_gate("other", days=1))  # type: ignore[arg-type]
    with ThreadPoolExecutor(3) as pool:
        for update in [pool.submit(lake.tables.update, gate) for _ in range(3)]:
            update.result()
    assert len(lake.read("verdicts")) == 3 + 2
    metrics = [(each["dataset"], each["partition"], each["metric"]) for each in lake.read("metrics")]
    assert len(metrics) == len(set(metrics))
    causes = [(each["dataset"], each["partition"], each["position"]) for each in lake.read("causes")]
    assert len(causes) == len(set(causes))


def test_a_run_of_the_command_line_writes_them(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import pyarrow.parquet as pq

    for day in range(2):
        Path(f"lake/{named(day)}").mkdir(parents=True)
        pq.write_table(orders(day), f"lake/{named(day)}/part-0.parquet")
    dataset = 'datasets:\n  orders:\n    engine: local\n    source: {path: "lake/{partition}"}\n'
    Path("headgate.yml").write_text(
        f"store: file:history\nspark: {{}}\nresults: {{to: {lake.form}, tables: {lake.name}}}\n{dataset}"
    )
    assert called("run").exit_code == 0
    assert [each["partition"] for each in lake.read("verdicts")] == [named(0), named(1)]
    assert document("results")["written"] == {"orders": 0}
    assert called("reject", "orders", named(1), "--note", "a copy").exit_code == 0
    assert called("results").stdout == f"1 run written to {lake.name}_verdicts.\n"
    assert lake.read("verdicts")[1]["decision"] == "rejected"


def test_names_that_cannot_be_tables_are_refused() -> None:
    for name, form in (("", "delta"), ("a`b", "delta"), ("dq", "parquet")):
        with pytest.raises(MisuseError, match="cannot be the name"):
            ResultTables(name, form)  # type: ignore[arg-type]
