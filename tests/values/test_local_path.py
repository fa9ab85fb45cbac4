"""Paths of this machine, and the addresses that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.values.errors import MisuseError
from headgate.values.local_path import to_local_path


@pytest.mark.parametrize("text", ["lake", "/lake/orders", "a:/x", "day=2026-11-14 06:00", "x:y", "lake//a"])
def test_a_path_stays_what_it_is(text: str) -> None:
    assert to_local_path(text, "root") == Path(text)
    assert to_local_path(Path(text), "root") == Path(text)


@pytest.mark.parametrize(
    "text", ["file:///lake/a b", "file:/lake/a%20b", "FILE:///lake/a b", "file://localhost/lake/a b"]
)
def test_an_address_of_this_machine_is_its_path(text: str) -> None:
    assert to_local_path(text, "root") == Path("/lake/a b")


@pytest.mark.parametrize(
    "text", ["s3a://bucket/x", "s3://bucket", "abfss://c@a/x", "dbfs:/mnt/x", "hdfs:///x", "S3A://b"]
)
def test_any_other_address_is_refused(text: str) -> None:
    for path in (text, Path(text)):
        with pytest.raises(MisuseError, match=r"^root is an address \(\w+:\), not a path of this machine\. Name"):
            to_local_path(path, "root")


def test_a_file_of_another_host_is_refused() -> None:
    with pytest.raises(MisuseError, match=r"is an address \(file:\)"):
        to_local_path("file://host/x", "root")
