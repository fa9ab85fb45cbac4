"""Batches judged in order: which errors end a run, and the exit code of each batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.cli.context import CommandContext
from headgate.cli.judge_batches import BatchResult, code_of, judge_batches, judge_datasets, row_count_of
from headgate.cli.options import FailOn
from headgate.project.dataset import Dataset
from headgate.project.project import Project
from headgate.values.errors import EngineUnavailable, MisuseError
from headgate.values.outcome import Failed
from tests.cli.lake import BROKEN, DAYS, GOOD
from tests.gate.orders import named, orders


def judge(partition: str | None = None, **settings: str) -> list[BatchResult]:
    with Project.open(settings=settings) as project:
        return list(judge_batches(CommandContext("run"), project.dataset("orders"), partition))


def test_all_batches_that_wait_are_judged_in_order(lake: Path) -> None:
    results = judge()
    assert [each.partition for each in results] == [named(day) for day in range(DAYS)]
    assert [each.partition for each in results if each.verdict is None or not each.verdict.passed] == [BROKEN]
    assert {(each.alone, each.width) for each in results} == {(False, len(GOOD))}


def test_a_batch_that_is_not_there_is_an_error_of_its_own(lake: Path) -> None:
    (result,) = judge("2031-01-01")
    assert result.verdict is None
    assert result.exit_code(FailOn.NEVER) == 3
    assert result.to_dict(FailOn.ERROR)["error"]["kind"] == "NoSuchBatch"


def test_a_source_that_cannot_be_listed_is_an_error_without_a_partition(lake: Path) -> None:
    (result,) = judge(**{"datasets.orders.source.path": "nosuch://bucket/{partition}"})
    assert (result.partition, result.verdict) == ("", None)
    assert result.exit_code(FailOn.ERROR) == 3


@pytest.mark.parametrize(
    ("partition", "fail_on", "code"),
    [
        (GOOD, FailOn.WARN, 0),
        (BROKEN, FailOn.ERROR, 1),
        (BROKEN, FailOn.WARN, 1),
        (BROKEN, FailOn.NEVER, 0),
    ],
)
def test_the_code_of_a_verdict_depends_on_what_may_fail(
    judged: Path, partition: str, fail_on: FailOn, code: int
) -> None:
    with Project.open() as project:
        verdict = project.dataset("orders").gate.explain(partition)
    assert code_of(verdict, fail_on) == code


def test_the_row_count_is_the_recorded_one(judged: Path) -> None:
    with Project.open() as project:
        assert row_count_of(project.dataset("orders").gate.explain(GOOD)) == len(orders(9))


def test_an_alert_that_was_not_delivered_gives_code_4_unless_the_batch_failed(judged: Path) -> None:
    with Project.open() as project:
        dataset = project.dataset("orders")
        good, broken = (
            BatchResult(dataset, partition, dataset.gate.explain(partition)) for partition in (GOOD, BROKEN)
        )
    for result in (good, broken):
        assert result.verdict is not None
        result.verdict.notified = Failed("no route to host")
    assert good.alert_failure == "no route to host"
    assert good.exit_code(FailOn.ERROR) == 4
    assert broken.exit_code(FailOn.ERROR) == 1


def test_secrets_are_redacted_in_the_document_of_a_batch(lake: Path) -> None:
    with Project.open() as project:
        result = BatchResult(project.dataset("orders"), GOOD, error=MisuseError("wrong token c4n4ry."))
    document = result.to_dict(FailOn.ERROR, secrets=("c4n4ry",))
    assert document["error"]["message"] == "wrong token ***."
    assert (document["exit_code"], document["verdict"], document["rows"]) == (2, None, None)


def test_a_spark_that_cannot_be_used_is_tried_for_one_dataset(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fail(dataset: Dataset, partition: str, **more: object) -> None:
        tried.append(dataset.name)
        raise EngineUnavailable("Spark is gone.")

    config = Path("headgate.yml")
    source = '{source: {path: "lake/orders/day={partition}"}, engine: %s}'
    more = "".join(f"  {name}: {source % engine}\n" for name, engine in (("again", "spark"), ("here", "local")))
    config.write_text(config.read_text(encoding="utf-8") + more, encoding="utf-8")
    monkeypatch.setattr(Dataset, "judge", fail)
    monkeypatch.setattr(Dataset, "waiting", lambda dataset: ("1", "2"))
    with Project.open(settings={"datasets.orders.engine": "spark"}) as project:
        datasets = [project.dataset(name) for name in project.names]
        found = list(judge_datasets(CommandContext("run"), datasets, None))
    assert tried == ["orders", "here"]
    assert [(each.dataset.name, str(each.error)) for each in found] == [
        (name, "Spark is gone.") for name in ("orders", "again", "here")
    ]
