"""What a task leaves behind in its worker."""

from __future__ import annotations

import importlib
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.engine.spark_workers import import_first


@pytest.fixture(params=["pyspark.zip", "py4j-0.10.9.9-src.zip", "spark-core_2.13-4.1.4.jar", "theirs.zip"])
def archive(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An archive with a package and two modules, on the path."""
    path = tmp_path / request.param
    with zipfile.ZipFile(path, "w") as made:
        for name in ("__init__", "first", "second"):
            made.writestr(f"headgate_probe/{name}.py", f"NAME = {name!r}")
    monkeypatch.syspath_prepend(str(path))
    yield path
    for name in [name for name in sys.modules if name.startswith("headgate_probe")]:
        del sys.modules[name]


def count_listings(monkeypatch: pytest.MonkeyPatch, archive: Path) -> list[str]:
    """The archives that are read from now on, one entry for each time."""
    read: list[str] = []
    listing = zipimport._read_directory  # type: ignore[attr-defined]

    def count(path: str) -> object:
        read.append(path)
        return listing(path)

    monkeypatch.setattr(zipimport, "_read_directory", count)
    return read


def test_the_archives_of_spark_are_not_listed_anew_before_the_next_task(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert importlib.import_module("headgate_probe.first").NAME == "first"
    assert list(import_first(lambda batches: iter(batches))([1, 2])) == [1, 2]
    read = count_listings(monkeypatch, archive)
    importlib.invalidate_caches()  # as Spark does before a task
    kept = archive.name == "theirs.zip"
    assert all(path == str(archive) for path in read)
    if sys.version_info < (3, 13):
        assert bool(read) is kept
    else:
        assert read == []
    assert importlib.import_module("headgate_probe.second").NAME == "second"


def test_the_archives_are_released_if_a_task_fails_or_is_not_read_to_its_end(archive: Path) -> None:
    def fail(batches: list[int]) -> Iterator[int]:
        importlib.import_module("headgate_probe.first")
        yield from batches
        raise ValueError("no")

    held = [path for path in (str(archive), f"{archive}/headgate_probe") if archive.name != "theirs.zip"]
    with pytest.raises(ValueError, match="no"):
        list(import_first(fail)([1]))
    assert not [path for path in held if path in sys.path_importer_cache]
    started = import_first(fail)([1])
    assert next(started) == 1
    started.close()
    assert not [path for path in held if path in sys.path_importer_cache]
