"""Expectations of declarative pipelines: on frames of both kinds of session, in batches and in streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.integrations.pipelines import learned_expectation
from headgate.integrations.pipelines.learned_expectation import gate_rows
from headgate.values.errors import BadPredicate, EngineUnavailable, MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.run import Decision, Run
from tests.integrations.streaming.clicks import make_clicks, put_clicks, read_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [(1, "home", 5.0), (2, None, 7.0), (3, "cart", None), (4, None, -1.0), (5, "home", 900.0)]
SCHEMA = "id BIGINT, page STRING, price DOUBLE"
RULES = (
    hg.expect("price is usual", "price < 100")
    + hg.expect_or_drop({"has a page": "page IS NOT NULL", "price is right": "price >= 0 -- or null"})
    + hg.expect_or_fail("has an id", "id > 0")
)


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "classic":
        return spark
    # functions of Arrow arrays are made for the kind of session that a process has; this one has both
    monkeypatch.setattr("pyspark.sql.pandas.functions.is_remote", lambda: True)
    return connect


@contextmanager
def without_actions(session: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in the query functions of Spark 4.1 and later: on Connect, nothing is run or analysed in the block."""
    if type(session).__module__ == "pyspark.sql.session":
        yield
        return
    with monkeypatch.context() as patch:

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("the plan was analysed or run")

        for name in ("_analyze", "_execute_and_fetch", "_execute"):
            patch.setattr(session.client, name, refuse)
        yield


def test_rows_are_kept_dropped_and_counted(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = session.createDataFrame(ROWS, SCHEMA)
    with without_actions(session, monkeypatch):
        kept, dropped = RULES.apply(rows), RULES.select_dropped(rows)
        counts = RULES.count(kept, dropped)
        unknown = RULES.count(kept)
    assert [row.id for row in kept.orderBy("id").collect()] == [1, 5]
    reasons = {
        row.id: [(each.rule, each.level, each.columns) for each in row.headgate_reasons] for row in dropped.collect()
    }
    assert reasons == {
        2: [("has a page", "error", "page")],
        3: [("price is right", "error", "price")],
        4: [("has a page", "error", "page"), ("price is right", "error", "price")],
    }
    assert {row.name: (row.on_failure, row.passed, row.failed) for row in counts.collect()} == {
        "price is usual": ("keep", 1, 1),
        "has a page": ("drop", 3, 2),
        "price is right": ("drop", 3, 2),
        "has an id": ("fail", 5, 0),
    }
    assert {row.name: row.failed for row in unknown.collect() if row.on_failure == "drop"} == {
        "has a page": None,
        "price is right": None,
    }


def test_a_row_that_must_not_be_there_ends_the_query(session: Any) -> None:
    rows = session.createDataFrame([*ROWS, (-6, None, 1.0)], SCHEMA)  # it would be dropped, too
    with pytest.raises(Exception, match="a row does not meet 'has an id': id > 0"):
        RULES.apply(rows).collect()


def test_a_query_function_is_decorated(spark: SparkSession) -> None:
    @hg.expect_or_drop("has a page", "page IS NOT NULL")
    @hg.expect_or_drop("price is right", "price >= 0")
    def read_rows(most: int) -> Any:
        """The docstring stays."""
        return spark.createDataFrame(ROWS, SCHEMA).where(f"id <= {most}")

    assert [row.id for row in read_rows(4).collect()] == [1]
    assert read_rows.__name__ == "read_rows"
    assert read_rows.__doc__ == "The docstring stays."


def test_rows_of_a_stream_are_dropped(spark: SparkSession, tmp_path: Path) -> None:
    def lose_page(click: dict[str, Any], chance: random.Random) -> dict[str, Any]:
        return {**click, "page": None if click["id"] % 10 == 0 else click["page"]}

    for number in range(3):
        put_clicks(tmp_path / "in", number, 100, lose_page)
    rules = hg.expect_or_drop("has a page", "page IS NOT NULL")
    for name, select in (("kept", rules.apply), ("dropped", rules.select_dropped)):
        writer = select(read_stream(spark, tmp_path / "in")).writeStream.option("path", str(tmp_path / name))
        query = writer.option("checkpointLocation", str(tmp_path / f"{name}.checkpoint")).trigger(availableNow=True)
        query.start().awaitTermination()
    kept, dropped = spark.read.parquet(str(tmp_path / "kept")), spark.read.parquet(str(tmp_path / "dropped"))
    [counted] = rules.count(kept, dropped).collect()
    assert (counted.passed, counted.failed) == (270, 30)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: hg.expect("", "id > 0"), MisuseError, "a name and a condition"),
        (lambda: hg.expect("has an id"), MisuseError, "a name and a condition"),
        (lambda: hg.expect({}), MisuseError, "a name and a condition"),
        (
            lambda: hg.expect("a", "id > 0") + hg.expect("a", "id > 1"),
            MisuseError,
            "two expectations have the name 'a'",
        ),
        (lambda: hg.expect("a", "id >"), BadPredicate, "is not SQL"),
        (lambda: hg.expect("a", "id > 0").select_dropped(None), MisuseError, "no expectation drops rows"),  # type: ignore[arg-type]
        (lambda: hg.expect_learned(hg.Gate("a", store=hg.open_store("memory:"))), MisuseError, "Pass a function"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


def list_numbers(run: Run) -> dict[MetricKey, float]:
    found = ((key, each.value) for key, each in run.outcomes.items() if isinstance(each, Measured))
    return {key: value for key, value in found if isinstance(value, float)}


class Shop:
    """A table of clicks with 20 days of history, in a store that workers reach."""

    def __init__(self, session: Any, folder: Path) -> None:
        self.session, self.url = session, f"sqlite:///{folder}/dq.db"
        self.store = hg.open_store(self.url, values="plain")
        for number in range(20):
            verdict = self.make_gate().judge(self.make_rows(number), f"2026-10-{number + 1:02}")
            assert verdict.passed

    def make_gate(self) -> hg.Gate:
        url = self.url
        return hg.Gate(
            "clicks", store=hg.open_store(url, values="plain"), checks=hg.Check("clicks").is_complete("page")
        )

    def open_gate(self) -> Callable[[], hg.Gate]:
        url = self.url
        check = hg.Check("clicks").is_complete("page")
        return lambda: hg.Gate("clicks", store=hg.open_store(url, values="plain"), checks=check)

    def make_rows(self, number: int, factor: float = 1.0) -> pa.Table:
        def change(click: dict[str, Any], _: random.Random) -> dict[str, Any]:
            return {**click, "price": click["price"] * factor}

        return make_clicks(number, 400, change).drop_columns(["at"])

    def make_frame(self, number: int, factor: float = 1.0) -> Any:
        return self.session.createDataFrame(self.make_rows(number, factor).to_pandas()).repartition(3)


@pytest.fixture
def shop(session: Any, tmp_path: Path) -> Iterator[Shop]:
    made = Shop(session, tmp_path)
    yield made
    made.store.close()


def test_a_good_batch_passes_and_is_recorded_as_one_that_was_scanned(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = shop.make_frame(20)
    with without_actions(shop.session, monkeypatch):
        gated = gate_rows(frame, shop.open_gate(), "2026-10-21", fails=True)
    assert gated.count() == 400
    [revision] = shop.store.revisions("clicks", "2026-10-21")
    assert revision.decision is Decision.PUBLISHED
    run = shop.store.run(revision)
    scanned = hg.Gate("clicks", store=hg.open_store("memory:", values="plain"), checks=shop.make_gate().checks)
    again = scanned.judge(shop.make_rows(20), "2026-10-21").run
    assert {key: run.outcomes[key] for key in again.outcomes}.keys() == again.outcomes.keys()
    assert [list_numbers(run)[key] for key in list_numbers(again)] == pytest.approx([*list_numbers(again).values()])
    assert run.fingerprint == again.fingerprint


def test_a_bad_batch_fails_the_query_until_somebody_accepts_it(shop: Shop) -> None:
    for _ in range(2):  # tried again, it has the same verdict
        with pytest.raises(Exception, match="is held: price looks multiplied by 100") as raised:
            gate_rows(shop.make_frame(20, 100), shop.open_gate(), "2026-10-21", fails=True).collect()
        assert "headgate explain 'clicks' '2026-10-21'" in str(raised.value)
    [revision] = shop.store.revisions("clicks", "2026-10-21")
    assert revision.decision is Decision.HELD
    shop.make_gate().accept("2026-10-21", note="cents now")
    assert gate_rows(shop.make_frame(20, 100), shop.open_gate(), "2026-10-21", fails=True).count() == 400


def test_a_bad_batch_that_may_go_on_is_observed(shop: Shop) -> None:
    @hg.expect_learned(shop.open_gate(), partition="2026-10-21")
    def read_clicks() -> Any:
        return shop.make_frame(20, 100)

    assert read_clicks().count() == 400
    [revision] = shop.store.revisions("clicks", "2026-10-21")
    assert (revision.status.value, revision.decision) == ("fail", Decision.OBSERVED)


def test_a_query_without_rows_is_judged(shop: Shop, tmp_path: Path) -> None:
    shop.make_frame(20).write.parquet(str(tmp_path / "rows"))
    empty = shop.session.read.parquet(str(tmp_path / "rows")).where("id < 0")
    with pytest.raises(Exception, match="is held: "):
        gate_rows(empty, shop.open_gate(), "2026-10-21", fails=True).collect()


def test_the_first_batch_may_not_be_empty(session: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/dq.db"
    session.createDataFrame(ROWS, SCHEMA).write.parquet(str(tmp_path / "rows"))
    frame = session.read.parquet(str(tmp_path / "rows")).where("id < 0")
    with pytest.raises(Exception, match="clicks has no rows, and there was no batch before"):
        gate_rows(frame, lambda: hg.Gate("clicks", store=hg.open_store(url)), fails=False).collect()


def test_many_batches_of_a_task_are_measured_together(spark: SparkSession, shop: Shop) -> None:
    request = learned_expectation.ScanRequest.of(shop.make_gate())
    table = shop.make_rows(20)
    arrays = [pa.array(table.slice(at, 100).to_struct_array().combine_chunks()) for at in range(0, 400, 100)]
    given = [*learned_expectation.make_fold(request)(iter(arrays))]
    assert [len(each) for each in given] == [100, 100, 100, 100]
    assert [each.null_count for each in given] == [100, 100, 100, 99]


def test_an_older_spark_is_refused(spark: SparkSession, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions

    monkeypatch.delattr(functions, "arrow_udf")
    with pytest.raises(EngineUnavailable, match=r"needs Spark 4.1 or later"):
        gate_rows(spark.createDataFrame(ROWS, SCHEMA), shop.open_gate(), fails=True)
