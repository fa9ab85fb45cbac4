"""Checks of what the configuration names: sources, alerts, jars, Spark Connect."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from headgate.cli.doctor.project import check_connect, check_jar
from headgate.learn.evidence import Evidence
from headgate.learn.pooled_rates import load_pooled_rates
from tests.cli.doctor.configured import CANARY, configure, free_port, run_doctor, without


def test_a_variable_that_is_not_set_is_named() -> None:
    configure(store="${env:HG_NOT_SET}")
    assert "HG_NOT_SET is not set" in run_doctor(code=3).output


def test_a_source_without_batches_is_a_warning_that_says_what_is_there() -> None:
    configure()
    Path("lake/orders/day=2026-11-14/x.csv").unlink()
    said = run_doctor().output
    assert "nothing is at lake/orders/day={partition}" in said
    assert "1 warning." in said


def test_a_batch_that_cannot_be_read_is_a_problem() -> None:
    configure()
    Path("headgate.yml").write_text(Path("headgate.yml").read_text(encoding="utf-8").replace("csv", "parquet"), "utf-8")
    assert "cannot be read" in run_doctor(code=3).output


def test_an_index_that_is_not_there_is_a_problem() -> None:
    configure(dataset="    index: lake.hgi\n")
    assert "headgate index build" in run_doctor(code=3).output


def test_columns_that_settings_name_and_the_newest_batch_lacks_are_told() -> None:
    configure(
        dataset="    ignore: [etl_*]\n    learn: {columns: [idd]}\n    pin: {ids: {min: [1, null]}, size: [1, null]}\n"
    )
    said = run_doctor(code=2).output
    assert "no column of 2026-11-14 is 'etl_*';" in said
    assert "no column of 2026-11-14 is 'idd';" in said
    assert "2026-11-14 has no column 'ids', so it could not be judged;" in said
    assert "Did you mean 'id'?" in said


def test_columns_that_settings_name_and_the_newest_batch_has_are_well() -> None:
    configure(
        dataset="    ignore: [i*]\n    learn: {columns: [id]}\n    pin: {id: {min: [1, null]}, size: [1, null]}\n"
    )
    assert "All is well." in run_doctor().output


def test_variables_of_alerts_are_named_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(more="alerts:\n  - slack: ${env:HG_SLACK}\n  - webhook: ${env:HG_HOOK}\n")
    monkeypatch.setenv("HG_SLACK", f"https://example.org/{CANARY}")
    said = run_doctor("-vv", code=3).output
    assert "HG_SLACK is set" in said
    assert "HG_HOOK is not set" in said
    assert CANARY not in said


def test_an_address_in_the_file_is_a_warning_and_never_told() -> None:
    configure(more=f"alerts:\n  - webhook: https://example.org/{CANARY}\n")
    said = run_doctor("-vv").output
    assert "its address stands in the file" in said
    assert CANARY not in said


def test_alerts_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(more=f"alerts:\n  - webhook: https://example.org/{CANARY}\n")
    without(monkeypatch, "httpx")
    assert 'pip install "headgate[alerts]"' in run_doctor(code=3).output


@pytest.mark.parametrize(
    ("packages", "beside", "level"),
    [
        ([], False, "problem"),
        ([], True, "ok"),
        (["io.delta:delta-spark_2.13:4.0.0"], False, "ok"),
        (["io.delta:delta-spark_2.12:3.2.0"], False, "problem"),
    ],
)
def test_a_jar_for_delta_is_named_or_not(packages: list[str], beside: bool, level: str) -> None:
    assert check_jar("delta", packages, "4.1.0", beside).level == level


def test_a_dataset_of_delta_without_its_jar_is_a_problem() -> None:
    configure(dataset="  stock:\n    source: {format: delta, path: lake/stock, where: \"day = '{partition}'\"}\n")
    said = run_doctor(code=3).output
    assert "no jar for it is named" in said
    assert "headgate doctor --spark" in said


def test_a_connect_server_answers_or_does_not_and_its_token_is_not_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert check_connect(f"sc://127.0.0.1:{port}/;token={CANARY}").level == "ok"
    line = check_connect(f"sc://127.0.0.1:{port}/;token={CANARY}")
    assert line.level == "problem"
    assert CANARY not in str(line)
    assert check_connect(f"http://{CANARY}").configured
    assert CANARY not in str(check_connect(f"http://{CANARY}"))


def test_a_remote_that_does_not_answer_is_a_problem() -> None:
    configure(more=f"spark:\n  remote: sc://127.0.0.1:{free_port()}")
    assert "does not answer" in run_doctor(code=3).output


def test_evidence_is_read_and_that_of_another_version_is_a_warning() -> None:
    configure(more="evidence: evidence.json\n")
    assert "headgate calibrate" in run_doctor(code=3).output
    levels = load_pooled_rates().levels
    Path("evidence.json").write_bytes(Evidence(levels=levels, tables={"a": {}}).encode())
    assert "1 table in evidence.json" in run_doctor().output
    Path("evidence.json").write_bytes(Evidence(levels={"columns, 28 runs": 1.0}, tables={"a": {}}).encode())
    assert "of another version of the package, which are not used" in run_doctor().output
