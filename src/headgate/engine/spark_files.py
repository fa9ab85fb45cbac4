"""Finds out whether the rows of a DataFrame are those of Parquet files, which tasks can then read themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.common_predicates import compile_common
from headgate.engine.local import RowTest
from headgate.engine.nested import TypeTree
from headgate.engine.parquet_files import FileColumn, ParquetFiles, make_tasks
from headgate.engine.parquet_types import UnlikeSpark
from headgate.engine.plan import Plan
from headgate.engine.spark_conditions import compile_condition
from headgate.engine.spark_file_list import find_access, iterate, list_files, list_keys, read_fields
from headgate.engine.spark_iceberg import is_iceberg_relation, is_iceberg_scan, list_iceberg_files
from headgate.engine.spark_nested import ignores_case, read_spark_type
from headgate.engine.spark_workers import is_connect

SWITCH = "spark.headgate.readFiles"
"""The setting of a session that turns this off: `false`."""

_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_DELTA = "org.apache.spark.sql.delta.DeltaParquetFileFormat"
_RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
_SCAN = "FileSourceScanExec"
_PADDED = re.compile(r"(?<!var)char\(")  # the type of texts that Spark pads with blanks, by a setting
_UNSTORED = ("EXISTS_DEFAULT", "__metadata", "__file_source")
"""How marks of columns begin that have a value in files without them: a default, or a fact about the file itself."""
_FIELD_ID = "parquet.field.id"  # a mark of columns that Spark finds in files by ids and not by names
_READINGS = frozenset({"seconds", "months", "json"})
_SETTINGS = {
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "false",
}
"""Settings with which Spark reads files and compares moments as Arrow does."""
_CALENDARS = ("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")
_OPTIONS = frozenset({"path", "paths", "mergeschema", "recursivefilelookup", "pathglobfilter", "serialization.format"})


class _NotPlain(Exception):
    """Why Spark must read a batch."""


class FileReading(NamedTuple):
    """The files of a batch, if tasks can read them; else the reason why not."""

    files: ParquetFiles | None
    why_not: str = ""


def plan_reading(data: DataFrame, plan: Plan) -> FileReading:
    """How a scan can read the rows of a DataFrame without Spark. No job runs."""
    try:
        _check_session(data.sparkSession)
        _check_metrics(plan)
        return FileReading(_find_files(data, plan, list(_make_tests(plan))))
    except (_NotPlain, UnlikeSpark) as reason:
        return FileReading(None, str(reason))
    except Exception as error:  # planning fails, which the scan itself reports, or this Spark has other methods
        return FileReading(None, f"its plan cannot be read ({type(error).__name__})")


def _check_session(spark: SparkSession) -> None:
    if is_connect(spark):
        raise _NotPlain("Spark Connect does not show which files a query reads")
    if _read_setting(spark, SWITCH, "true") == "false":
        raise _NotPlain(f"{SWITCH} is false")
    for name, wanted in _SETTINGS.items():
        if _read_setting(spark, name, wanted) != wanted:
            raise _NotPlain(f"{name} is not {wanted}")


def _read_setting(spark: SparkSession, name: str, default: str) -> str:
    """A setting of the session in lower case, as Spark takes it in any."""
    return str(spark.conf.get(name, default)).lower()


def _check_metrics(plan: Plan) -> None:
    if plan.memberships:
        raise _NotPlain("rows are looked up in another table")
    if plan.keep:
        raise _NotPlain("large states are kept in a folder")
    if plan.reads_nested:
        raise _NotPlain("a metric reads the values of nested columns")


def _make_tests(plan: Plan) -> Iterator[RowTest]:
    columns = {column.label: column for column in plan.schema.columns if not column.parent}
    for text in plan.predicates:
        test = compile_common(text, columns)
        if test is None:
            raise _NotPlain(f"only Spark knows what {text!r} means")
        yield test


def _find_files(data: DataFrame, plan: Plan, tests: Sequence[RowTest]) -> ParquetFiles:
    query = data.select("*")._jdf.queryExecution()  # of its own: the frame keeps the plan that it had at first
    _check_relation(query.analyzed())  # before the query is planned, for which Delta runs jobs
    projection, condition, scan = _split_plan(query.sparkPlan())
    columns = _list_columns(scan)
    places = {attribute.exprId().id(): at for at, attribute in enumerate(iterate(scan.output()))}
    outputs = _find_outputs(projection, places, len(data.columns))
    _check_types(plan, [columns[output].tree for output in outputs])
    test = None
    if condition is not None:
        test = compile_condition(condition, {number: columns[at].name for number, at in places.items()})
        if test is None:
            raise _NotPlain(f"only Spark knows which rows {condition.sql()!r} selects")
    uses = _find_uses(plan, outputs, tests)
    spark = data.sparkSession
    state = data._jdf.sparkSession().sessionState()
    limits, settings = state.conf(), state.newHadoopConf()
    is_iceberg = is_iceberg_scan(scan)
    if is_iceberg:
        columns, listed = list_iceberg_files(scan, columns, settings)
    else:
        listed = list_files(scan)
    files = ParquetFiles(
        names=data.columns,
        columns=columns,
        outputs=outputs,
        tasks=make_tasks(
            [(file.part, file.size) for file in listed],
            most=limits.filesMaxPartitionBytes(),
            opening=limits.filesOpenCostInBytes(),
            parallel=spark.sparkContext.defaultParallelism,
        ),
        tests=tests,
        condition=test,
        counted=frozenset() if test else uses.counted,
        access=find_access({file.place for file in listed}, settings),
        checks_calendar=not is_iceberg
        and any(_read_setting(spark, name, "corrected") != "corrected" for name in _CALENDARS),
        ignores_case=not limits.caseSensitiveAnalysis(),
    )
    files.check_first(uses.read | uses.counted)
    return files


def _check_relation(analyzed: Any) -> None:
    """Raise `_NotPlain` unless the query reads one relation of Parquet files, or one table of Iceberg."""
    node = analyzed
    while (children := node.children()).size() == 1:
        node = children.apply(0)
    if is_iceberg_relation(node):
        return
    if children.size() or node.getClass().getName() != _RELATION:
        raise _NotPlain(f"the query is no plain scan of files ({node.nodeName()})")
    kind = node.relation().getClass()
    if not kind.getSimpleName():  # a class without a name of its own, as Delta has
        kind = kind.getSuperclass()
    form = kind.getSimpleName()
    if form == "HadoopFsRelation":
        form = node.relation().fileFormat().getClass().getName()
    if form not in (_FORMAT, _DELTA):
        raise _NotPlain(f"it reads no Parquet files ({form.rpartition('.')[2]})")


def _split_plan(node: Any) -> tuple[Any, Any, Any]:
    """The projection, the condition and the scan of a physical plan that has nothing else; None for what it lacks."""
    projection = condition = None
    if node.nodeName() == "Project":
        projection, node = node.projectList(), node.children().apply(0)
    if node.nodeName() == "Filter":
        condition, node = node.condition(), node.children().apply(0)
    if is_iceberg_scan(node):
        return projection, condition, node
    if node.getClass().getSimpleName() != _SCAN:
        raise _NotPlain(f"the query is no plain scan of files ({node.nodeName()})")
    _check_format(node.relation())
    return projection, condition, node


def _check_format(relation: Any) -> None:
    form = relation.fileFormat()
    name = form.getClass().getName()
    if name not in (_FORMAT, _DELTA):
        raise _NotPlain("it reads no Parquet files")
    if name == _DELTA and (form.columnMappingMode().toString() != "NoMapping" or form.isCDCRead()):
        raise _NotPlain("the Delta table has other columns than its files")
    options = {str(name).lower() for name in list_keys(relation.options())}
    if not options <= _OPTIONS:
        raise _NotPlain(f"the option {min(options - _OPTIONS)!r} is set")


def _list_columns(scan: Any) -> list[FileColumn]:
    """The columns that the scan reads, in order."""
    fields = read_fields(scan.schema())
    if _FIELD_ID in scan.schema().json():
        raise _NotPlain("Spark finds columns of the files by their ids")
    if is_iceberg_scan(scan):
        folders, stored = {}, {field.name for field in fields}
    else:
        relation = scan.relation()
        folders = {field.name: at for at, field in enumerate(read_fields(relation.partitionSchema()))}
        stored = {field.name for field in read_fields(relation.dataSchema())}
    columns = []
    for field in fields:
        is_marked = any(mark.startswith(_UNSTORED) for mark in field.metadata)
        if is_marked or field.name not in stored | set(folders):
            raise _NotPlain(f"Spark knows the values of {field.name!r}, which files may lack")
        if any(_PADDED.search(str(mark)) for mark in field.metadata.values()):
            raise _NotPlain(f"Spark pads the texts of {field.name!r} with blanks")
        columns.append(FileColumn(field.name, read_spark_type(field.dataType), folders.get(field.name)))
    return columns


def _find_outputs(projection: Any, places: Mapping[int, int], width: int) -> list[int]:
    """For each column of the DataFrame, where it stands among the columns of the scan, whose numbers are given."""
    if projection is None:
        return list(range(width))
    outputs = []
    for each in iterate(projection):
        attribute = each.child() if each.nodeName() == "Alias" else each
        if attribute.nodeName() != "AttributeReference":
            raise _NotPlain(f"Spark computes the column {each.name()!r}")
        outputs.append(places[attribute.exprId().id()])
    return outputs


class _Uses(NamedTuple):
    """The columns of the files whose values a scan needs, and those of which it needs only how many are null."""

    read: frozenset[int]
    counted: frozenset[int]


def _find_uses(plan: Plan, outputs: Sequence[int], tests: Sequence[RowTest]) -> _Uses:
    tested = {label for test in tests for label in test.columns}
    wanted, countable = {*plan.columns, *plan.by}, plan.countable
    counted, read, top = set(), set(), -1
    for at, column in enumerate(plan.schema.columns):
        top += not column.parent
        if column.label in tested or (at in wanted and (column.parent or at not in countable)):
            read.add(outputs[top])
        elif at in wanted:
            counted.add(outputs[top])
    return _Uses(frozenset(read), frozenset(counted - read))


def _check_types(plan: Plan, trees: Sequence[TypeTree]) -> None:
    """Raise `_NotPlain` if the scan needs values of a type that tasks would not read as Spark does."""
    own = [at for at, column in enumerate(plan.schema.columns) if not column.parent]
    tops = dict(zip(own, trees, strict=True))
    top = -1
    wanted = {*plan.columns, *plan.by}
    for at, column in enumerate(plan.schema.columns):
        top = at if at in tops else top
        if at not in wanted:
            continue
        if ignores_case(column) or "collate" in column.type:
            raise _NotPlain(f"{column.label!r} has a collation")
        if _reads_as(tops[top]) & _READINGS:
            raise _NotPlain(f"{plan.schema.columns[top].label!r} has values that Spark converts")


def _reads_as(tree: TypeTree) -> set[str]:
    inside = [inner for _, inner in tree.fields] + ([tree.element] if tree.element else [])
    return {tree.reading or ""}.union(*map(_reads_as, inside))
