from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from release.wheel import (
    REQUIRED,
    find_content_faults,
    find_faults,
    find_metadata_faults,
    find_record_faults,
    is_foreign,
    make_record_sum,
)

ROOT = Path(__file__).resolve().parents[2]
METADATA = """Metadata-Version: 2.4
Name: headgate
Version: 0.1.0
License-Expression: Apache-2.0
License-File: LICENSE
Description-Content-Type: text/markdown

# Headgate
"""


def write_wheel(path: Path, files: dict[str, str]) -> Path:
    record = "headgate-0.1.0.dist-info/RECORD"
    lines = [f"{name},{make_record_sum(text.encode())},{len(text)}" for name, text in files.items()]
    with ZipFile(path, "w") as archive:
        for name, text in {**files, record: "\n".join([*lines, f"{record},,"])}.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name in REQUIRED:
        path = tmp_path / "source" / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "source"


@pytest.fixture
def files() -> dict[str, str]:
    about = "headgate-0.1.0.dist-info"
    described = {f"{about}/{name}": "" for name in ("WHEEL", "entry_points.txt", "licenses/LICENSE")}
    return {**dict.fromkeys(REQUIRED, ""), **described, f"{about}/METADATA": METADATA}


def list_faults(files: dict[str, str], source: Path) -> list[str]:
    return list(find_faults(write_wheel(source.parent / "headgate-0.1.0-py3-none-any.whl", files), source))


def test_a_wheel_that_holds_the_package_has_no_faults(files: dict[str, str], source: Path) -> None:
    assert list_faults(files, source) == []


@pytest.mark.parametrize("name", [*REQUIRED, "headgate-0.1.0.dist-info/licenses/LICENSE"])
def test_a_file_that_is_missing_is_seen(files: dict[str, str], source: Path, name: str) -> None:
    del files[name]
    assert list_faults(files, source) == [f"the wheel lacks {name}"]


def test_a_file_that_is_in_the_source_must_be_in_the_wheel(files: dict[str, str], source: Path) -> None:
    (source / "src" / "headgate" / "new.json").touch()
    assert list_faults(files, source) == ["the wheel lacks headgate/new.json"]


def test_a_file_that_is_not_in_the_source_is_seen(files: dict[str, str], source: Path) -> None:
    assert list_faults({**files, "tests.py": ""}, source) == [
        "the wheel holds tests.py, which is no file of the package"
    ]


def test_a_test_is_seen_even_if_it_is_in_the_source() -> None:
    name = "headgate/tests/test_gate.py"
    assert list(find_content_faults({name}, {name})) == [f"the wheel holds {name}, which users do not need"]


@pytest.mark.parametrize(
    ("name", "foreign"),
    [
        ("headgate/gate/gate.py", False),
        ("headgate-0.1.0.dist-info/RECORD", False),
        ("headgate/__pycache__/gate.cpython-311.pyc", True),
        ("tests/gate/test_gate.py", True),
        ("headgate/.DS_Store", True),
        ("headgate/gate/gate.py.orig", True),
    ],
)
def test_tests_caches_and_leftovers_are_foreign(name: str, foreign: bool) -> None:
    assert is_foreign(name) is foreign


def test_a_file_that_is_not_what_the_record_states_is_seen(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("changed.py", "x = 2")
        archive.writestr("unlisted.py", "")
        archive.writestr("RECORD", f"changed.py,{make_record_sum(b'x = 1')},5\ngone.py,,\nRECORD,,\n")
    with ZipFile(tmp_path / "a.whl") as archive:
        assert list(find_record_faults(archive, "RECORD")) == [
            "RECORD does not state the sum of changed.py",
            "RECORD names gone.py, which the wheel lacks",
            "RECORD does not state the sum of unlisted.py",
        ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Version: 0.1.0", "Version: one", "version"),
        ("# Headgate\n", "", "no description"),
        ("text/markdown", "text/plain", "Markdown"),
        ("Apache-2.0", "MIT", "licence"),
        ("License-File: LICENSE\n", "", "licence"),
        ("Name: headgate\n", "Name: headgate\nNonsense: 1\n", "nonsense"),
    ],
)
def test_metadata_that_an_index_would_refuse_are_seen(old: str, new: str, fault: str) -> None:
    assert list(find_metadata_faults(METADATA.encode())) == []
    assert fault in " ".join(find_metadata_faults(METADATA.replace(old, new).encode()))


def test_what_a_wheel_must_hold_is_in_this_source() -> None:
    assert [name for name in REQUIRED if not (ROOT / "src" / name).exists()] == []
