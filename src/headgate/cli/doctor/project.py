"""Whether what a headgate.yml names is there: its store, sources, folders, packages, variables, and Spark."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.cli.doctor.machine import Line, extra_line, folder_line, installed, numbers, room_line
from headgate.cli.doctor.store import store_lines

if TYPE_CHECKING:
    from headgate.project.project import Dataset, Project
    from headgate.values.hidden import Hidden

_CONNECT = ("pyspark", "pandas", "grpcio", "grpcio-status", "googleapis-common-protos")
_JARS = {"delta": "delta-spark", "iceberg": "iceberg-spark-runtime"}
_COORDINATES = {
    "delta": "io.delta:delta-spark_2.13:4.0.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
}
_PATIENCE = 5.0  # seconds for a Connect server to answer
_PORT = 15002


def project_lines(project: Project, spark: bool) -> Iterator[Line]:
    """All that can be looked at; Spark is started where the file names it or somebody asked for it."""
    yield from _store(project)
    yield from _folders(project)
    yield from alert_lines(project)
    yield from _jars(project)
    started = True
    if spark or project.config.spark is not None:
        session = list(session_lines(project))
        started = all(line.level != "problem" for line in session)
        yield from session
    for name in project.names:
        dataset = project.dataset(name)
        if dataset.engine == "local" or (started and (spark or project.config.spark is not None)):
            yield source_line(dataset)
        else:
            yield Line("warning", name, "read with Spark, which was not started", "Run headgate doctor --spark.")


def needs_spark(project: Project) -> bool:
    return any(project.dataset(name).engine == "spark" for name in project.names)


def _store(project: Project) -> Iterator[Line]:
    from headgate.project.store import anchored

    config = project.config
    absent = [*config.store.missing, *(config.secret.missing if config.secret else ())]
    if absent:
        yield _unset("store", absent)
        return
    secret = None if config.secret is None else config.secret.reveal()
    yield from store_lines(anchored(config.store.reveal(), project.folder), secret)


def _folders(project: Project) -> Iterator[Line]:
    if project.reports is not None:
        line = folder_line("reports", project.reports)
        yield line
        if line.level == "ok":
            yield from (room for room in [room_line("reports", project.reports)] if room.level != "ok")
    for name, said in project.config.datasets.items():
        if said.publish is not None:
            yield folder_line(f"{name}: publish", project.folder / said.publish)
        if said.index is not None and not (project.folder / said.index).is_file():
            hint = "Make it with headgate index build, or leave index: out for the public one."
            yield Line("problem", f"{name}: index", f"there is no {said.index}", hint)


def alert_lines(project: Project) -> Iterator[Line]:
    """Packages and variables that alerts need; what a variable holds is never told."""
    alerts = project.config.alerts
    if not alerts:
        return
    needed = extra_line("alerts", ["httpx"], "alerts")
    if needed.level != "ok":
        yield needed
    for number, alert in enumerate(alerts, 1):
        what = f"alert {number}"
        texts: list[Hidden] = [each for each in (alert.webhook, alert.slack, *alert.headers.values()) if each]
        if absent := [name for text in texts for name in text.missing]:
            yield _unset(what, absent)
        elif any(text.is_literal for text in (alert.webhook, alert.slack) if text):
            yield Line(
                "warning", what, "its address stands in the file", "Write ${env:NAME}, and set NAME where it runs."
            )
        else:
            names = sorted({name for text in texts for name in text.names})
            yield Line("ok", what, f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} set")
        if alert.memory is not None:
            yield folder_line(what, (project.folder / alert.memory).parent)


def _unset(what: str, names: list[str]) -> Line:
    each = ", ".join(dict.fromkeys(names))
    plural = len(set(names)) > 1
    said = f"the variable{'s' * plural} {each} {'are' if plural else 'is'} not set"
    return Line("problem", what, said, f"Set it where this runs: export {names[0]}=...")


def _jars(project: Project) -> Iterator[Line]:
    """Whether Spark gets the jars that the formats of the sources need."""
    formats = {said.source.format for said in project.config.datasets.values()} & set(_JARS)
    said = project.config.spark
    for kind in sorted(formats):
        if said is not None and said.remote is not None:
            yield Line("ok", f"{kind} jar", "the Connect server brings its own")
            continue
        packages = [*(said.packages if said else ()), *_configured_jars(said.config if said else {})]
        yield jar_line(kind, packages, installed("pyspark") or "4", _beside_spark(kind))


def jar_line(kind: str, packages: list[str], spark: str, beside: bool) -> Line:
    """
    >>> jar_line("delta", ["io.delta:delta-spark_2.12:3.2.0"], "4.1.0", False).said
    'io.delta:delta-spark_2.12:3.2.0 is made for Scala 2.12; Spark 4.1.0 has 2.13'
    """
    what, write = f"{kind} jar", f"Write spark: {{packages: [{_COORDINATES[kind]}]}}, in the version for your Spark."
    found = next((each for each in packages if _JARS[kind] in each), None)
    if found is None:
        if beside:
            return Line("ok", what, "among pyspark's own jars")
        return Line("problem", what, "no jar for it is named", write)
    scala = re.search(r"_(2\.1\d)", found)
    if numbers(spark) >= (4,) and scala and scala[1] != "2.13":
        return Line("problem", what, f"{found} is made for Scala {scala[1]}; Spark {spark} has 2.13", write)
    return Line("ok", what, found)


def _configured_jars(config: dict[str, Hidden]) -> Iterator[str]:
    for key in ("spark.jars", "spark.jars.packages"):
        if key in config and not config[key].missing:
            yield from config[key].reveal().split(",")


def _beside_spark(kind: str) -> bool:
    from importlib.util import find_spec

    found = find_spec("pyspark") if installed("pyspark") else None
    folders = list(found.submodule_search_locations or ()) if found else []
    return any(next(Path(each).glob(f"jars/{_JARS[kind]}*.jar"), None) for each in folders)


def session_lines(project: Project) -> Iterator[Line]:
    """Whether a session can be had, and whether it answers."""
    from time import monotonic

    from headgate.values.errors import HeadgateError

    said = project.config.spark
    if said is not None and said.remote is not None:
        if said.remote.missing:
            yield _unset("Spark", list(said.remote.missing))
            return
        needed = extra_line("Connect", _CONNECT, "connect")
        if needed.level != "ok":
            yield needed
            return
        reached = connect_line(said.remote.reveal())
        yield reached
        if reached.level == "problem":
            return
    began = monotonic()
    try:
        session = project.session()
        count = session.range(3).count()
        assert count == 3
        yield Line("ok", "Spark", f"{session.version} started and counted in {monotonic() - began:.1f} s")
    except HeadgateError as trouble:
        yield Line("problem", "Spark", str(trouble).removesuffix(trouble.hint).strip(), trouble.hint)
    except Exception as trouble:  # of Spark, Java or gRPC; of many kinds
        hint = "headgate doctor -vv --spark, and the lines above."
        yield Line("problem", "Spark", f"it did not start ({type(trouble).__name__})", f"See the log of Spark: {hint}")


def connect_line(remote: str) -> Line:
    """Whether somebody listens where the Connect server should be. Tokens in the address are not looked at."""
    found = re.fullmatch(r"sc://(?:[^@/;]*@)?(\[[^\]]+\]|[^:/;]+)(?::(\d+))?(?:/.*)?", remote)
    if found is None:
        hint = "Write remote: sc://host:15002, or ${env:NAME} for a variable that holds it."
        return Line("problem", "Connect", "the address of the server cannot be read", hint, configured=True)
    host, port = found[1].strip("[]"), int(found[2] or _PORT)
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE):
            return Line("ok", "Connect", f"{host}:{port} answers")
    except OSError as trouble:
        why = trouble.strerror or type(trouble).__name__
        return Line(
            "problem", "Connect", f"{host}:{port} does not answer: {why}", "Is the server up, and the port open?"
        )


def source_line(dataset: Dataset) -> Line:
    """Whether there are batches, and whether the newest can be read."""
    from headgate.values.errors import HeadgateError, MisuseError

    try:
        if not dataset.is_listed:
            return Line("ok", dataset.name, "its source does not list batches: name one with --partition")
        partitions = dataset.partitions()
        if not partitions:
            return _nothing(dataset)
        schema = _schema(dataset.read(partitions[-1]))
    except HeadgateError as trouble:
        said = str(trouble).removesuffix(trouble.hint).strip()
        return Line("problem", dataset.name, said, trouble.hint, configured=isinstance(trouble, MisuseError))
    except Exception as trouble:  # of Spark, of a driver; of many kinds
        first = (str(trouble).strip().splitlines() or [""])[0][:200]
        return Line("problem", dataset.name, f"it cannot be read: {type(trouble).__name__}: {first}", "Is it there?")
    count = f"{len(partitions):,} batch{'es' * (len(partitions) != 1)}"
    return Line("ok", dataset.name, f"{count}, the newest is {partitions[-1]} with {schema} columns")


def _schema(data: Any) -> int:
    """How many columns a batch has; a Spark DataFrame is looked at, not computed."""
    return len(data.schema.names)


def _nothing(dataset: Dataset) -> Line:
    from headgate.values.errors import HeadgateError

    where = dataset.settings.source.path or dataset.settings.source.table
    hint = "Is the path right? Paths are relative to headgate.yml."
    try:
        dataset.read("2000-01-01")
    except HeadgateError as trouble:
        hint = trouble.hint or hint
    return Line("warning", dataset.name, f"nothing is at {where}", hint)
