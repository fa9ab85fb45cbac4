"""Which settings of a session let tasks open files on S3, and that they do."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from headgate.engine.nested import TypeTree
from headgate.engine.parquet_files import FileColumn, FilePart, ParquetFiles
from headgate.engine.s3_access import S3Access, read_access
from headgate.values.schema import Kind
from tests.project.objects import put_table
from tests.store.s3 import BUCKET, Server

REGION = {"fs.s3a.endpoint.region": "eu-west-1"}
KEYS = {"fs.s3a.access.key": "somebody", "fs.s3a.secret.key": "s3-canary"}
PROVIDERS = "fs.s3a.aws.credentials.provider"
CLASS = "org.apache.hadoop.fs.s3a."
DEFAULT = f"\n {CLASS}TemporaryAWSCredentialsProvider,\n {CLASS}SimpleAWSCredentialsProvider,\n a.b.OtherProvider"


@pytest.mark.parametrize(
    "settings",
    [
        KEYS,
        {**KEYS, PROVIDERS: DEFAULT},
        {"fs.s3a.bucket.lake.access.key": "somebody", "fs.s3a.bucket.lake.secret.key": "s3-canary"},
        {**KEYS, "fs.s3a.session.token": "token", "fs.s3a.encryption.algorithm": "SSE-KMS"},
        {PROVIDERS: f"{CLASS}AnonymousAWSCredentialsProvider"},
        {**KEYS, "fs.s3a.impl": f"{CLASS}S3AFileSystem"},
    ],
)
def test_settings_that_say_all(settings: dict[str, str]) -> None:
    access = read_access("lake", {**REGION, **settings}.get)
    assert access is not None
    assert "canary" not in repr(access) + str(access)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fs.s3a.access.key": "somebody"},
        {"fs.s3a.bucket.other.access.key": "somebody", "fs.s3a.bucket.other.secret.key": "s3-canary"},
        {**KEYS, PROVIDERS: "a.b.OtherProvider"},
        {**KEYS, PROVIDERS: f"{CLASS}auth.AssumedRoleCredentialProvider"},
        {**KEYS, "hadoop.security.credential.provider.path": "jceks://file"},
        {**KEYS, "fs.s3a.impl": "com.example.FileSystem"},
        {**KEYS, "fs.s3a.proxy.host": "proxy"},
        {**KEYS, "fs.s3a.requester.pays.enabled": "true"},
        {**KEYS, "fs.s3a.bucket.lake.encryption.algorithm": "SSE-C"},
    ],
)
def test_settings_that_are_left_to_spark(settings: dict[str, str]) -> None:
    assert read_access("lake", {**REGION, **settings}.get) is None


@pytest.mark.parametrize(
    ("settings", "region"),
    [
        ({}, None),
        ({"fs.s3a.endpoint": "s3.amazonaws.com"}, None),
        ({"fs.s3a.endpoint": "https://s3.eu-central-1.amazonaws.com"}, "eu-central-1"),
        ({"fs.s3a.endpoint": "s3-us-west-2.amazonaws.com"}, "us-west-2"),
        ({"fs.s3a.endpoint": "bucket.vpce-1.s3.us-east-2.vpce.amazonaws.com"}, None),
        ({"fs.s3a.endpoint": "s3.amazonaws.com", **REGION}, "eu-west-1"),
        ({"fs.s3a.endpoint": "http://127.0.0.1:9000"}, "us-east-1"),
    ],
)
def test_a_region_is_known_or_files_are_left_to_spark(settings: dict[str, str], region: str | None) -> None:
    access = read_access("lake", {**KEYS, **settings}.get)
    assert (None if access is None else access.region) == region


def test_static_keys_go_without_the_token_of_a_session() -> None:
    settings = {**KEYS, **REGION, "fs.s3a.session.token": "token", PROVIDERS: f"{CLASS}SimpleAWSCredentialsProvider"}
    access = read_access("lake", settings.get)
    assert access is not None
    assert access.session_token == ""


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("", "https")),
        ({"fs.s3a.connection.ssl.enabled": "false"}, ("", "http")),
        ({"fs.s3a.endpoint": "127.0.0.1:9000"}, ("127.0.0.1:9000", "https")),
        ({"fs.s3a.endpoint": "http://127.0.0.1:9000"}, ("127.0.0.1:9000", "http")),
        ({"fs.s3a.endpoint": "a", "fs.s3a.bucket.lake.endpoint": "b"}, ("b", "https")),
    ],
)
def test_the_endpoint(settings: dict[str, str], expected: tuple[str, str]) -> None:
    access = read_access("lake", {**KEYS, **REGION, **settings}.get)
    assert access is not None
    assert (access.endpoint, access.scheme) == expected


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running, running.used():
        yield running


def open_object(server: Server, path: str) -> ParquetFiles:
    access = read_access(BUCKET, {**KEYS, "fs.s3a.endpoint": server.url}.get)
    assert isinstance(access, S3Access)
    column = FileColumn("id", TypeTree(Kind.INTEGER, "bigint"))
    return ParquetFiles(["id"], [column], [0], [[FilePart(path, 0, None)]], access=access)


def test_a_task_reads_an_object(server: Server) -> None:
    put_table("lake/odd name=1%2B/part 0.parquet", pa.table({"id": list(range(1_000))}))
    files = cloudpickle.loads(cloudpickle.dumps(open_object(server, "/lake/odd name=1%2B/part 0.parquet")))
    read = [value for arrays, _ in files.open_task(0).read([0], 300) for value in arrays[0].to_pylist()]
    assert read == list(range(1_000))


def test_an_object_that_is_gone_is_an_error_of_reading(server: Server) -> None:
    with pytest.raises(OSError, match="lake/nothing"):
        list(open_object(server, "/lake/nothing.parquet").open_task(0).read([0], 300))
