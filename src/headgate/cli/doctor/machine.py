"""Whether this machine has what Headgate needs: Python, packages, Java, Spark, room on the disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

Level = Literal["ok", "warning", "problem"]
OLDEST_PYTHON = (3, 11)
SPARK_FROM, SPARK_BELOW = (3, 5), (4, 4)
JAVA_FOR_SPARK_4 = 17
JAVA_FOR_SPARK_3 = (8, 17)
_PATIENCE = 30.0  # seconds for `java -version` on a machine that is busy
_ROOM = 1 << 30
_LITTLE_ROOM = 100 << 20
_SPARKS = ("pyspark", "pyspark-client")  # the second has no engine of its own and only speaks Connect


class Line(NamedTuple):
    """One thing that was looked at, how it is, and what to do about it."""

    level: Level
    what: str
    said: str
    do: str = ""
    configured: bool = False
    """Whether the configuration is to blame, rather than the world."""


def installed(package: str) -> str | None:
    """The version of a package, without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    """What a version begins with.

    >>> numbers("4.1.0.dev1"), numbers("3.5.9"), numbers("26")
    ((4, 1), (3, 5), (26,))
    """
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def environment(needs_spark: bool, remote: bool) -> Iterator[Line]:
    """Python, headgate, and Spark as far as it can be seen without starting it."""
    yield python_line(sys.version_info[:3])
    yield Line("ok", "headgate", installed("headgate") or "from a source tree")
    found = next(((name, version) for name in _SPARKS if (version := installed(name))), None)
    if found is None:
        yield _without_spark(needs_spark)
        return
    yield spark_line(found[1])
    yield from pandas_line(installed("pandas"), needs_spark)
    if found[0] == "pyspark" and not remote:
        yield java_line(java_version(), found[1], needs_spark)


def python_line(version: Sequence[int]) -> Line:
    said = ".".join(map(str, version))
    if tuple(version) < OLDEST_PYTHON:
        return Line("problem", "Python", said, "Headgate needs Python 3.11 or later.")
    return Line("ok", "Python", said)


def _without_spark(needed: bool) -> Line:
    if needed:
        return Line(
            "problem", "pyspark", "not installed, and the configuration needs it", 'pip install "headgate[spark]"'
        )
    return Line("ok", "pyspark", "not installed: batches are read by this process, without Spark")


def spark_line(version: str) -> Line:
    """
    >>> spark_line("3.4.1").level, spark_line("4.3.0").level, spark_line("5.0.0").level
    ('problem', 'ok', 'warning')
    """
    if numbers(version) < SPARK_FROM:
        return Line("problem", "pyspark", f"{version} is too old", 'pip install "headgate[spark]" brings one that fits')
    if numbers(version) >= SPARK_BELOW:
        return Line("warning", "pyspark", f"{version} is newer than what was tested", "3.5 to 4.3 were tested.")
    return Line("ok", "pyspark", version)


def pandas_line(version: str | None, needs_spark: bool) -> Iterator[Line]:
    """pandas 3 and pyspark do not fit each other; without Spark it does not matter."""
    if version and numbers(version) >= (3,):
        level: Level = "problem" if needs_spark else "warning"
        yield Line(level, "pandas", f"{version} does not fit pyspark", 'pip install "pandas<3"')


def java_version() -> str | None:
    """The version of the Java that Spark would start; None if there is none, empty if it does not say."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    if shutil.which(program) is None:
        return None
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "([^"]+)"', told.stderr + told.stdout)
    return found[1] if found else ""


def java_major(version: str) -> int:
    """
    >>> java_major("17.0.9"), java_major("1.8.0_392"), java_major("21-ea")
    (17, 8, 21)
    """
    first, *rest = map(int, re.findall(r"\d+", version))
    return rest[0] if first == 1 and rest else first


def java_line(version: str | None, spark: str, needed: bool) -> Line:
    """Whether the Java that is there can run this Spark.

    >>> java_line("11.0.2", "4.1.0", True).level, java_line("17.0.9", "4.1.0", True).level
    ('problem', 'ok')
    """
    bad: Level = "problem" if needed else "warning"
    home = " JAVA_HOME points to another one." if os.environ.get("JAVA_HOME") else ""
    if version is None:
        what = "JAVA_HOME has no bin/java" if home else "not found"
        return Line(
            bad, "Java", what, "Spark needs it: install OpenJDK 17 (Debian: apt install openjdk-17-jre-headless)."
        )
    if not version:
        return Line(bad, "Java", "it does not tell its version", "Run java -version; install OpenJDK 17.")
    major = java_major(version)
    if numbers(spark) >= (4,) and major < JAVA_FOR_SPARK_4:
        return Line(bad, "Java", f"{version} is too old for Spark {spark}", f"Install OpenJDK 17 or later.{home}")
    oldest, newest = JAVA_FOR_SPARK_3
    if numbers(spark) < (4,) and not oldest <= major <= newest:
        return Line("warning", "Java", f"{version}; Spark {spark} is made for 8, 11 and 17", "Install OpenJDK 17.")
    return Line("ok", "Java", version)


def extra_line(what: str, packages: Sequence[str], extra: str) -> Line:
    """Whether what a part of the configuration needs is installed."""
    absent = [name for name in packages if installed(name) is None]
    if absent:
        return Line("problem", what, f"{', '.join(absent)} not installed", f'pip install "headgate[{extra}]"')
    return Line("ok", what, ", ".join(f"{name} {installed(name)}" for name in packages))


def nearest(path: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def room_line(what: str, path: Path) -> Line:
    free = shutil.disk_usage(nearest(path)).free
    said = f"{free / (1 << 30):,.1f} GB free"
    if free < _LITTLE_ROOM:
        return Line("problem", what, f"only {free >> 20:,} MB free at {path}", "Make room: nothing can be recorded.")
    if free < _ROOM:
        return Line("warning", what, f"only {free >> 20:,} MB free at {path}", "Make room before it runs out.")
    return Line("ok", what, said)


def folder_line(what: str, path: Path) -> Line:
    """Whether a folder can be written to, or made; nothing is left behind."""
    import tempfile

    above = nearest(path)
    if not above.is_dir():
        return Line("problem", what, f"{above} is not a folder", "Name another folder in headgate.yml.")
    try:
        with tempfile.NamedTemporaryFile(dir=above, prefix=".headgate-doctor-"):
            pass
    except OSError as trouble:
        who = f"May {_user()} write there?"
        return Line("problem", what, f"{above} cannot be written to: {trouble.strerror}", who)
    return Line("ok", what, f"{path} can be written to" if above == path else f"{path} will be made")


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "this user"
