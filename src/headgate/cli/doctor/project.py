"""Checks of a project: its store, sources, folders, packages, environment variables, and Spark."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.cli.doctor.cost import check_cost
from headgate.cli.doctor.machine import (
    Finding,
    check_disk_space,
    check_folder,
    check_packages,
    find_version,
    parse_version,
)
from headgate.cli.doctor.store import check_store

if TYPE_CHECKING:
    from headgate.project.dataset import Dataset
    from headgate.project.project import Project
    from headgate.values.hidden import Hidden

_CONNECT_PACKAGES = ("pyspark", "pandas", "grpcio", "grpcio-status", "googleapis-common-protos")
_JAR_NAMES = {"delta": "delta-spark", "iceberg": "iceberg-spark-runtime"}
_COORDINATES = {
    "delta": "io.delta:delta-spark_2.13:4.0.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
}
_CONNECT_TIMEOUT = 5.0  # seconds for a Connect server to answer
_CONNECT_PORT = 15002


def check_project(project: Project, spark: bool) -> Iterator[Finding]:
    """Check everything that the configuration names. Spark is started if it has `spark:`, or if `spark` is true."""
    yield from _check_project_store(project)
    yield from _check_folders(project)
    yield from check_evidence(project)
    yield from check_alerts(project)
    yield from _check_jars(project)
    started = True
    if spark or project.config.spark is not None:
        session = list(check_session(project))
        started = all(each.level != "problem" for each in session)
        yield from session
    for name in project.names:
        dataset = project.dataset(name)
        if dataset.engine == "local" or (started and (spark or project.config.spark is not None)):
            source = check_source(dataset)
            yield source
            if source.level == "ok":
                yield from check_columns(dataset)
                yield from check_cost(dataset)
        else:
            yield Finding("warning", name, "read with Spark, which was not started", "Run headgate doctor --spark.")


def check_evidence(project: Project) -> Iterator[Finding]:
    """Whether the file of `evidence:` can be read, and is of this version of the package."""
    from headgate.learn.pooled_rates import load_pooled_rates
    from headgate.values.errors import ConfigError

    if project.config.evidence is None:
        return
    try:
        evidence = project.evidence
    except ConfigError as error:
        yield Finding("problem", "evidence", str(error).removesuffix(error.hint).strip(), error.hint)
        return
    tables = f"{len(evidence.tables)} table{'s' * (len(evidence.tables) != 1)}"
    if evidence.fits(load_pooled_rates()):
        yield Finding("ok", "evidence", f"{tables} in {project.config.evidence}")
    else:
        hint = "Run headgate calibrate again."
        yield Finding("warning", "evidence", f"{tables} of another version of the package, which are not used", hint)


def needs_spark(project: Project) -> bool:
    return any(project.dataset(name).engine == "spark" for name in project.names)


def _check_project_store(project: Project) -> Iterator[Finding]:
    from headgate.project.store import anchor_address

    config = project.config
    absent = [*config.store.missing, *(config.secret.missing if config.secret else ())]
    if absent:
        yield _report_unset("store", absent)
        return
    secret = None if config.secret is None else config.secret.reveal()
    yield from check_store(anchor_address(config.store.reveal(), project.folder), secret)


def _check_folders(project: Project) -> Iterator[Finding]:
    if project.reports is not None:
        folder = check_folder("reports", project.reports)
        yield folder
        if folder.level == "ok" and (space := check_disk_space("reports", project.reports)).level != "ok":
            yield space
    for name, settings in project.config.datasets.items():
        if settings.publish is not None and settings.publish.path is not None:
            yield check_folder(f"{name}: publish", project.folder / settings.publish.path)
        if settings.index is not None and not (project.folder / settings.index).is_file():
            hint = "Make it with headgate index build, or leave index: out for the public one."
            yield Finding("problem", f"{name}: index", f"there is no {settings.index}", hint)


def check_alerts(project: Project) -> Iterator[Finding]:
    """Check the packages and variables that alerts need. The value of a variable is never shown."""
    alerts = project.config.alerts
    if not alerts:
        return
    needed = check_packages("alerts", ["httpx"], "alerts")
    if needed.level != "ok":
        yield needed
    for number, alert in enumerate(alerts, 1):
        what = f"alert {number}"
        texts: list[Hidden] = [each for each in (alert.webhook, alert.slack, *alert.headers.values()) if each]
        if absent := [name for text in texts for name in text.missing]:
            yield _report_unset(what, absent)
        elif any(text.is_literal for text in (alert.webhook, alert.slack) if text):
            yield Finding(
                "warning", what, "its address stands in the file", "Write ${env:NAME}, and set NAME where it runs."
            )
        else:
            names = sorted({name for text in texts for name in text.names})
            yield Finding("ok", what, f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} set")
        if alert.memory is not None:
            yield check_folder(what, (project.folder / alert.memory).parent)


def _report_unset(what: str, names: list[str]) -> Finding:
    listed = ", ".join(dict.fromkeys(names))
    plural = len(set(names)) > 1
    message = f"the variable{'s' * plural} {listed} {'are' if plural else 'is'} not set"
    return Finding("problem", what, message, f"Set it where this runs: export {names[0]}=...")


def _check_jars(project: Project) -> Iterator[Finding]:
    """Check that Spark gets the jars that the formats of the sources need."""
    datasets = project.config.datasets.values()
    formats: set[str] = {each.source.format for each in datasets}
    formats |= {each.publish.to for each in datasets if each.publish is not None}
    formats &= set(_JAR_NAMES)
    settings = project.config.spark
    for kind in sorted(formats):
        if settings is not None and settings.remote is not None:
            yield Finding("ok", f"{kind} jar", "the Connect server brings its own")
            continue
        packages = [*(settings.packages if settings else ()), *_jars_in_config(settings.config if settings else {})]
        yield check_jar(kind, packages, find_version("pyspark") or "4", _is_bundled_jar(kind))


def check_jar(kind: str, packages: list[str], spark: str, is_bundled: bool) -> Finding:
    """Check that the jar of a table format is named or bundled, and made for the Scala of this Spark.

    >>> check_jar("delta", ["io.delta:delta-spark_2.12:3.2.0"], "4.1.0", False).message
    'io.delta:delta-spark_2.12:3.2.0 is made for Scala 2.12; Spark 4.1.0 has 2.13'
    """
    what, hint = f"{kind} jar", f"Write spark: {{packages: [{_COORDINATES[kind]}]}}, in the version for your Spark."
    package = next((each for each in packages if _JAR_NAMES[kind] in each), None)
    if package is None:
        if is_bundled:
            return Finding("ok", what, "among pyspark's own jars")
        return Finding("problem", what, "no jar for it is named", hint)
    scala = re.search(r"_(2\.1\d)", package)
    if parse_version(spark) >= (4,) and scala and scala[1] != "2.13":
        return Finding("problem", what, f"{package} is made for Scala {scala[1]}; Spark {spark} has 2.13", hint)
    return Finding("ok", what, package)


def _jars_in_config(config: dict[str, Hidden]) -> Iterator[str]:
    for key in ("spark.jars", "spark.jars.packages"):
        if key in config and not config[key].missing:
            yield from config[key].reveal().split(",")


def _is_bundled_jar(kind: str) -> bool:
    from importlib.util import find_spec

    spec = find_spec("pyspark") if find_version("pyspark") else None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return any(next(Path(each).glob(f"jars/{_JAR_NAMES[kind]}*.jar"), None) for each in folders)


def check_session(project: Project) -> Iterator[Finding]:
    """Check that a Spark session can be started or reached, answers a query, and has workers that can run a scan."""
    from time import monotonic

    from headgate.values.errors import HeadgateError

    settings = project.config.spark
    if settings is not None and settings.remote is not None:
        if settings.remote.missing:
            yield _report_unset("Spark", list(settings.remote.missing))
            return
        needed = check_packages("Connect", _CONNECT_PACKAGES, "connect")
        if needed.level != "ok":
            yield needed
            return
        reached = check_connect(settings.remote.reveal())
        yield reached
        if reached.level == "problem":
            return
    started = monotonic()
    try:
        session = project.session()
        count = session.range(3).count()
        assert count == 3
        yield Finding("ok", "Spark", f"{session.version} started and counted in {monotonic() - started:.1f} s")
    except HeadgateError as error:
        yield Finding("problem", "Spark", str(error).removesuffix(error.hint).strip(), error.hint)
    except Exception as error:  # Spark, Java and gRPC have exceptions of many types
        hint = "headgate doctor -vv --spark, and the lines above."
        yield Finding("problem", "Spark", f"it did not start ({type(error).__name__})", f"See the log of Spark: {hint}")
    else:
        yield _check_workers(session)


def _check_workers(session: Any) -> Finding:
    """Check that the Python of the workers can run a scan."""
    from headgate.engine.spark_faults import check_workers
    from headgate.values.errors import HeadgateError

    try:
        workers = check_workers(session)
    except HeadgateError as error:
        return Finding("problem", "Spark workers", str(error).removesuffix(error.hint).strip(), error.hint)
    return Finding("ok", "Spark workers", "; ".join(map(str, workers)))


def check_connect(remote: str) -> Finding:
    """Check that a server listens at the address of Spark Connect. Tokens in the address are not used."""
    match = re.fullmatch(r"sc://(?:[^@/;]*@)?(\[[^\]]+\]|[^:/;]+)(?::(\d+))?(?:/.*)?", remote)
    if match is None:
        hint = "Write remote: sc://host:15002, or ${env:NAME} for a variable that holds it."
        return Finding("problem", "Connect", "the address of the server cannot be read", hint, configured=True)
    host, port = match[1].strip("[]"), int(match[2] or _CONNECT_PORT)
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT):
            return Finding("ok", "Connect", f"{host}:{port} answers")
    except OSError as error:
        why = error.strerror or type(error).__name__
        return Finding(
            "problem", "Connect", f"{host}:{port} does not answer: {why}", "Is the server up, and the port open?"
        )


def check_source(dataset: Dataset) -> Finding:
    """Check that a dataset has batches, that the newest can be read, and tell how often they come."""
    from headgate.values.errors import HeadgateError, MisuseError

    try:
        if dataset.is_judged_elsewhere:
            return _report_elsewhere(dataset)
        if not dataset.is_listed:
            return Finding("ok", dataset.name, "its source does not list batches: name one with --partition")
        partitions = dataset.partitions()
        if not partitions:
            return _report_no_batch(dataset)
        width = _count_columns(dataset.read(partitions[-1]))
        calendar = dataset.calendar(partitions).describe()
    except HeadgateError as error:
        message = str(error).removesuffix(error.hint).strip()
        return Finding("problem", dataset.name, message, error.hint, configured=isinstance(error, MisuseError))
    except Exception as error:  # Spark and drivers have exceptions of many types
        first = (str(error).strip().splitlines() or [""])[0][:200]
        return Finding("problem", dataset.name, f"it cannot be read: {type(error).__name__}: {first}", "Is it there?")
    count = f"{len(partitions):,} batch{'es' * (len(partitions) != 1)}"
    return Finding("ok", dataset.name, f"{count}, the newest is {partitions[-1]} with {width} columns; {calendar}")


def check_columns(dataset: Dataset) -> Iterator[Finding]:
    """Check that the columns that are ignored, learned from or pinned are in the newest batch."""
    from collections.abc import Mapping

    from headgate.engine.batch import open_batch
    from headgate.learn.scope import LearningScope
    from headgate.values.errors import did_you_mean

    settings = dataset.settings
    named = {"ignore": settings.ignore, "learn: columns": settings.learn.columns or ()}
    pinned = [name for name, given in settings.pin.items() if isinstance(given, Mapping)]
    partitions = dataset.partitions() if pinned or any(named.values()) else ()
    if not partitions:
        return
    columns = open_batch(dataset.read(partitions[-1])).schema.labels
    for key, patterns in named.items():
        for pattern in patterns:
            if not any(map(LearningScope(columns=(pattern,)).learns_column, columns)):
                message = f"no column of {partitions[-1]} is {pattern!r};"
                yield Finding("warning", f"{dataset.name}: {key}", message, did_you_mean(pattern, columns))
    for name in pinned:
        if name not in columns:
            message = f"{partitions[-1]} has no column {name!r}, so it could not be judged;"
            hint = did_you_mean(name, columns)
            yield Finding("problem", f"{dataset.name}: pin", message, hint, configured=True)


def _report_elsewhere(dataset: Dataset) -> Finding:
    newest = dataset.gate.store.last(dataset.name, 1)
    if not newest:
        return Finding(
            "warning", dataset.name, "it is judged elsewhere, and has no run", "Is the store the same there?"
        )
    return Finding("ok", dataset.name, f"it is judged elsewhere; the newest run is {newest[0].partition}")


def _count_columns(data: Any) -> int:
    """The number of columns of a batch; a Spark DataFrame is not computed for it."""
    return len(data.schema.names)


def _report_no_batch(dataset: Dataset) -> Finding:
    from headgate.values.errors import HeadgateError

    where = dataset.settings.source.path or dataset.settings.source.table
    hint = "Is the path right? Paths are relative to headgate.yml."
    try:  # reading a batch that is not there raises an error whose hint says what is there
        dataset.read("2000-01-01")
    except HeadgateError as error:
        hint = error.hint or hint
    return Finding("warning", dataset.name, f"nothing is at {where}", hint)
