"""Batches on an object store that this process reads without Spark; the history is on the same server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pytest

from headgate.project.path_template import PathTemplate, template_mistake
from headgate.project.project import Project
from headgate.values.errors import EngineError, NoSuchBatch, SourceUnavailable
from tests.project.files import lake, opened, orders
from tests.project.objects import name_folder, put_days, put_table, summarize_history
from tests.store.backends import s3_server
from tests.store.s3 import BUCKET, Server

HISTORY = f"s3://{BUCKET}/x/history"
TEXT = """\
store: s3://{bucket}/{folder}/history
datasets:
  orders:
    source: {{path: "{scheme}://{bucket}/{folder}/orders/day={{partition}}"}}
"""


@pytest.fixture
def folder() -> Iterator[str]:
    with s3_server().used():
        yield name_folder()


def open_objects(tmp_path: Path, folder: str, scheme: str = "s3") -> Project:
    return opened(tmp_path, TEXT.format(bucket=BUCKET, folder=folder, scheme=scheme))


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_batches_on_s3_are_judged_like_those_of_a_folder(scheme: str, folder: str, tmp_path: Path) -> None:
    days = range(1, 6)
    put_days(days, f"{folder}/orders")
    lake(tmp_path / "here", days)
    with open_objects(tmp_path, folder, scheme) as there, opened(tmp_path / "here") as here:
        for project in (there, here):
            assert project.dataset("orders").partitions() == tuple(f"2026-11-{day:02}" for day in days)
            for partition in project.dataset("orders").waiting():
                project.dataset("orders").judge(partition)
        assert summarize_history(there) == summarize_history(here)
        assert len(summarize_history(there)) == 5


def test_a_batch_is_known_by_the_times_of_its_objects(folder: str, tmp_path: Path) -> None:
    put_days([1], f"{folder}/orders")
    with open_objects(tmp_path, folder) as project:
        dataset = project.dataset("orders")
        dataset.judge("2026-11-01")
        assert dataset.waiting() == ()
        before = dataset.identify_files("2026-11-01")
        time.sleep(1.1)  # S3 has times in seconds
        put_table(f"{folder}/orders/day=2026-11-01/part-0.parquet", orders(1))
        assert dataset.identify_files("2026-11-01") != before


def test_a_held_batch_waits_again_when_its_objects_change(folder: str, tmp_path: Path) -> None:
    name = f"{folder}/orders/day=1/part-0.parquet"
    put_table(name, orders(1).slice(0, 0))
    with open_objects(tmp_path, folder) as project:
        dataset = project.dataset("orders")
        assert dataset.judge("1").action == "hold"
        assert dataset.waiting() == ()
        put_table(name, orders(1))
        assert dataset.waiting() == ("1",)
        assert dataset.judge("1").action == "publish"


def test_spark_identifies_objects_as_this_process_does(folder: str, tmp_path: Path) -> None:
    put_days([1], f"{folder}/orders")
    with open_objects(tmp_path, folder, "s3a") as project:
        known = project.dataset("orders").identify_files("2026-11-01")
    text = TEXT.format(bucket=BUCKET, folder=folder, scheme="s3a").replace(
        "    source:", "    engine: spark\n    source:"
    )
    with opened(tmp_path, text) as project:
        assert project.dataset("orders").identify_files("2026-11-01") == known != ""


def test_a_missing_batch_says_what_is_there(folder: str, tmp_path: Path) -> None:
    put_days([1, 2], f"{folder}/orders")
    with open_objects(tmp_path, folder) as project, pytest.raises(NoSuchBatch) as missing:
        project.dataset("orders").judge("2026-11-09")
    assert f"nothing is at s3://{BUCKET}/{folder}/orders/day=2026-11-09. There are 2026-11-02" in str(missing.value)


def test_objects_that_a_job_still_writes_are_no_batch(folder: str, tmp_path: Path) -> None:
    put_table(f"{folder}/orders/day=1/_temporary/0/part-0.parquet", orders(1))
    put_table(f"{folder}/orders/day=2/part-0.parquet", orders(2))
    with open_objects(tmp_path, folder) as project:
        assert project.dataset("orders").partitions() == ("2",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{partition}", ("1", "2", "a b")),
        ("{partition}/orders", ("1", "2", "a b")),
        ("{partition}/orders/part-*.parquet", ("1", "a b")),
        ("{partition}/_data", ("3",)),
        ("*/orders/{partition}.parquet", ("part-0", "x")),
        ("{partition}/orders/{partition}.parquet", ()),
    ],
)
def test_one_listing_finds_what_a_walk_through_folders_finds(text: str, found: tuple[str, ...], folder: str) -> None:
    names = ("1/orders/part-0", "1/orders/_part-1", "2/orders/x", "a b/orders/part-0", "3/_data/part-0", "_4/orders/y")
    for name in names:
        put_table(f"{folder}/my orders/{name}.parquet", orders(1, rows=1))
    template = PathTemplate(f"s3://{BUCKET}/{folder}/my orders/{text}", Path("/"))
    assert template.partitions() == found
    assert tuple(sorted(template._list_batches())) == found


@pytest.mark.parametrize(("status", "said"), [(503, "does not answer (503)"), (403, "access was denied")])
def test_an_object_store_that_refuses_leaves_no_run(
    status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusal(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3-canary")
    try:
        with opened(
            tmp_path, TEXT.format(bucket=BUCKET, folder="x", scheme="s3").replace(HISTORY, "file:h")
        ) as project:
            with pytest.raises(SourceUnavailable) as refused:
                project.dataset("orders").judge("1")
            assert said in str(refused.value)
            assert "s3-canary" not in str(refused.value)
            assert summarize_history(project) == []
    finally:
        server.shutdown()
        server.server_close()


def test_data_that_quote_an_object_store_are_still_held(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("a,b\n1,2\nAWS Error SLOW_DOWN,3,4\n", encoding="utf-8")
    text = "store: file:history\ndatasets: {orders: {source: {format: csv, path: 'in/{partition}.csv'}}}\n"
    with opened(tmp_path, text) as project:
        assert project.dataset("orders").judge("1").action == "hold"


def test_a_bucket_that_is_not_there_is_named(folder: str) -> None:
    template = PathTemplate("s3://nowhere/orders/day={partition}", Path("/"))
    assert template.partitions() == ()
    assert "there is no nowhere/orders" in str(template.no_such_batch("orders", "1"))


def test_a_server_that_does_not_answer_is_named_in_one_sentence(tmp_path: Path) -> None:
    with Server() as server, server.used():
        template = PathTemplate(f"s3://{BUCKET}/orders/day={{partition}}", tmp_path)
        assert template.partitions() == ()
        server.stop()
        with pytest.raises(EngineError) as failed:
            template.partitions()
    assert str(failed.value) == (
        f"{BUCKET}/orders cannot be listed: the object store does not answer (NETWORK_CONNECTION). "
        "Check the address, and the credentials in the environment."
    )


def test_a_batch_with_broken_bytes_is_held_with_the_reason(folder: str, tmp_path: Path) -> None:
    from pyarrow import fs

    put_table(f"{folder}/orders/day=1/part-0.parquet", pa.table({"text": [f"text {at}" for at in range(50_000)]}))
    files, _ = fs.FileSystem.from_uri(f"s3://{BUCKET}")
    name = f"{BUCKET}/{folder}/orders/day=1/part-0.parquet"
    with files.open_input_file(name) as file:
        whole = file.read()
    with files.open_output_stream(name) as file:
        file.write(whole[:1_000] + bytes(len(whole) - 20_000) + whole[-19_000:])
    with open_objects(tmp_path, folder) as project:
        verdict = project.dataset("orders").judge("1")
    assert verdict.action == "hold"
    assert "the batch could not be read" in str(verdict)


def test_a_server_that_stops_in_the_middle_of_a_scan_leaves_no_run(tmp_path: Path) -> None:
    with Server() as server, server.used():
        put_table("orders/day=1/part-0.parquet", pa.table({"text": [f"text {at}" for at in range(50_000)]}))
        text = f"""\
store: file:history
datasets:
  orders:
    source: {{path: "s3://{BUCKET}/orders/day={{partition}}"}}
"""
        with opened(tmp_path, text) as project:
            dataset = project.dataset("orders")
            rows = dataset.read("1")
            server.stop()
            with pytest.raises(SourceUnavailable, match="the object store does not answer"):
                dataset.gate.judge(rows, "1")
            assert summarize_history(project) == []


@pytest.mark.parametrize(
    "path",
    ["s3://key:secret@lake/{partition}", "S3A://key:secret@lake", "s3://AK:ge/heim@lake/x", "s3://lake?secret_key=x"],
)
def test_a_password_in_an_address_is_refused(path: str) -> None:
    assert template_mistake(path) == ("there is a password in it.", "Credentials belong into the environment.")
    for other in ("abfs://container@account.dfs.core.windows.net/{partition}", "hdfs://host:8020/a@b/{partition}"):
        assert template_mistake(other) is None
