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
_JAVA_TIMEOUT = 30.0  # seconds for `java -version` on a machine that is busy
_WARN_BELOW_BYTES = 1 << 30
_FAIL_BELOW_BYTES = 100 << 20
_SPARK_PACKAGES = ("pyspark", "pyspark-client")  # the second has no engine of its own and only speaks Connect


class Finding(NamedTuple):
    """One thing that was looked at, how it is, and what to do about it."""

    level: Level
    what: str
    message: str
    hint: str = ""
    configured: bool = False
    """Whether the configuration is to blame, rather than the world."""


def find_version(package: str) -> str | None:
    """The version of a package, without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def parse_version(version: str) -> tuple[int, ...]:
    """What a version begins with.

    >>> parse_version("4.1.0.dev1"), parse_version("3.5.9"), parse_version("26")
    ((4, 1), (3, 5), (26,))
    """
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def check_environment(needs_spark: bool, remote: bool) -> Iterator[Finding]:
    """Python, headgate, and Spark as far as it can be seen without starting it."""
    yield check_python(sys.version_info[:3])
    yield Finding("ok", "headgate", find_version("headgate") or "from a source tree")
    found = next(((name, version) for name in _SPARK_PACKAGES if (version := find_version(name))), None)
    if found is None:
        yield _report_no_spark(needs_spark)
        return
    yield check_spark(found[1])
    yield from check_pandas(find_version("pandas"), needs_spark)
    if found[0] == "pyspark" and not remote:
        yield check_java(find_java_version(), found[1], needs_spark)


def check_python(version: Sequence[int]) -> Finding:
    said = ".".join(map(str, version))
    if tuple(version) < OLDEST_PYTHON:
        return Finding("problem", "Python", said, "Headgate needs Python 3.11 or later.")
    return Finding("ok", "Python", said)


def _report_no_spark(needs_spark: bool) -> Finding:
    if needs_spark:
        return Finding(
            "problem", "pyspark", "not installed, and the configuration needs it", 'pip install "headgate[spark]"'
        )
    return Finding("ok", "pyspark", "not installed: batches are read by this process, without Spark")


def check_spark(version: str) -> Finding:
    """
    >>> check_spark("3.4.1").level, check_spark("4.3.0").level, check_spark("5.0.0").level
    ('problem', 'ok', 'warning')
    """
    if parse_version(version) < SPARK_FROM:
        return Finding(
            "problem", "pyspark", f"{version} is too old", 'pip install "headgate[spark]" brings one that fits'
        )
    if parse_version(version) >= SPARK_BELOW:
        return Finding("warning", "pyspark", f"{version} is newer than what was tested", "3.5 to 4.3 were tested.")
    return Finding("ok", "pyspark", version)


def check_pandas(version: str | None, needs_spark: bool) -> Iterator[Finding]:
    """pandas 3 and pyspark do not fit each other; without Spark it does not matter."""
    if version and parse_version(version) >= (3,):
        level: Level = "problem" if needs_spark else "warning"
        yield Finding(level, "pandas", f"{version} does not fit pyspark", 'pip install "pandas<3"')


def find_java_version() -> str | None:
    """The version of the Java that Spark would start; None if there is none, empty if it does not say."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    if shutil.which(program) is None:
        return None
    try:
        finished = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=_JAVA_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "([^"]+)"', finished.stderr + finished.stdout)
    return found[1] if found else ""


def java_major(version: str) -> int:
    """
    >>> java_major("17.0.9"), java_major("1.8.0_392"), java_major("21-ea")
    (17, 8, 21)
    """
    first, *rest = map(int, re.findall(r"\d+", version))
    return rest[0] if first == 1 and rest else first


def check_java(version: str | None, spark: str, needs_spark: bool) -> Finding:
    """Whether the Java that is there can run this Spark.

    >>> check_java("11.0.2", "4.1.0", True).level, check_java("17.0.9", "4.1.0", True).level
    ('problem', 'ok')
    """
    bad: Level = "problem" if needs_spark else "warning"
    home = " JAVA_HOME points to another one." if os.environ.get("JAVA_HOME") else ""
    if version is None:
        what = "JAVA_HOME has no bin/java" if home else "not found"
        return Finding(
            bad, "Java", what, "Spark needs it: install OpenJDK 17 (Debian: apt install openjdk-17-jre-headless)."
        )
    if not version:
        return Finding(bad, "Java", "it does not tell its version", "Run java -version; install OpenJDK 17.")
    major = java_major(version)
    if parse_version(spark) >= (4,) and major < JAVA_FOR_SPARK_4:
        return Finding(bad, "Java", f"{version} is too old for Spark {spark}", f"Install OpenJDK 17 or later.{home}")
    oldest, newest = JAVA_FOR_SPARK_3
    if parse_version(spark) < (4,) and not oldest <= major <= newest:
        return Finding("warning", "Java", f"{version}; Spark {spark} is made for 8, 11 and 17", "Install OpenJDK 17.")
    return Finding("ok", "Java", version)


def check_packages(what: str, packages: Sequence[str], extra: str) -> Finding:
    """Whether what a part of the configuration needs is installed."""
    absent = [name for name in packages if find_version(name) is None]
    if absent:
        return Finding("problem", what, f"{', '.join(absent)} not installed", f'pip install "headgate[{extra}]"')
    return Finding("ok", what, ", ".join(f"{name} {find_version(name)}" for name in packages))


def nearest_folder(path: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def check_disk_space(what: str, path: Path) -> Finding:
    free = shutil.disk_usage(nearest_folder(path)).free
    said = f"{free / (1 << 30):,.1f} GB free"
    if free < _FAIL_BELOW_BYTES:
        return Finding("problem", what, f"only {free >> 20:,} MB free at {path}", "Make room: nothing can be recorded.")
    if free < _WARN_BELOW_BYTES:
        return Finding("warning", what, f"only {free >> 20:,} MB free at {path}", "Make room before it runs out.")
    return Finding("ok", what, said)


def check_folder(what: str, path: Path) -> Finding:
    """Whether a folder can be written to, or made; nothing is left behind."""
    import tempfile

    above = nearest_folder(path)
    if not above.is_dir():
        return Finding("problem", what, f"{above} is not a folder", "Name another folder in headgate.yml.")
    try:
        with tempfile.NamedTemporaryFile(dir=above, prefix=".headgate-doctor-"):
            pass
    except OSError as trouble:
        who = f"May {_user_name()} write there?"
        return Finding("problem", what, f"{above} cannot be written to: {trouble.strerror}", who)
    return Finding("ok", what, f"{path} can be written to" if above == path else f"{path} will be made")


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "this user"
