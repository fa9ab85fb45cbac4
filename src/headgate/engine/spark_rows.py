"""The failing rows of a DataFrame, each with its reasons, as one lazy query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.engine.java_regex import java_regex
from headgate.engine.nested import list_named
from headgate.engine.row_rule import FIELDS, REASONS, RowRule, Values, refuse_reasons
from headgate.engine.spark_frame import find_unknown_names, look_up_rows, read_schema
from headgate.engine.spark_nested import add_places, find_places, ignores_case, write_test
from headgate.metrics.base.metric import FailingRows, Membership
from headgate.metrics.base.sql import close_comment, join_tests, quote_name, quote_value
from headgate.values.errors import BadPredicate, did_you_mean
from headgate.values.schema import Kind, Schema

_REASON = f"struct<{','.join(f'{name}:string' for name in FIELDS)}>"
_MARK = "__headgate"
_MOST_JOINED = 8
"""Reasons that are joined as arrays, which Spark compiles: of many, the code is too long for the JVM to optimise."""


def spark_failing(data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any], values: Values) -> DataFrame:
    query = _RowQuery(data, rules, tables, values)
    return query.select_failing()


def spark_split(
    data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any], values: Values
) -> tuple[DataFrame, DataFrame]:
    query = _RowQuery(data, rules, tables, values)
    return query.select_passing(), query.select_failing()


def spark_mark(data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any], values: Values) -> DataFrame:
    """All rows, with a column of reasons, which is empty for a row that breaks no rule."""
    query = _RowQuery(data, rules, tables, values)
    return query.mark_all()


def write_seconds(schema: Schema, column: str) -> str:
    """The seconds since 1970 of a date or timestamp, as SQL. One without a zone is taken as UTC."""
    found = next(each for each in schema.columns if each.label == column)
    if found.kind is Kind.DATE:
        return f"unix_date({quote_name(column)}) * 86400D"
    return f"{_micros_sql(quote_name(column), 'ntz' in found.type)} / 1e6D"


class _RowQuery:
    """The tests of all rules over one frame. Rules that need more than the row itself add helper columns to it."""

    def __init__(self, data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any], values: Values) -> None:
        self.values = values
        self.schema, paths = read_schema(data)
        self.columns = {column.label: column for column in self.schema.columns}
        self.names = data.columns
        refuse_reasons(self.names)
        self.mark = _find_free_prefix(data.columns)
        # columns that SQL cannot name, such as two of one name, get a name of our own
        counts = self.known = Counter(label.lower() for label in self.schema.labels)
        self.safe = {
            label: f"{self.mark}c{position}" if "${" in label or counts[label.lower()] > 1 else label
            for position, label in enumerate(self.schema.top_labels)
        }
        self.renamed = self.names != [*self.safe.values()]
        places = _find_read_places(self.schema, rules)
        self.frame = add_places(data.toDF(*self.safe.values()) if self.renamed else data, self.schema, paths, places)
        self.tables = tables
        self.added = [self.schema.columns[at].label for at in places]
        self.rules = rules
        self._refuse_unknown_names(data.sparkSession)
        self.tests = [self._rule_test(rule) for rule in rules]

    def _refuse_unknown_names(self, spark: SparkSession) -> None:
        predicates = [text for rule in self.rules for text in (rule.where, rule.failing_rows.test) if text]
        for predicate, unknown in find_unknown_names(predicates, self.schema.labels, spark).items():
            hint = did_you_mean(unknown, self.schema.labels)
            raise BadPredicate(f"the predicate {predicate!r} names the column {unknown!r};", hint=hint)

    def select_failing(self) -> DataFrame:
        # the reasons are built after the filter, so only for failing rows
        failing = self.frame.filter(join_tests("OR", self.tests) or "false")
        return self._restore_names(failing.selectExpr("*", f"{self._reasons_sql()} AS {REASONS}"), REASONS)

    def mark_all(self) -> DataFrame:
        return self._restore_names(self.frame.selectExpr("*", f"{self._reasons_sql()} AS {REASONS}"), REASONS)

    def select_passing(self) -> DataFrame:
        return self._restore_names(self.frame.filter(f"NOT ({join_tests('OR', self.tests) or 'false'})"))

    def _restore_names(self, frame: DataFrame, *more: str) -> DataFrame:
        """The frame without helper columns, and with the caller's column names."""
        own_columns = frame.drop(*self.added)
        return own_columns.toDF(*self.names, *more) if self.renamed else own_columns

    def _quote_column(self, name: str) -> str:
        return quote_name(self.safe.get(name, name))

    def _reasons_sql(self) -> str:
        reasons = [self._reason_sql(rule) for rule in self.rules]
        if len(reasons) > _MOST_JOINED:
            found = (f"CASE WHEN {test} THEN {reason} END" for test, reason in zip(self.tests, reasons, strict=True))
            return f"CAST(array_compact(array({', '.join(found)})) AS array<{_REASON}>)"
        none = f"array_repeat(CAST(NULL AS {_REASON}), 0)"
        arrays = [
            f"CASE WHEN {test} THEN array({reason}) ELSE {none} END"
            for test, reason in zip(self.tests, reasons, strict=True)
        ]
        return f"concat({', '.join(arrays)})" if arrays else none

    def _reason_sql(self, rule: RowRule) -> str:
        # a name in a predicate may also be the variable of a lambda
        columns = [name for name in rule.failing_rows.columns if name.lower() in self.known]
        fields = {"rule": rule.rule, "level": rule.level, "columns": ", ".join(columns)}
        named = ", ".join(f"'{name}', {quote_value(text)}" for name, text in fields.items())
        value = self._value_sql(rule, columns if self.values == "plain" else [])
        return f"named_struct({named}, 'value', {value}, 'message', {quote_value(rule.message)})"

    def _value_sql(self, rule: RowRule, columns: Sequence[str]) -> str:
        if not columns:
            return "CAST(NULL AS STRING)"
        texts = [self._text_sql(rule, name) for name in columns]
        if len(columns) == 1:
            return texts[0]
        pairs = [
            f"{quote_value(f'{name}=')}, coalesce({text}, 'null')" for name, text in zip(columns, texts, strict=True)
        ]
        inside = ", ', ', ".join(pairs)
        return f"concat({inside})"

    def _text_sql(self, rule: RowRule, name: str) -> str:
        column, kind = self._quote_column(name), self._kind_of(name)
        if list_named(column, self.schema.repeated_labels):  # those of its values that break the rule
            return f"CAST({write_test('filter', self._breaking_test(rule), self.schema)} AS STRING)"
        if kind is Kind.TIMESTAMP and not self._is_zoneless(name):
            return f"date_format({column}, 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX')"  # with its zone: readers may have another
        return f"hex({column})" if kind is Kind.BINARY else f"CAST({column} AS STRING)"

    def _kind_of(self, name: str) -> Kind:
        return self.columns[name].kind if name in self.columns else Kind.OTHER

    def _is_zoneless(self, name: str) -> bool:
        return "ntz" in self.columns[name].type

    def _rule_test(self, rule: RowRule) -> str:
        """One expression, in which null counts as false: a row fails only if that is certain."""
        test = write_test("exists", self._breaking_test(rule), self.schema)
        return f"coalesce({test}, false)" + ("" if rule.graver is None else f" AND NOT {self._rule_test(rule.graver)}")

    def _breaking_test(self, rule: RowRule) -> str:
        """Whether a row, or a value of a column that has any number of them in a row, breaks a rule."""
        test = self._failing_test(rule.failing_rows, rule)
        return f"({close_comment(rule.where or 'true')}) AND ({test})"

    def _failing_test(self, failing: FailingRows, rule: RowRule) -> str:
        if failing.test:
            return close_comment(failing.test)
        if failing.form:
            return failing.form.format(self._quote_column(failing.columns[0]))
        if failing.repeated:
            return self._repeat_test(failing.repeated, rule)
        if failing.absent is not None:
            return self._absence_test(failing.absent)
        if failing.unlike:
            name = failing.columns[0]
            folded = name in self.columns and ignores_case(self.columns[name])
            text = f"lower({self._quote_column(name)})" if folded else self._quote_column(name)  # as it was scanned
            return f"NOT {text} RLIKE {quote_value(java_regex(failing.unlike))}"
        return self._range_test(failing)

    def _range_test(self, failing: FailingRows) -> str:
        name = failing.columns[0]
        kind, column = self._kind_of(name), self._quote_column(name)
        number, units = column, 1.0
        if kind is Kind.DATE:
            number, units = f"unix_date({column})", 86_400.0
        elif kind is Kind.TIMESTAMP:
            number, units = _micros_sql(column, self._is_zoneless(name)), 1e-6
        tests = [f"{number} < {quote_value(failing.low / units)}"] if failing.low is not None else []
        tests += [f"{number} > {quote_value(failing.high / units)}"] if failing.high is not None else []
        number = f" AND NOT isnan({column})" if kind is Kind.FLOAT else ""  # to Spark, NaN is above every number
        return f"({' OR '.join(tests)}){number}"

    def _repeat_test(self, names: Sequence[str], rule: RowRule) -> str:
        columns = [self._quote_column(name) for name in names]
        some = join_tests("OR", [f"{column} IS NOT NULL" for column in columns])
        mark = f"{self.mark}{len(self.added)}"
        # rows without a value form no group; they are spread, so that no task gets all of them
        keys = [*columns, *map(self._quote_column, rule.by), f"CASE WHEN NOT ({some}) THEN spark_partition_id() END"]
        counted = (
            f"count(CASE WHEN {close_comment(rule.where or 'true')} THEN 1 END) OVER (PARTITION BY {', '.join(keys)})"
        )
        self.frame = self.frame.selectExpr("*", f"{counted} AS {mark}")
        self.added.append(mark)
        return f"{mark} > 1 AND ({some})"

    def _absence_test(self, test: Membership) -> str:
        mark = f"{self.mark}{len(self.added)}"
        columns = [self._quote_column(name) for name in test.columns]
        self.frame = look_up_rows(self.frame, columns, test, self.schema, self.tables[test.table], mark)
        self.added.append(mark)
        return f"{mark} IS NULL AND ({join_tests('OR', [f'{column} IS NOT NULL' for column in columns])})"


def _find_read_places(schema: Schema, rules: Sequence[RowRule]) -> list[int]:
    """The positions of the places inside nested columns that rules read."""
    every = [each for rule in rules for each in (rule, rule.graver) if each is not None]
    names = {name for rule in every for name in (*rule.failing_rows.columns, *rule.by)}
    texts = [text for rule in every for text in (rule.where, rule.failing_rows.test) if text]
    return find_places(schema, (), names, texts)


def _find_free_prefix(columns: Sequence[str]) -> str:
    """A prefix for the names of helper columns that no column of the caller has."""
    mark = _MARK
    while any(name.lower().startswith(mark) for name in columns):
        mark += "_"
    return mark


def _micros_sql(column: str, zoneless: bool) -> str:
    """The microseconds of a timestamp since 1970. One without a zone is taken as UTC, as everywhere in this package."""
    moment = f"CAST(concat(CAST({column} AS STRING), 'Z') AS TIMESTAMP)" if zoneless else column
    return f"unix_micros({moment})"
