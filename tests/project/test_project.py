"""A project from its file to a verdict, without a JVM."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.integrations.iceberg import Iceberg
from headgate.project.project import Project
from headgate.values.account import Mode
from headgate.values.errors import ConfigError, EngineError, MisuseError, NoSuchBatch
from tests.project.files import PLAIN, lake, opened, orders, written

WHOLE = """\
store: sqlite:///history.db
values: plain
reports: reports
datasets:
  orders:
    source: {format: parquet, path: "lake/orders/day={partition}"}
    false_alarms: 0.02
    owner: payments@
    mode: observe
    runs: 60
    learn: [history, novelty]
    keys: order_id
    show_values: true
    checks:
      - is_complete: [order_id, price]
      - metric: mean(price)
        between: [5, 500]
        level: warn
  lines:
    source: {path: "lake/lines/{partition}.parquet"}
    learn: {from: [], columns: "qty_*", metrics: [size, mean]}
    ignore: [etl_id, "debug_*"]
    pin: {price: {mean: [20, 30]}, size: [900, null]}
"""


def test_a_project_is_public() -> None:
    assert hg.Project is Project


def test_the_whole_file_is_read(tmp_path: Path) -> None:
    with opened(tmp_path, WHOLE) as project:
        assert project.path == tmp_path / "headgate.yml"
        assert project.names == ("orders", "lines")
        assert project.reports == tmp_path / "reports"
        found = project.dataset("orders")
        gate = found.gate
        assert found is project.dataset("orders")
        assert gate is found.gate
        assert (gate.dataset, gate.settings.owner, gate.settings.runs) == ("orders", "payments@", 60)
        assert (gate.settings.false_alarms, gate.settings.mode) == (0.02, Mode.OBSERVE)
        assert [str(each) for each in gate.settings.learners] == ["history", "novelty"]
        assert [rule.name for check in gate.checks for rule in check.rules] == ["is_complete", "metric"]
        assert found.settings.keys == ("order_id",)
        assert found.settings.show_values
        assert found.engine == "local"
        lines = project.dataset("lines").gate.settings
        assert lines.learners == ()
        assert lines.describe_scope() == (
            "etl_id, debug_* ignored; learned only of qty_*; learned only from size, mean; "
            "pinned: mean(price) within 20..30, size() at least 900"
        )
        assert gate.settings.describe_scope() == ""
        assert gate.store is project.store
        assert gate.store.secret is None  # values: plain


def test_what_is_not_said_is_what_a_gate_has_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as project:
        gate = project.dataset("orders").gate
        assert gate.settings == hg.Gate("orders", store=hg.open_store("memory:")).settings
        assert not gate.checks
        assert gate.notify is None
        assert gate.publisher is None
        assert project.store.secret is not None
        assert project.reports is None


def test_batches_wait_until_they_are_judged(tmp_path: Path) -> None:
    lake(tmp_path, [9, 10, 11])
    with opened(tmp_path) as project:
        found = project.dataset("orders")
        assert found.is_listed
        assert found.partitions() == found.waiting() == ("2026-11-09", "2026-11-10", "2026-11-11")
        for each in found.waiting()[:2]:
            assert found.judge(each).passed
        assert found.waiting() == ("2026-11-11",)
    with opened(tmp_path) as again:
        assert again.dataset("orders").waiting() == ("2026-11-11",)


def test_the_same_input_is_not_judged_twice(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    with opened(tmp_path) as project:
        found = project.dataset("orders")
        first, second = found.judge("2026-11-09"), found.judge("2026-11-09")
        assert second.revision.number == first.revision.number == 1
        pq.write_table(orders(9, rows=150), tmp_path / "lake/orders/day=2026-11-09/part-0.parquet")
        assert found.judge("2026-11-09").revision.number == 2


def test_a_declared_check_holds_a_batch(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    with opened(tmp_path, f"{PLAIN}    checks:\n      - has_mean: price\n        at_least: 1000\n") as project:
        found = project.dataset("orders")
        assert not found.gate.judge(found.read("2026-11-09"), "2026-11-09").passed


CHECKED = f"{PLAIN}    learn: []\n    checks:\n      - has_size:\n        at_least: 100\n"


def test_a_held_batch_waits_again_only_when_its_files_change(tmp_path: Path) -> None:
    lake(tmp_path, [9, 10])
    file = tmp_path / "lake/orders/day=2026-11-09/part-0.parquet"
    pq.write_table(orders(9, rows=5), file)
    with opened(tmp_path, CHECKED) as project:
        found = project.dataset("orders")
        assert [found.judge(each).action for each in found.waiting()] == ["hold", "publish"]
        assert found.waiting() == ()
        pq.write_table(orders(9, rows=150), file)
        assert found.waiting() == ("2026-11-09",)
        assert found.judge("2026-11-09").revision.number == 2
        pq.write_table(orders(9, rows=120), file)  # what is published is not judged again by itself
        assert found.waiting() == ()


@pytest.mark.parametrize("said", ["accept", "release", "discard"])
def test_what_a_person_has_let_pass_or_dropped_does_not_wait(said: str, tmp_path: Path) -> None:
    lake(tmp_path, [9])
    file = tmp_path / "lake/orders/day=2026-11-09/part-0.parquet"
    pq.write_table(orders(9, rows=5), file)
    with opened(tmp_path, CHECKED) as project:
        found = project.dataset("orders")
        found.judge("2026-11-09")
        getattr(found.gate, said)("2026-11-09")
        pq.write_table(orders(9, rows=150), file)
        assert found.waiting() == ()
        found.gate.reject("2026-11-09")
        assert found.waiting() == ("2026-11-09",)


def test_a_batch_that_cannot_be_read_is_recorded_held_and_tried_again(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    file = tmp_path / "lake/orders/day=2026-11-09/part-0.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    with opened(tmp_path) as project:
        found = project.dataset("orders")
        verdict = found.judge("2026-11-09")
        assert (verdict.status, verdict.action) == ("error", "hold")
        assert isinstance(verdict.read_error, EngineError)
        assert project.store.revisions("orders")[0].unread
        assert found.waiting() == ("2026-11-09",)
        file.write_bytes(whole)
        assert found.judge("2026-11-09").passed
        assert found.waiting() == ()


def test_a_batch_that_is_not_there_is_not_recorded(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    with opened(tmp_path) as project:
        with pytest.raises(NoSuchBatch):
            project.dataset("orders").judge("2026-11-30")
        assert project.store.datasets() == ()


def test_a_batch_that_is_not_there_says_what_is(tmp_path: Path) -> None:
    lake(tmp_path, [9])
    with pytest.raises(EngineError, match=r"orders has no batch 2026-11-30: .* There are 2026-11-09."):
        opened(tmp_path).dataset("orders").read("2026-11-30")


def test_a_source_of_one_batch_lists_none(tmp_path: Path) -> None:
    pq.write_table(orders(1), tmp_path / "orders.parquet")
    found = opened(tmp_path, PLAIN.replace("lake/orders/day={partition}", "orders.parquet")).dataset("orders")
    assert not found.is_listed
    assert found.partitions() == found.waiting() == ()
    assert found.read("any").count_rows() == 200


@pytest.mark.parametrize("store", ["file:history", "sqlite:///history.db", "file:./deep/history"])
def test_the_store_is_relative_to_the_file(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with opened(folder, PLAIN.replace("file:history", store)) as project:
        assert project.store.datasets() == ()
    assert len(list(folder.iterdir())) == 2
    assert list(elsewhere.iterdir()) == []


def test_a_path_given_as_relative_is_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake(tmp_path, [9])
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    project = Project.open()
    monkeypatch.chdir("/")
    assert project.dataset("orders").partitions() == ("2026-11-09",)


def test_a_batch_is_published_from_its_staging_folder(tmp_path: Path) -> None:
    text = PLAIN.replace("lake/orders/day={partition}", "orders/staging/{partition}") + "    publish: orders\n"
    with opened(tmp_path, text) as project:
        found = project.dataset("orders")
        _ = found.gate
        (tmp_path / "orders/staging/2026-11-09").mkdir()
        pq.write_table(orders(9), tmp_path / "orders/staging/2026-11-09/a.parquet")
        assert found.waiting() == ("2026-11-09",)
        assert found.gate.judge(found.read("2026-11-09"), "2026-11-09").passed
        assert (tmp_path / "orders/published/2026-11-09/a.parquet").exists()
        assert found.waiting() == ()


def test_an_index_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"headgate.yml:5: datasets.orders.index: there is no .*headgate index build"):
        _ = opened(tmp_path, f"{PLAIN}    index: lake.hgi\n").dataset("orders").gate


def test_an_index_is_opened_from_the_folder_of_the_file(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden" / "pattern_index_1.hgi"
    (tmp_path / "lake.hgi").write_bytes(golden.read_bytes())
    gate = opened(tmp_path, f"{PLAIN}    index: lake.hgi\n").dataset("orders").gate
    assert gate._index.columns > 0


def test_a_session_that_is_given_makes_spark_the_engine(tmp_path: Path) -> None:
    file = written(tmp_path, f"{PLAIN}  lines: {{source: {{path: x}}, engine: local}}\n")
    project = Project.open(file, spark=object())
    assert project.dataset("orders").engine == "spark"
    assert project.dataset("lines").engine == "local"


def test_a_section_for_spark_makes_it_the_engine_and_starts_nothing(tmp_path: Path) -> None:
    project = opened(tmp_path, f"{PLAIN}spark: {{master: yarn}}\n")
    assert project.dataset("orders").engine == "spark"
    project.close()


@pytest.mark.parametrize("source", ["{table: t}", "{path: x, format: delta}", "{path: x, format: iceberg}"])
def test_a_source_that_needs_spark_gets_it(source: str, tmp_path: Path) -> None:
    text = f'store: "memory:"\ndatasets: {{orders: {{source: {source}}}}}\n'
    assert opened(tmp_path, text).dataset("orders").engine == "spark"


def test_a_project_that_is_closed_opens_its_store_again(tmp_path: Path) -> None:
    project = opened(tmp_path)
    first = project.store
    project.close()
    assert project.store is not first
    project.close()


@pytest.mark.parametrize(
    ("form", "partition", "time"),
    [
        ("%d%m%y", "141126", "2026-11-14"),
        ("load of %B %Y", "load of November 2026", "2026-11"),
        ("%Y%j-%H", "2026318-05", "2026-11-14T05"),
        ("%Y", "2026", "2026"),
    ],
)
def test_the_time_of_a_batch_is_read_as_the_file_says(form: str, partition: str, time: str, tmp_path: Path) -> None:
    with opened(tmp_path, PLAIN + f'    time: "{form}"\n') as project:
        dataset = project.dataset(project.names[0])
        assert dataset.read_time(partition) == time
        assert dataset.calendar([partition]).cadence.by_time
        with pytest.raises(MisuseError, match="does not read the partition 'x'"):
            dataset.read_time("x")


def test_a_form_of_times_has_a_year(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names no year"):
        opened(tmp_path, PLAIN + '    time: "%d.%m."\n')


def test_days_that_are_compared_with_each_other_are_listed_in_the_file_or_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sales-2026.txt").write_text("# every year\n2026-11-27\n\n2027-11-26  # next\n", encoding="utf-8")
    lists = "    calendar: {holidays: [2026-12-25, '2026-12-26'], sales: sales-2026.txt, strike: 2026-03-03}\n"
    with opened(tmp_path, PLAIN + lists) as project:
        days = project.dataset("orders").gate.settings.days
    assert str(days) == "holidays: 2026-12-25, 2026-12-26; sales: 2026-11-27, 2027-11-26; strike: 2026-03-03"


@pytest.mark.parametrize(
    ("days", "words"),
    [("[Christmas, 2026-12-25]", "'Christmas', which is no day"), ("none.txt", "none.txt cannot be read")],
)
def test_a_list_without_days_is_told_with_its_line(days: str, words: str, tmp_path: Path) -> None:
    with opened(tmp_path, PLAIN + f"    calendar: {{holidays: {days}}}\n") as project:
        with pytest.raises(ConfigError, match=words) as error:
            _ = project.dataset("orders").gate
        assert "headgate.yml:5" in str(error.value)


def test_a_gate_of_a_table_starts_no_spark_before_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """{table: lake.shop.orders, where: "day = '{partition}'"}"""
    text = PLAIN.replace('{path: "lake/orders/day={partition}"}', source)
    assert source in text
    with opened(tmp_path, text + "    publish: {to: iceberg}\n") as project:
        monkeypatch.setattr(project, "session", lambda: pytest.fail("Spark was started"))
        assert project.dataset("orders").gate.store.head("orders") == 0
        assert isinstance(project.dataset("orders").gate.publisher, Iceberg)
