"""`headgate recover` and `headgate run` after a run that was killed; staged batches; quiet days."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headgate.store.fault_points import watch
from tests.attack.lake import Killed, kill_at
from tests.cli.lake import called, document
from tests.gate.orders import named, orders, replaced

CONFIG = """\
store: file:history
datasets:
  orders:
    source: {format: parquet, path: "lake/staging/{partition}"}
    publish: lake
    learn: [history]
    checks:
      - is_complete: [id, country]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headgate.yml").write_text(CONFIG)
    (tmp_path / "lake" / "staging").mkdir(parents=True)
    return tmp_path


def stage(project: Path, day: int, *, broken: bool = False, seed: int | None = None) -> None:
    table = orders(day if seed is None else seed)
    if broken:
        table = replaced(table, "country", [None, *table.column("country").to_pylist()[1:]])
    place = project / "lake" / "staging" / named(day)
    place.mkdir()
    pq.write_table(table, place / "part-0.parquet")


def run_and_kill(point: str) -> None:
    with watch(kill_at(point)), pytest.raises(Killed):
        called("run", catch_exceptions=False)


def shown(project: Path) -> set[str]:
    return {each.name for each in (project / "lake" / "published").iterdir() if not each.name.startswith("_")}


@pytest.mark.parametrize("command", ["run", "recover"])
@pytest.mark.parametrize("point", ["gate.committed", "folders.claim.done", "gate.delivered", "gate.notified"])
def test_a_batch_that_passed_is_published_by_the_next_command(project: Path, command: str, point: str) -> None:
    stage(project, 0)
    run_and_kill(point)
    found = document(command)
    assert found["exit_code"] == 0
    assert [(each["partition"], each["judged_before"]) for each in found["batches"]] == [(named(0), True)]
    assert found["summary"]["published"] == 1
    assert shown(project) == {named(0)}


@pytest.mark.parametrize("command", ["run", "recover"])
@pytest.mark.parametrize("point", ["gate.committed", "folders.hold.done", "gate.delivered", "gate.notified"])
def test_a_batch_that_failed_ends_the_next_command_with_1(project: Path, command: str, point: str) -> None:
    stage(project, 0, broken=True)
    run_and_kill(point)
    result = called(command)
    assert result.exit_code == 1
    assert f"orders {named(0)} failed and was held" in result.stdout
    assert shown(project) == set()


def test_what_judged_before_before_is_said_to_be(project: Path) -> None:
    stage(project, 0)
    run_and_kill("gate.committed")
    result = called("recover")
    assert result.stdout.startswith(f"✓ orders {named(0)}  was judged before, published now")
    assert "1 batch: 1 published, 0 held" in result.stdout
    assert called("recover").stdout == "Nothing was left unfinished.\n"


def test_a_batch_whose_input_is_gone_is_withdrawn_with_3(project: Path) -> None:
    stage(project, 0)
    run_and_kill("gate.committed")
    (project / "lake" / "staging" / named(0)).rename(project / "elsewhere")
    result = called("run")
    assert result.exit_code == 3
    assert "its staged input is gone, or was replaced. Revision 1 was withdrawn." in result.stdout
    assert called("run").exit_code == 0


def test_a_batch_that_is_staged_again_after_a_kill_is_judged_once_more(project: Path) -> None:
    stage(project, 0)
    run_and_kill("gate.committed")
    (project / "lake" / "staging" / named(0)).rename(project / "elsewhere")
    stage(project, 0, seed=5)
    found = document("run")
    assert (found["exit_code"], found["summary"]["published"]) == (0, 1)
    assert found["batches"][0]["verdict"]["revision"] == 2
    assert shown(project) == {named(0)}


def test_a_quiet_day_ends_with_0(project: Path) -> None:
    stage(project, 0)
    assert called("run").exit_code == 0
    result = called("run")
    assert (result.exit_code, result.stdout) == (0, "orders: nothing waits.\n")


def test_a_source_that_never_had_a_batch_ends_with_3(project: Path) -> None:
    assert called("run").exit_code == 3


def test_a_batch_that_is_staged_again_for_a_published_partition_is_a_new_revision(project: Path) -> None:
    stage(project, 0)
    called("run")
    stage(project, 0, seed=7)
    found = document("run")
    assert [each["verdict"]["revision"] for each in found["batches"]] == [2]
    assert pq.read_table(project / "lake" / "published" / named(0)) == orders(7)
    assert document("run")["batches"] == []


def test_the_same_batch_staged_again_is_no_news(project: Path) -> None:
    stage(project, 0)
    called("run")
    stage(project, 0)
    assert document("run")["batches"][0]["verdict"]["revision"] == 1
    assert document("run")["batches"] == []


def test_batches_must_be_read_from_where_they_are_staged(project: Path) -> None:
    (project / "headgate.yml").write_text(CONFIG.replace("lake/staging/{partition}", "lake/other/{partition}"))
    result = called("run")
    assert result.exit_code == 2
    assert "so what is judged would not be what is published" in result.stderr
    assert 'Write source: {path: "lake/staging/{partition}"}' in result.stderr


def test_a_ruling_names_the_revision_if_there_are_several(project: Path) -> None:
    for seed in (0, 5):
        stage(project, 0, broken=True, seed=seed)
        called("run")
    refused = called("accept", "orders", named(0))
    assert refused.exit_code == 2
    assert (
        f"has 2 revisions; the newest, 2, is held. If that is the one you mean: headgate accept orders {named(0)} "
        in (refused.stderr)
    )
    assert called("accept", "orders", named(0), "--revision", "2").exit_code == 0
    assert shown(project) == {named(0)}


@pytest.mark.parametrize("word", ["", "release"])
def test_the_rows_of_a_batch_are_shown_wherever_it_was_moved_to(project: Path, word: str) -> None:
    stage(project, 0, broken=True)
    called("run")
    if word:
        called(word, "orders", named(0))
    result = called("rows", "orders", named(0))
    assert result.exit_code == 0
    assert "1 row breaks something" in result.stdout
    assert called("run", "orders", "--partition", named(0)).exit_code == (0 if word else 1)


def test_parts_of_a_batch_that_is_split_are_no_batches(project: Path) -> None:
    stage(project, 0)
    for part in ("good", "bad"):
        (project / "lake" / "staging" / f"{named(0)}~{part}").mkdir()
        pq.write_table(orders(0), project / "lake" / "staging" / f"{named(0)}~{part}" / "part-0.parquet")
    assert [each["partition"] for each in document("run")["batches"]] == [named(0)]


def test_a_batch_under_a_name_that_nothing_is_published_from_is_told(project: Path) -> None:
    place = project / "lake" / "staging" / "2026-01-02T10:00"
    place.mkdir()
    pq.write_table(orders(0), place / "part-0.parquet")
    result = called("run")
    assert result.exit_code == 2
    assert "Let the job write to lake/staging/2026-01-02T10%3A00" in result.stderr


def test_a_batch_that_could_not_be_read_can_be_judged_again_where_it_is(project: Path) -> None:
    stage(project, 0)
    file = project / "lake" / "staging" / named(0) / "part-0.parquet"
    whole = file.read_bytes()
    file.write_bytes(b"")
    file.write_bytes(whole[: len(whole) // 2])
    assert called("run").exit_code == 3
    again = called("run", "orders", "--partition", named(0))
    assert again.exit_code == 3
    assert "could not be judged in full and was held" in again.stdout
