"""What is judged, what is printed of it, and how the run ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.values.errors import DeliveryError
from headgate.values.outcome import Failed
from tests.cli.lake import BROKEN, CONFIG, GOOD, NEW, called, document, write_day
from tests.gate.orders import named


def test_every_batch_that_waits_is_judged_and_a_held_one_does_not_end_the_run(lake: Path) -> None:
    result = called("run")
    assert result.exit_code == 1
    assert result.stdout.count(" passed, published") == 9
    assert f"orders {BROKEN} failed and was held" in result.stdout
    assert result.stdout.index(BROKEN) < result.stdout.index(f"✓ orders {GOOD}")
    assert "10 batches: 9 published, 1 held" in result.stdout
    assert f"  held: headgate explain orders {BROKEN}" in result.stdout
    assert "headgate accept" not in result.stdout  # what can be done is told where one batch is
    assert result.stderr == ""


def test_what_was_judged_does_not_wait(judged: Path) -> None:
    result = called("run")
    assert result.exit_code == 0
    assert result.stdout == "orders: nothing waits; all 10 batches are judged.\n"


def test_a_source_without_any_batch_is_an_error(judged: Path) -> None:
    other = "datasets.orders.source.path=lake/ordres/day={partition}"
    result = called("run", "--set", other)
    assert result.exit_code == 3
    said = "error: orders has no batch: nothing is at lake/ordres/day={partition}."
    assert result.stderr == f"{said} Paths in headgate.yml are relative to its folder.\n"
    assert document("run", "--set", other)["empty"] == ["orders"]


def test_only_what_is_new_is_judged(judged: Path) -> None:
    write_day(judged, 10)
    result = called("run", "orders")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"✓ orders {NEW}  passed, published")


def test_the_same_input_again_gives_the_verdict_that_stands(judged: Path) -> None:
    again = document("run", "orders", "--partition", BROKEN)
    assert again["exit_code"] == 1
    assert again["batches"][0]["verdict"]["revision"] == 1
    called("accept", "orders", BROKEN)
    assert document("run", "orders", "-p", BROKEN)["exit_code"] == 0


def test_what_passed_and_was_rejected_stays_held(judged: Path) -> None:
    called("reject", "orders", GOOD)
    result = called("run", "orders", "-p", GOOD)
    assert result.exit_code == 1
    assert "✓" not in result.stdout
    assert f"orders {GOOD} was rejected by a person." in result.stdout


def test_a_dataset_that_cannot_be_opened_does_not_keep_the_others_from_being_judged(lake: Path) -> None:
    other = CONFIG.partition("datasets:\n")[2].replace("  orders:", "  sales:")
    body = CONFIG.partition("datasets:\n")[2].replace("owner:", "index: nowhere.hgi\n    owner:")
    Path("headgate.yml").write_text("store: file:history\ndatasets:\n" + body + other)
    found = document("run")
    assert found["exit_code"] == 2
    assert found["batches"][0]["error"]["kind"] == "ConfigError"
    assert found["summary"] == {"batches": 11, "published": 9, "held": 1, "not_judged": 1}


def test_a_repaired_batch_is_a_new_revision(judged: Path) -> None:
    called("reject", "orders", BROKEN, "--note", "wrong country", "--who", "ann")
    (judged / "lake" / "orders" / f"day={BROKEN}" / "part-0.parquet").unlink()
    (judged / "lake" / "orders" / f"day={BROKEN}").rmdir()
    write_day(judged, 8)
    found = document("run", "orders", "--partition", BROKEN)
    assert found["exit_code"] == 0
    assert found["batches"][0]["verdict"]["revision"] == 2


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warn", 1), ("never", 0)])
def test_what_fails_is_chosen(judged: Path, fail_on: str, code: int) -> None:
    assert called("run", "orders", "--partition", BROKEN, "--fail-on", fail_on).exit_code == code


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warn", 1), ("never", 0)])
def test_a_warning_fails_only_if_it_is_asked_to(lake: Path, fail_on: str, code: int) -> None:
    Path("headgate.yml").write_text(CONFIG.replace("[1, 40]", "[1, 2]"))
    result = called("run", "orders", "--partition", named(0), "--fail-on", fail_on)
    assert result.exit_code == code
    assert "warning: " in result.stdout


def test_a_gate_that_observes_lets_pass_and_says_what_failed(lake: Path) -> None:
    result = called("run", "orders", "-p", BROKEN, "--set", "datasets.orders.mode=observe")
    assert result.exit_code == 0
    assert f"orders {BROKEN} failed and was published" in result.stdout
    again = called("run", "orders", "-p", BROKEN, "--set", "datasets.orders.mode=observe", "--fail-on", "warn")
    assert again.exit_code == 1


def test_a_batch_that_cannot_be_read_ends_with_3_and_the_next_are_judged(lake: Path) -> None:
    first = lake / "lake" / "orders" / f"day={named(0)}" / "part-0.parquet"
    first.write_bytes(b"nothing of the kind")
    result = called("run", "--fail-on", "never")
    assert result.exit_code == 3
    assert named(0) in result.stdout + result.stderr
    assert f"orders {named(0)} could not be judged in full and was held." in result.stdout
    assert f"✓ orders {named(1)}" in result.stdout
    assert "Traceback" not in result.stderr
    assert "magic" not in result.stderr + result.stdout  # messages may quote values
    assert f"headgate profile orders --partition {named(0)} shows it" in result.stderr
    again = called("run", "-vv")
    assert "1 batch: 0 published, 1 held" in again.stdout  # it waits until it can be read
    assert "magic" not in again.stderr + again.stdout
    assert "magic" in called("profile", "orders", "--partition", named(0)).stderr


def test_a_partition_is_of_one_dataset(lake: Path) -> None:
    Path("headgate.yml").write_text(CONFIG + CONFIG.partition("datasets:\n")[2].replace("  orders:", "  sales:"))
    result = called("run", "--partition", GOOD)
    assert result.exit_code == 2
    assert f"headgate run orders --partition {GOOD}" in result.stderr


def test_quiet_says_nothing_of_what_passed(judged: Path) -> None:
    write_day(judged, 10)
    assert called("run", "--quiet").stdout == ""
    assert f"orders {BROKEN} failed" in called("run", "orders", "-p", BROKEN, "-q").stdout


def test_verbose_explains_what_passed_too(judged: Path) -> None:
    write_day(judged, 10)
    assert "Budget: " in called("run", "-v").stdout


def test_pages_are_written_for_what_did_not_pass_and_for_the_newest(lake: Path) -> None:
    found = document("run")
    pages = {path.relative_to(lake / "pages").as_posix() for path in (lake / "pages").rglob("*.html")}
    assert pages == {"index.html", "orders.html", f"orders/{BROKEN}.html", f"orders/{GOOD}.html"}
    assert {Path(path).name for path in found["reports"]} == {Path(page).name for page in pages}


def test_rows_of_a_batch_that_was_just_judged_need_no_second_scan(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.evaluate import verify

    def again(*_: object, **__: object) -> None:
        raise AssertionError("the batch was scanned again")

    monkeypatch.setattr(verify, "verify", again)
    called("run", "orders", "-p", BROKEN, "--set", "datasets.orders.show_values=true", "--output-html", "page.html")
    assert Path("page.html").read_text().count("is_contained_in(country") > 3  # one for each of the rows


def test_one_page_is_written_where_it_is_asked_for(judged: Path) -> None:
    assert called("run", "orders", "-p", BROKEN, "--output-html", "batch.html").exit_code == 1
    assert BROKEN in Path("batch.html").read_text()


def test_pages_that_cannot_be_written_end_with_4(judged: Path) -> None:
    write_day(judged, 10)
    for page in sorted((judged / "pages").rglob("*"), reverse=True):
        page.rmdir() if page.is_dir() else page.unlink()
    (judged / "pages").rmdir()
    (judged / "pages").write_text("a file where a folder should be")
    result = called("run")
    assert result.exit_code == 4
    assert "✓ orders" in result.stdout
    assert "could not be written" in result.stderr


def test_an_alert_that_is_not_delivered_ends_with_4(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_day(judged, 10)
    _answer_alerts(monkeypatch, Failed("Webhook: the receiver answered 500"))
    result = called("run", "--output-json", "out.json")
    assert result.exit_code == 4
    assert "was not delivered: Webhook: the receiver answered 500" in result.stderr
    assert json.loads(Path("out.json").read_text())["batches"][0]["undelivered"].startswith("Webhook")


def test_what_failed_weighs_more_than_an_alert(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_day(judged, 10, broken=True)
    _answer_alerts(monkeypatch, DeliveryError("nobody is there"))
    assert called("run").exit_code == 1


def _answer_alerts(monkeypatch: pytest.MonkeyPatch, answer: Failed | Exception) -> None:
    from headgate.gate.gate import Gate

    def notify(*_: object) -> Failed:
        if isinstance(answer, Exception):
            raise answer
        return answer

    original = Gate.__init__

    def with_alerts(self: Gate, *args: object, **given: object) -> None:
        original(self, *args, **{**given, "notify": notify})  # type: ignore[arg-type]

    monkeypatch.setattr(Gate, "__init__", with_alerts)


def test_a_store_that_cannot_be_used_ends_the_run_with_3(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.store.files.store import FileStore
    from headgate.values.errors import StoreUnavailable

    write_day(judged, 10)
    write_day(judged, 11)

    def full(self: object, run: object) -> None:
        raise StoreUnavailable("the disk is full.", hint="Make room.")

    monkeypatch.setattr(FileStore, "commit", full)
    found = document("run")
    assert found["exit_code"] == 3
    assert [(each["partition"], each["error"]["kind"]) for each in found["batches"]] == [(NEW, "StoreUnavailable")]


def test_a_spark_that_does_not_start_is_reported_once(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.project.project import Project
    from headgate.values.errors import EngineUnavailable

    def unstarted(self: object) -> None:
        raise EngineUnavailable("Spark is not installed.", hint="pip install it.")

    monkeypatch.setattr(Project, "session", unstarted)
    found = document("run", "--set", "spark.master=local[1]")
    assert found["exit_code"] == 3
    assert len(found["batches"]) == 1


def test_a_setting_goes_before_the_file(lake: Path) -> None:
    found = document("run", "orders", "-p", GOOD, "--set", "datasets.orders.false_alarms=0.2")
    assert found["batches"][0]["verdict"]["budget"]["false_alarms"] == 0.2


def test_the_configuration_may_be_named_by_a_variable(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("headgate.yml").rename("other.yml")
    monkeypatch.setenv("HEADGATE_CONFIG", "other.yml")
    assert called("run", "orders", "-p", GOOD).exit_code == 0
