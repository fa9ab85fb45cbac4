"""What a wheel must hold and may not hold."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

REQUIRED = (
    "headgate/__init__.py",
    "headgate/__init__.pyi",
    "headgate/checks/methods.pyi",
    "headgate/cli/init/demo/flights.parquet",
    "headgate/cli/output.schema.json",
    "headgate/engine/fold_costs.json",
    "headgate/engine/spark_quiet.properties",
    "headgate/learn/patterns/alarm_rates.json",
    "headgate/learn/patterns/public.hgi",
    "headgate/learn/pooled_rates.json",
    "headgate/learn/rules/key_names.json",
    "headgate/py.typed",
    "headgate/report/templates/base.html",
    "headgate/report/templates/page.js",
    "headgate/report/templates/style.css",
)
ABOUT = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
FOREIGN_FOLDERS = frozenset({"__pycache__", "tests"})
FOREIGN_SUFFIXES = frozenset({".pyc", ".pyo", ".orig", ".rej"})


def find_faults(wheel: Path, source: Path) -> Iterator[str]:
    """Everything that is wrong with a wheel that was built from the folder `source`."""
    name, version, *_ = parse_wheel_filename(wheel.name)
    about = f"{name}-{version}.dist-info"
    with ZipFile(wheel) as archive:
        held = set(archive.namelist())
        yield from find_content_faults(held, list_expected(source, about))
        if {f"{about}/RECORD", f"{about}/METADATA"} <= held:
            yield from find_record_faults(archive, f"{about}/RECORD")
            yield from find_metadata_faults(archive.read(f"{about}/METADATA"))


def list_expected(source: Path, about: str) -> set[str]:
    """All files of the package in the source, and what describes the wheel."""
    package = source / "src"
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    return {*REQUIRED, *files, *(f"{about}/{name}" for name in ABOUT)}


def find_content_faults(held: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"the wheel lacks {name}" for name in sorted(expected - held))
    yield from (f"the wheel holds {name}, which is no file of the package" for name in sorted(held - expected))
    yield from (f"the wheel holds {name}, which users do not need" for name in sorted(held) if is_foreign(name))


def is_foreign(name: str) -> bool:
    """Whether a file is a test, a cache, hidden, or left over from an editor.

    >>> is_foreign("headgate/tests/test_gate.py"), is_foreign("headgate/gate/gate.py")
    (True, False)
    """
    path = PurePosixPath(name)
    return (
        not FOREIGN_FOLDERS.isdisjoint(path.parts)
        or path.suffix in FOREIGN_SUFFIXES
        or any(part.startswith(".") for part in path.parts)
    )


def find_record_faults(archive: ZipFile, record: str) -> Iterator[str]:
    """Files whose bytes are not those that RECORD states."""
    stated = {row[0]: row[1] for row in csv.reader(archive.read(record).decode("utf-8").splitlines())}
    for name in sorted({*archive.namelist(), *stated} - {record}):
        if name not in archive.namelist():
            yield f"RECORD names {name}, which the wheel lacks"
        elif stated.get(name) != make_record_sum(archive.read(name)):
            yield f"RECORD does not state the sum of {name}"


def make_record_sum(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode('ascii').rstrip('=')}"


def find_metadata_faults(text: bytes) -> Iterator[str]:
    """What an index would refuse, or show badly."""
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as faults:
        yield from (f"METADATA: {fault}" for fault in faults.exceptions)
        return
    if not (metadata.description or "").strip():
        yield "METADATA has no description; name the README in pyproject.toml"
    if not (metadata.description_content_type or "").startswith("text/markdown"):
        yield "METADATA does not say that its description is Markdown"
    if metadata.license_expression != "Apache-2.0" or metadata.license_files != ["LICENSE"]:
        yield "METADATA does not name the licence Apache-2.0 and its file LICENSE"
