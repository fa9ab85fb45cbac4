"""Tests on an S3 server that keeps its objects on disk. Without its jars, of .ci/objects, they are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.objects.s3_on_disk import DiskServer

SERVER_JARS = os.environ.get("HEADGATE_S3_JARS", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and not SERVER_JARS:
            item.add_marker(pytest.mark.skip("HEADGATE_S3_JARS names no jars; .ci/objects fetches them"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DiskServer]:
    with DiskServer(tmp_path / "buckets", SERVER_JARS) as started, started.used():
        yield started
