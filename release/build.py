"""Builds of one commit in different surroundings, which must give the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from release import ReleaseError


@dataclass(frozen=True)
class Surroundings:
    """What differs between two machines that build the same commit."""

    umask: int
    file_time: int  # of the last change of every file, in seconds
    variables: Mapping[str, str]


HERE = Surroundings(0o022, 1_000_000_000, {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "1"})
ELSEWHERE = Surroundings(
    0o077,
    1_700_000_001,
    # Python reads and writes ASCII there, where a file is opened without an encoding.
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "XXX-14", "PYTHONHASHSEED": "2"},
)


def read_commit_time(repository: Path) -> int:
    """The time of the last commit, in seconds: SOURCE_DATE_EPOCH."""
    return int(run_git(repository, "log", "-1", "--format=%ct"))


def export_commit(repository: Path, folder: Path, surroundings: Surroundings) -> None:
    """Writes the files of the last commit into a folder, with the modes and times of the surroundings."""
    extract(run_git(repository, "archive", "--format=tar", "HEAD"), folder)
    for path in folder.rglob("*"):
        mode = 0o777 if path.is_dir() or path.stat().st_mode & 0o100 else 0o666
        path.chmod(mode & ~surroundings.umask)
        os.utime(path, (surroundings.file_time, surroundings.file_time))


def extract(archive: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4 and later
        files.extractall(folder, **safely)


def run_git(repository: Path, *arguments: str) -> bytes:
    # CI can run as another user than the one who owns the clone.
    git = ["git", "-c", f"safe.directory={repository}"]
    try:
        return subprocess.run([*git, *arguments], cwd=repository, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"").decode("utf-8", "replace").strip() or error
        raise ReleaseError(
            f"A release is built from a commit, but git cannot read one in {repository}: {said}"
        ) from None


def run_python(folder: Path, arguments: Sequence[str | Path], surroundings: Surroundings, epoch: int) -> None:
    """Runs Python in a folder; of this process's environment only the path to programs is passed on."""
    variables = {"PATH": os.environ.get("PATH", ""), "SOURCE_DATE_EPOCH": str(epoch), **surroundings.variables}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=variables, umask=surroundings.umask, capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        raise ReleaseError(f"`python {' '.join(command[1:])}` failed in {folder}:\n{done.stdout}{done.stderr}")


def build_archives(source: Path, out: Path, surroundings: Surroundings, epoch: int) -> None:
    """Builds the sdist and the wheel of a folder.

    Args:
        source: the folder with pyproject.toml.
        out: where the files go.
        surroundings: the umask and the environment of the build.
        epoch: the time that the archives state, in seconds.
    """
    run_python(source, ["-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", out], surroundings, epoch)


def rebuild_wheel(sdist: Path, folder: Path, surroundings: Surroundings, epoch: int) -> Path:
    """Builds the wheel from an sdist alone, as users can.

    Args:
        sdist: the archive.
        folder: where it is unpacked, and the wheel built.
        surroundings: the umask and the environment of the build.
        epoch: the time that the wheel states, in seconds.
    """
    extract(gzip.decompress(sdist.read_bytes()), folder)
    source = next(folder.iterdir())
    run_python(source, ["-m", "hatchling", "build", "-t", "wheel", "-d", folder], surroundings, epoch)
    return next(folder.glob("*.whl"))


def sum_files(folder: Path) -> dict[str, str]:
    """The SHA-256 sum of each file."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def find_differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """One sentence for each file that two builds do not have in common, byte for byte."""
    return [
        f"{name} differs between two builds of one commit: {first.get(name, 'missing')}, {second.get(name, 'missing')}"
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    ]
