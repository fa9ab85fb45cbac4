"""Deequ, called through the gateway of PySpark, as a user of Python would: what both versions of it share.

Assertions are Python functions that the JVM calls back, as in Deequ's own Python wrapper.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py4j.java_gateway import CallbackServerParameters
from pyspark.sql import DataFrame, SparkSession
from serving import CannotDo, Request, Step, count_rows, open_table, scratch_folder, serve

Check = dict[str, Any]
FREQUENCY_FILES = 2  # as many as the cores here; Deequ's own default writes a hundred


class Assertion:
    """A function from double to boolean for the JVM."""

    def __init__(self, holds: Callable[[float], bool]) -> None:
        self._holds = holds

    def apply(self, value: Any) -> bool:
        return bool(self._holds(value))

    class Java:
        implements = ["scala.Function1"]  # noqa: RUF012 - py4j asks for this name and form


def within(check: Check) -> Assertion:
    low, high = check["between"]
    return Assertion(lambda value: (low is None or value >= low) and (high is None or value <= high))


class Deequ:
    """Deequ's packages in one JVM, and how its Scala arguments are made."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark, self.jvm = spark, spark._jvm
        self.deequ = self.jvm.com.amazon.deequ
        gateway = spark.sparkContext._gateway
        if gateway._callback_server is None:
            gateway.start_callback_server(CallbackServerParameters(port=0, daemonize=True, daemonize_connections=True))
            port = gateway.get_callback_server().get_listening_port()
            client = gateway.java_gateway_server.getCallbackClient()
            gateway.java_gateway_server.resetCallbackClient(client.getAddress(), port)

    @property
    def none(self) -> Any:
        return getattr(self.jvm.scala, "None$").__getattr__("MODULE$")

    def module(self, path: str) -> Any:
        """A Scala object."""
        found = self.jvm
        for part in f"{path}$".split("."):
            found = getattr(found, part)
        return getattr(found, "MODULE$")

    def seq(self, items: list[Any]) -> Any:
        """An immutable Seq; on Scala 2.12 every Seq will do."""
        wanted = self.jvm.java.util.ArrayList()
        for item in items:
            wanted.add(item)
        return self.jvm.PythonUtils.toSeq(wanted)

    def strings(self, items: list[str]) -> Any:
        array = self.spark.sparkContext._gateway.new_array(self.jvm.java.lang.String, len(items))
        for at, item in enumerate(items):
            array[at] = item
        return array

    def regex(self, pattern: str) -> Any:
        return self.jvm.scala.util.matching.Regex(pattern, self.seq([]))

    def analyzer(self, check: Check) -> Any:
        """The analyzer behind a constraint: what is kept and merged over partitions."""
        analyzers, name = self.deequ.analyzers, check.get("column", "")
        none = self.none
        match check["kind"]:
            case "rows":
                return analyzers.Size(none)
            case "complete":
                return analyzers.Completeness(name, none, none)
            case "unique":
                return analyzers.Uniqueness(self.seq([name]), none, none)
            case "min":
                return analyzers.Minimum(name, none, none)
            case "max":
                return analyzers.Maximum(name, none, none)
            case "mean":
                return analyzers.Mean(name, none)
            case "stddev":
                return analyzers.StandardDeviation(name, none)
            case "min_length":
                return analyzers.MinLength(name, none, none)
            case "max_length":
                return analyzers.MaxLength(name, none, none)
            case "distinct":
                return analyzers.ApproxCountDistinct(name, none)
            case "quantile":
                return analyzers.ApproxQuantile(name, check["q"], 0.01, none)
            case "pattern":
                return analyzers.PatternMatch(name, self.regex(check["pattern"]), none, none)
        return self._compliance(check)

    def _compliance(self, check: Check) -> Any:
        return self.deequ.analyzers.Compliance(
            check["id"], predicate_of(check), self.none, self.seq([check["column"]]).toList(), self.none
        )

    def check(self, checks: list[Check], name: str = "all") -> Any:
        level = self.module("com.amazon.deequ.checks.CheckLevel").Error()
        made = self.deequ.checks.Check(level, name, self.seq([]))
        for check in checks:
            made = self._add(made, check)
        return made

    def _add(self, made: Any, check: Check) -> Any:
        name, holds, none = check.get("column", ""), within(check), self.none
        match check["kind"]:
            case "rows":
                return made.hasSize(holds, none)
            case "complete":
                return made.hasCompleteness(name, holds, none, none)
            case "unique":
                return made.hasUniqueness(self.seq([name]), holds, none)
            case "min":
                return made.hasMin(name, holds, none, none)
            case "max":
                return made.hasMax(name, holds, none, none)
            case "mean":
                return made.hasMean(name, holds, none)
            case "stddev":
                return made.hasStandardDeviation(name, holds, none)
            case "min_length":
                return made.hasMinLength(name, holds, none, none)
            case "max_length":
                return made.hasMaxLength(name, holds, none, none)
            case "distinct":
                return made.hasApproxCountDistinct(name, holds, none)
            case "quantile":
                return made.hasApproxQuantile(name, check["q"], holds, none)
            case "pattern":
                return made.hasPattern(name, self.regex(check["pattern"]), holds, none, none, none)
            case "one_of":
                return made.isContainedIn(name, self.strings(check["values"]), holds, none, none)
        columns = self.seq([name]).toList()
        return made.satisfies(predicate_of(check), check["id"], holds, none, columns, none)


def predicate_of(check: Check) -> str:
    name = check["column"]
    match check["kind"]:
        case "one_of":
            listed = ", ".join(f"'{value}'" for value in check["values"])
            return f"`{name}` IS NULL OR `{name}` IN ({listed})"
        case "range":
            return f"`{name}` IS NULL OR `{name}` BETWEEN {check['low']!r} AND {check['high']!r}"
    raise ValueError(check["kind"])


def prepare_checks(spark: SparkSession, request: Request) -> Step:
    deequ, frame, checks = Deequ(spark), open_table(spark, request), request["checks"]

    def verify(_: int) -> dict[str, Any]:
        result = deequ.deequ.VerificationSuite().onData(frame._jdf).addCheck(deequ.check(checks)).run()
        return {"answers": read_answers(result, checks)}

    return verify


def read_answers(result: Any, checks: list[Check]) -> list[dict[str, Any]]:
    """In the order in which the constraints were added."""
    found = []
    results = result.checkResults().head()._2().constraintResults()
    for at, check in enumerate(checks):
        constraint = results.apply(at)
        passed = constraint.status().toString() == "Success"
        value = read_metric(constraint.metric().get()) if constraint.metric().isDefined() else None
        answer = {"id": check["id"], "value": value, "passed": passed}
        if value is None:
            answer |= {"passed": None, "cannot": constraint.message().get()}
        found.append(answer)
    return found


def read_metric(metric: Any) -> float | None:
    value = metric.value()
    return float(value.get()) if value.isSuccess() else None


def prepare_profile(spark: SparkSession, request: Request) -> Step:
    deequ, frame = Deequ(spark), open_table(spark, request)

    def profile(_: int) -> dict[str, Any]:
        result = deequ.deequ.profiles.ColumnProfilerRunner().onData(frame._jdf).run()
        return {"profile": {name: read_profile(result.profiles().apply(name)) for name in frame.columns}}

    return profile


def read_profile(column: Any) -> dict[str, float]:
    found = {"complete": column.completeness(), "distinct": float(column.approximateNumDistinctValues())}
    if "Numeric" in column.getClass().getSimpleName():
        for name, option in (
            ("min", column.minimum()),
            ("max", column.maximum()),
            ("mean", column.mean()),
            ("stddev", column.stdDev()),
        ):
            if option.isDefined():
                found[name] = float(option.get())
    return found


def prepare_suggestions(spark: SparkSession, request: Request) -> Step:
    deequ, frame = Deequ(spark), open_table(spark, request)

    def suggest(_: int) -> dict[str, Any]:
        rules = deequ.module("com.amazon.deequ.suggestions.Rules").DEFAULT()
        runner = deequ.deequ.suggestions.ConstraintSuggestionRunner().onData(frame._jdf).addConstraintRules(rules)
        found = runner.run().constraintSuggestions()
        return {"suggestions": sum(found.apply(name).size() for name in frame.columns if found.contains(name))}

    return suggest


def keep_states(deequ: Deequ, folder: Path) -> Any:
    """States as files: the in-memory provider would keep frequencies as an unread query, and read the table again."""
    return deequ.deequ.analyzers.HdfsStateProvider(deequ.spark._jsparkSession, str(folder / "s"), FREQUENCY_FILES, True)


def analysis_of(deequ: Deequ, checks: list[Check]) -> Any:
    """Each analyzer once: two checks may judge the same metric."""
    analyzers = {str(made): made for made in (deequ.analyzer(check) for check in checks)}
    return deequ.deequ.analyzers.Analysis(deequ.seq(list(analyzers.values())))


def compute_states(deequ: Deequ, frame: DataFrame, analysis: Any, provider: Any) -> None:
    some = deequ.jvm.scala.Some(provider)
    storage = deequ.jvm.org.apache.spark.storage.StorageLevel.MEMORY_AND_DISK()
    runner = deequ.module("com.amazon.deequ.analyzers.runners.AnalysisRunner")
    runner.run(frame._jdf, analysis, deequ.none, some, storage)


def merge_states(deequ: Deequ, frame: DataFrame, checks: list[Check], providers: list[Any]) -> list[dict[str, Any]]:
    """The checks judged from the sum of states; Deequ's analyzers are found in its answer by their own equality."""
    runner = deequ.module("com.amazon.deequ.analyzers.runners.AnalysisRunner")
    storage = deequ.jvm.org.apache.spark.storage.StorageLevel.MEMORY_AND_DISK()
    context = runner.runOnAggregatedStates(
        frame._jdf.schema(),
        analysis_of(deequ, checks),
        deequ.seq(providers),
        deequ.none,
        storage,
        deequ.none,
        deequ.none,
    )
    found = []
    for check in checks:
        metric = context.metric(deequ.analyzer(check))
        value = read_metric(metric.get()) if metric.isDefined() else None
        low, high = check["between"]
        passed = value is not None and (low is None or value >= low) and (high is None or value <= high)
        found.append({"id": check["id"], "value": value, "passed": passed})
    return found


def prepare_append(spark: SparkSession, request: Request) -> Step:
    deequ, folder, checks = Deequ(spark), scratch_folder("states"), request["checks"]
    *earlier, last = request["partitions"]
    before, new = spark.read.parquet(*earlier), spark.read.parquet(last)
    kept = keep_states(deequ, folder / "before")
    compute_states(deequ, before, analysis_of(deequ, checks), kept)

    def append(_: int) -> dict[str, Any]:
        added = keep_states(deequ, folder / "new")
        compute_states(deequ, new, analysis_of(deequ, checks), added)
        return {"answers": merge_states(deequ, new, checks, [kept, added])}

    return append


def prepare_replace(spark: SparkSession, request: Request) -> Step:
    deequ, folder, checks = Deequ(spark), scratch_folder("states"), request["checks"]
    frames = [spark.read.parquet(path) for path in request["partitions"]]
    providers = [keep_states(deequ, folder / f"part-{at}") for at in range(len(frames))]
    for frame, provider in zip(frames, providers, strict=True):
        compute_states(deequ, frame, analysis_of(deequ, checks), provider)

    def replace(at: int) -> dict[str, Any]:
        place = at % len(frames)
        compute_states(deequ, frames[place], analysis_of(deequ, checks), providers[place])
        return {"answers": merge_states(deequ, frames[0], checks, providers)}

    return replace


def prepare_failing_rows(spark: SparkSession, request: Request) -> Step:
    deequ, frame, checks = Deequ(spark), open_table(spark, request), request["checks"]
    if not hasattr(deequ.deequ, "VerificationResult"):
        raise CannotDo("This version of Deequ tells no rows.")

    def find(_: int) -> dict[str, Any]:
        # a check's column of rows has the name of the check
        made = [deequ.check([check], f"__{check['id']}") for check in checks]
        result = deequ.deequ.VerificationSuite().onData(frame._jdf).addChecks(deequ.seq(made)).run()
        rows = deequ.deequ.VerificationResult.rowLevelResultsAsDataFrame(spark._jsparkSession, result, frame._jdf)
        judged = DataFrame(rows, spark)
        every = " AND ".join(f"`__{check['id']}`" for check in checks)
        return {"failing_rows": count_rows(judged.where(f"NOT ({every})"))}

    return find


def serve_deequ(version: str, jar: str | None = None, coordinates: str | None = None) -> None:
    """Answer with the Deequ of a jar, or with that of the registry."""
    settings = {"spark.jars": jar} if jar else {"spark.jars.packages": coordinates or ""}
    os.environ.setdefault("SPARK_VERSION", "3.5")  # what Deequ's wrapper asks for
    serve(
        {
            "checks": prepare_checks,
            "profile": prepare_profile,
            "suggestions": prepare_suggestions,
            "append": prepare_append,
            "replace": prepare_replace,
            "failing_rows": prepare_failing_rows,
        },
        {"states": "Deequ keeps the states of the analyzers that are asked for, and has no default set."},
        ("pyspark",),
        settings,
        {"deequ": version},
    )
