"""The stores that faults are tried on, one by one: those in BACKENDS, started anew for each module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.backends import BACKENDS, Backend
from tests.store import postgres


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    if request.param == "postgresql":
        postgres.required()
    folder: Path = tmp_path_factory.mktemp("faults")
    with BACKENDS[request.param](folder) as opened:
        yield opened
