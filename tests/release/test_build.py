from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from release import ReleaseError
from release.build import (
    ELSEWHERE,
    HERE,
    build_archives,
    export_commit,
    find_differences,
    read_commit_time,
    rebuild_wheel,
    run_python,
    sum_files,
)

PYPROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "tiny"
version = "1.0"
requires-python = ">=3.11"
readme = "README.md"
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    files = {
        "pyproject.toml": PYPROJECT,
        "README.md": "# Größe\n",
        "tiny/__init__.py": "",
        "tiny/run.sh": "#!/bin/sh\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "tiny" / "run.sh").chmod(0o755)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First", "--date=@1750000000"]):
        environment = {"GIT_COMMITTER_DATE": "@1750000000 +0000", "PATH": "/usr/bin:/bin:/usr/local/bin"}
        subprocess.run(["git", *identity, *command], cwd=folder, check=True, env=environment)
    (folder / "tiny" / "not_committed.py").touch()
    return folder


def test_the_time_of_a_build_is_that_of_the_last_commit(repository: Path) -> None:
    assert read_commit_time(repository) == 1_750_000_000


def test_a_folder_without_a_commit_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="built from a commit, but git cannot read one"):
        read_commit_time(tmp_path)


def test_a_commit_is_exported_with_the_modes_and_times_of_the_surroundings(repository: Path, tmp_path: Path) -> None:
    export_commit(repository, tmp_path, ELSEWHERE)
    status = (tmp_path / "tiny" / "__init__.py").stat()
    assert (status.st_mode & 0o777, status.st_mtime) == (0o600, ELSEWHERE.file_time)
    assert (tmp_path / "tiny" / "run.sh").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "tiny" / "not_committed.py").exists()


def test_two_builds_in_different_surroundings_give_the_same_bytes(repository: Path, tmp_path: Path) -> None:
    sums = []
    for name, surroundings in (("a", HERE), ("b", ELSEWHERE)):
        source, out = tmp_path / name, tmp_path / f"{name}-out"
        source.mkdir()
        export_commit(repository, source, surroundings)
        build_archives(source, out, surroundings, 1_750_000_000)
        sums.append(sum_files(out))
    assert sorted(sums[0]) == ["tiny-1.0-py3-none-any.whl", "tiny-1.0.tar.gz"]
    assert find_differences(*sums) == []
    wheel = rebuild_wheel(tmp_path / "a-out" / "tiny-1.0.tar.gz", tmp_path / "c", ELSEWHERE, 1_750_000_000)
    assert wheel.read_bytes() == (tmp_path / "a-out" / wheel.name).read_bytes()


def test_files_that_differ_or_are_missing_are_seen() -> None:
    assert find_differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b differs between two builds of one commit: 2, 3",
        "c differs between two builds of one commit: missing, 4",
    ]


def test_a_build_that_fails_is_an_error_with_what_was_printed(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no backend here"):
        run_python(tmp_path, ["-c", "raise SystemExit('no backend here')"], HERE, 0)
