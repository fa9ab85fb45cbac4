"""Checks of this machine: Python, packages, Java, Spark, folders and disk space."""

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
_SPARK_PACKAGES = ("pyspark", "pyspark-client")  # the second is a client of Spark Connect without an engine


class Finding(NamedTuple):
    """The result of one check: its subject, its level, a message, and a hint what to do."""

    level: Level
    what: str
    message: str
    hint: str = ""
    configured: bool = False
    """Whether the cause is a mistake in the configuration."""


def find_version(package: str) -> str | None:
    """The version of an installed package, without importing it; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def parse_version(version: str) -> tuple[int, ...]:
    """The first two numbers of a version.

    >>> parse_version("4.1.0.dev1"), parse_version("3.5.9"), parse_version("26")
    ((4, 1), (3, 5), (26,))
    """
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def check_environment(needs_spark: bool, remote: bool) -> Iterator[Finding]:
    """Check Python, headgate, and Spark as far as possible without starting it."""
    yield check_python(sys.version_info[:3])
    yield Finding("ok", "headgate", find_version("headgate") or "from a source tree")
    installed = {name: version for name in _SPARK_PACKAGES if (version := find_version(name))}
    if not installed:
        yield _report_no_spark(needs_spark)
        return
    package, version = next(iter(installed.items()))
    yield check_spark(version)
    yield from check_pandas(find_version("pandas"), needs_spark)
    if package == "pyspark" and not remote:
        yield check_java(find_java_version(), version, needs_spark)


def check_python(version: Sequence[int]) -> Finding:
    text = ".".join(map(str, version))
    if tuple(version) < OLDEST_PYTHON:
        return Finding("problem", "Python", text, "Headgate needs Python 3.11 or later.")
    return Finding("ok", "Python", text)


def _report_no_spark(needs_spark: bool) -> Finding:
    if needs_spark:
        return Finding(
            "problem", "pyspark", "not installed, and the configuration needs it", 'pip install "headgate[spark]"'
        )
    return Finding("ok", "pyspark", "not installed: batches are read by this process, without Spark")


def check_spark(version: str) -> Finding:
    """Check that this version of Spark is supported.

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
    """Check that pandas is older than 3, which pyspark does not support."""
    if version and parse_version(version) >= (3,):
        level: Level = "problem" if needs_spark else "warning"
        yield Finding(level, "pandas", f"{version} does not fit pyspark", 'pip install "pandas<3"')


def find_java_version() -> str | None:
    """The version of the Java that Spark would start; None if there is none, empty if it cannot be determined."""
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
    match = re.search(r'version "([^"]+)"', finished.stderr + finished.stdout)
    return match[1] if match else ""


def java_major(version: str) -> int:
    """The major version of Java; up to Java 8 it is the second number.

    >>> java_major("17.0.9"), java_major("1.8.0_392"), java_major("21-ea")
    (17, 8, 21)
    """
    first, *rest = map(int, re.findall(r"\d+", version))
    return rest[0] if first == 1 and rest else first


def check_java(version: str | None, spark: str, needs_spark: bool) -> Finding:
    """Check that this version of Java can run this version of Spark.

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
    """Check that the packages of a part of the configuration are installed."""
    absent = [name for name in packages if find_version(name) is None]
    if absent:
        return Finding("problem", what, f"{', '.join(absent)} not installed", f'pip install "headgate[{extra}]"')
    return Finding("ok", what, ", ".join(f"{name} {find_version(name)}" for name in packages))


def nearest_folder(path: Path) -> Path:
    """The path itself if it exists, else its nearest parent that does."""
    return next(each for each in (path, *path.parents) if each.exists())


def check_disk_space(what: str, path: Path) -> Finding:
    free = shutil.disk_usage(nearest_folder(path)).free
    if free < _FAIL_BELOW_BYTES:
        return Finding("problem", what, f"only {free >> 20:,} MB free at {path}", "Make room: nothing can be recorded.")
    if free < _WARN_BELOW_BYTES:
        return Finding("warning", what, f"only {free >> 20:,} MB free at {path}", "Make room before it runs out.")
    return Finding("ok", what, f"{free / (1 << 30):,.1f} GB free")


def check_folder(what: str, path: Path) -> Finding:
    """Check that a folder can be written to or created, without leaving anything behind."""
    import tempfile

    existing = nearest_folder(path)
    if not existing.is_dir():
        return Finding("problem", what, f"{existing} is not a folder", "Name another folder in headgate.yml.")
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".headgate-doctor-"):
            pass
    except OSError as error:
        hint = f"May {_user_name()} write there?"
        return Finding("problem", what, f"{existing} cannot be written to: {error.strerror}", hint)
    return Finding("ok", what, f"{path} can be written to" if existing == path else f"{path} will be made")


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "this user"
