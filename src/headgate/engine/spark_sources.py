"""Opens the Spark session of a configuration, and the files and tables that it reads."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headgate.engine.spark_faults import find_fault, raise_faults
from headgate.metrics.base.sql import add_backticks, quote_value
from headgate.values.day_lists import is_day
from headgate.values.errors import EngineError, EngineUnavailable, did_you_mean

_JAVA = "Install Java 17 or later (Debian: apt install openjdk-17-jre-headless), and set JAVA_HOME if it is elsewhere."
_SPARK = "pip install 'headgate[spark]', or 'headgate[connect]' for a remote server."
_SERVER = "Is the server started, and is the address in spark.remote right?"
_OPTIONS = "SPARK_SUBMIT_OPTS"
_PYTHON = "PYSPARK_PYTHON"
_CODE = re.compile(r"\[[A-Z][A-Z_.]+\]")  # the error class at the start of Spark's messages
_SECRET_LENGTH = 6  # characters; shorter option values are separators and booleans, not secrets
_LONGEST = 300
_CONNECT_PORT = 15002
_CONNECT_TIMEOUT = 10.0  # seconds
# The characters that Spark and Hive percent-encode in the name of a folder.
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
_GLOB = re.compile(r"([\\{}\[\]*?])")
_QUIET = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false", "spark.ui.enabled": "false"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def active_session() -> Any:
    """The session that the caller's program already has, classic or Connect; None if it has none."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None
    if (session := SparkSession.getActiveSession()) is not None:
        return session
    try:
        from pyspark.sql.connect.session import SparkSession as ConnectSession
    except Exception:  # the libraries of Connect are not installed, or too old: several kinds of errors
        return None
    return ConnectSession.getActiveSession() if hasattr(ConnectSession, "getActiveSession") else None


def start_session(
    *, master: str | None, remote: str | None, config: Mapping[str, str], packages: Sequence[str] = ()
) -> Any:
    """A new session: of the Connect server `remote`, or of `master`, by default on this machine.

    Sessions on this machine listen on loopback, have no web UI and log errors only, unless `config` says otherwise.
    Errors are raised here with our own messages, because an address may contain a token, and settings a password.
    """
    error = _missing_requirement(remote)
    if error is None and remote is not None and (why := _why_unreachable(remote)):
        error = EngineUnavailable(f"the Connect server could not be reached: {why}.", hint=_SERVER)
    session = None
    if error is None:
        session, error = _try_start(master, remote, dict(config), list(packages))
    del master, remote, config  # so that tracebacks with local variables do not show them
    if error is not None:
        raise error
    return session


@contextlib.contextmanager
def _use_own_python(is_here: bool) -> Iterator[None]:
    """The workers of a session on this machine have the Python of this process, unless the environment names one.

    Spark takes `python3` of the path, which is another one if a virtual environment is used without being activated.
    """
    if not is_here or _PYTHON in os.environ or not sys.executable:
        yield
        return
    os.environ[_PYTHON] = sys.executable
    try:
        yield
    finally:
        del os.environ[_PYTHON]


def _missing_requirement(remote: str | None) -> EngineUnavailable | None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return EngineUnavailable("Spark is not installed.", hint=_SPARK)
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    if remote is None and shutil.which(java) is None:
        where = f"there is none in JAVA_HOME ({home})" if home else "there is none on the path"
        return EngineUnavailable(f"Spark needs Java, and {where}.", hint=_JAVA)
    return None


def _why_unreachable(remote: str) -> str:
    """Why the server cannot be reached; empty if it can. Spark itself would retry for minutes."""
    if any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")):
        return ""  # then only the proxy can reach the server
    try:
        address = urlsplit(remote)
        host, port = address.hostname or "", address.port or _CONNECT_PORT
        with socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT):
            return ""
    except socket.gaierror:
        return "its host name is not known"
    except TimeoutError:
        return f"there was no answer within {_CONNECT_TIMEOUT:.0f} s"
    except (OSError, ValueError) as error:
        return "the connection was refused" if isinstance(error, ConnectionRefusedError) else type(error).__name__


def _try_start(
    master: str | None, remote: str | None, config: dict[str, str], packages: list[str]
) -> tuple[Any, EngineUnavailable | None]:
    from pyspark.sql import SparkSession

    name = master or "local[*]"
    is_here = remote is None and name.startswith("local")
    wanted = config if remote is not None else {**_QUIET, **(_LOOPBACK if is_here else {}), **config}
    if packages:
        known = wanted.get("spark.jars.packages")
        wanted["spark.jars.packages"] = ",".join([*([known] if known else []), *packages])
    try:
        builder = SparkSession.builder.appName("headgate")
        builder = builder.master(name) if remote is None else builder.remote(remote)
        for key, value in wanted.items():
            builder = builder.config(key, value)
        with _quiet_logging(is_here and "spark.log.level" not in config), _use_own_python(is_here):
            session = builder.getOrCreate()
        _ = session.version  # fails now if there is no server
        return session, None
    except Exception as error:  # from Py4J, gRPC or Spark; the message may contain an address or a setting
        return None, _explain_start(error, remote is not None)


@contextlib.contextmanager
def _quiet_logging(wanted: bool) -> Iterator[None]:
    """Set the logging of a JVM that is started inside the block, unless the caller's options already do."""
    before = os.environ.get(_OPTIONS)
    if not wanted or "log4j" in (before or ""):
        yield
        return
    file = Path(__file__).with_name("spark_quiet.properties").resolve().as_uri()
    os.environ[_OPTIONS] = f"{before or ''} -Dlog4j2.configurationFile={file}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OPTIONS]
        else:
            os.environ[_OPTIONS] = before


def _explain_start(error: Exception, is_remote: bool) -> EngineUnavailable:
    words = str(error)
    name = type(error).__name__
    if is_remote:
        hint = _SERVER
        if "ImportError" in name or "PACKAGE_NOT_INSTALLED" in words:
            hint = "pip install 'headgate[connect]'"
        return EngineUnavailable(f"the Connect server could not be reached ({name}).", hint=hint)
    if "JAVA_GATEWAY_EXITED" in words or "UnsupportedClassVersion" in words:
        hint = "What it said itself is above. Look at spark.config and at JAVA_HOME: Spark 4 needs Java 17 or later."
        return EngineUnavailable("Java started, but Spark did not.", hint=hint)
    if "unresolved dependenc" in words or "download failed" in words:
        return EngineUnavailable("a jar of spark.packages could not be fetched.", hint="Look at its name and version.")
    return EngineUnavailable(f"Spark could not be started ({name}).", hint="Look at spark.master and spark.config.")


def read_files(session: Any, form: str, options: Mapping[str, str], paths: Sequence[str]) -> Any:
    """A DataFrame of files."""
    what = f"{', '.join(paths[:3])} cannot be read as {form}"
    data, error = _try_read(session, options, lambda reader: reader.format(form).load(list(paths)), what, form)
    del options
    if error is not None:
        raise error
    return data


def read_table(session: Any, table: str, options: Mapping[str, str]) -> Any:
    """A DataFrame of a table of the catalogue."""
    what = f"the table {table} cannot be read"
    data, error = _try_read(session, options, lambda reader: reader.table(table), what)
    del options
    if error is not None:
        raise error
    return data


def select_rows(data: Any, predicate: str) -> Any:
    """The rows of a batch."""
    from headgate.engine.spark_frame import find_unknown_names, open_spark

    for unknown in find_unknown_names([predicate], open_spark(data).top_labels, data.sparkSession).values():
        raise EngineError(f"where: names the column {unknown!r};", hint=did_you_mean(unknown, data.columns))
    return data.where(predicate)


def select_since(data: Any, column: str, partition: str) -> Any:
    """The rows whose column is at least the partition."""
    name = find_column(data, column)
    kind = data.schema[name].dataType.simpleString()
    if kind == "date" and not is_day(partition):  # Spark would make it null, and find no row
        raise EngineError(f"{partition} is no value of the column {name}, which is a date.")
    return data.where(f"{add_backticks(name)} >= CAST({quote_value(partition)} AS {kind})")


def split_rows(data: Any, column: str) -> Iterator[tuple[str, Any]]:
    """The rows of each value of a column, with its text."""
    name = add_backticks(find_column(data, column))
    for value in values_of(data, column):
        yield value, data.where(f"CAST({name} AS STRING) = {quote_value(value)}")


def values_of(data: Any, column: str) -> set[str]:
    """The values of a column as texts. For a partition column, Spark only lists folders."""
    find_column(data, column)
    with raise_faults():
        rows = data.selectExpr(f"CAST({add_backticks(column)} AS STRING) AS value").distinct().collect()
    return {row[0] for row in rows if row[0] is not None}


def find_column(data: Any, column: str) -> str:
    """The name of a column as the data have it; Spark does not tell capital letters apart."""
    found = next((name for name in data.columns if name.lower() == column.lower()), None)
    if found is None:
        raise EngineError(f"where: names the column {column!r};", hint=did_you_mean(column, data.columns))
    return str(found)


def escape_partition(partition: str) -> str:
    """The name of a batch as one component of a path, escaped as Spark does.

    >>> escape_partition("2026-11-14 06:00"), escape_partition("../up"), escape_partition("..")
    ('2026-11-14 06%3A00', '..%2Fup', '%2E%2E')
    """
    name = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", partition)
    return name.replace(".", "%2E") if set(name) == {"."} else name


def escape_glob(path: str) -> str:
    r"""An existing path, escaped so that Spark does not read it as a glob pattern.

    >>> print(escape_glob("/lake/day=[1]"))
    /lake/day=\[1\]
    """
    return _GLOB.sub(r"\\\1", path)


def _try_read(
    session: Any, options: Mapping[str, str], read: Callable[[Any], Any], what: str, form: str = ""
) -> tuple[Any, EngineError | None]:
    """The data, with its schema resolved; or the error. It is returned, not raised: options may be secret."""
    try:
        data = read(session.read.options(**options))
        _ = data.schema  # on Connect nothing is resolved before this
        return data, None
    except Exception as error:  # from Spark or Py4J, and a data source may raise anything
        if fault := find_fault(error):
            return None, fault
        why = _error_line(error, options)
        return None, EngineError(f"{what}: {why}", hint=_hint_for(why, form))


def _error_line(error: Exception, options: Mapping[str, str]) -> str:
    """The line of an error that has Spark's error class, with the values of options masked."""
    lines = str(error).splitlines() or [type(error).__name__]
    line = next((each for each in lines if _CODE.search(each)), lines[0])
    match = _CODE.search(line)
    words = line[match.start() :] if match else line
    for value in options.values():
        words = words.replace(value, "***") if len(value) >= _SECRET_LENGTH else words
    return " ".join(words.split(" SQLSTATE")[0].split())[:_LONGEST]


def _hint_for(why: str, form: str) -> str:
    if "PATH_NOT_FOUND" in why or "Path does not exist" in why:
        return "Look at source.path; a Connect server reads its own files, not those of this machine."
    if "TABLE_OR_VIEW_NOT_FOUND" in why:
        return "Look at source.table: catalog.schema.table."
    if "DATA_SOURCE_NOT_FOUND" in why or "Failed to find" in why:
        return f"Spark needs the jar of {form}: name it in spark.packages."
    return ""
