"""The rows of a DataFrame that are to blame for a failure, each with the reasons, as one lazy query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from headgate.engine.java_regex import java_regex
from headgate.engine.row_rule import FIELDS, REASONS, RowRule, refuse_reasons
from headgate.engine.spark_frame import looked_up, open_spark
from headgate.metrics.base.metric import Membership, Offence
from headgate.metrics.base.sql import chained, closed, literal, quoted
from headgate.values.schema import Kind

_REASON = f"struct<{','.join(f'{name}:string' for name in FIELDS)}>"
_MARK = "__headgate"


def spark_failing(data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any]) -> DataFrame:
    query = _Query(data, rules, tables)
    return query.bad()


def spark_split(data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any]) -> tuple[DataFrame, DataFrame]:
    query = _Query(data, rules, tables)
    return query.good(), query.bad()


class _Query:
    """The tests of all rules over one frame, to which columns were added for those that one row cannot answer alone."""

    def __init__(self, data: DataFrame, rules: Sequence[RowRule], tables: Mapping[str, Any]) -> None:
        self.schema = open_spark(data)
        self.columns = {column.label: column for column in self.schema.columns}
        self.names = data.columns
        refuse_reasons(self.names)
        self.mark = _free(data.columns)
        # what SQL cannot name goes by another: a second column of one name by its label
        alike = self.known = Counter(label.lower() for label in self.schema.labels)
        self.safe = {
            label: f"{self.mark}c{at}" if "${" in label or alike[label.lower()] > 1 else label
            for at, label in enumerate(self.schema.labels)
        }
        self.renamed = self.names != [*self.safe.values()]
        self.frame = data.toDF(*self.safe.values()) if self.renamed else data
        self.tables = tables
        self.added: list[str] = []
        self.rules = rules
        self.tests = [self._test(rule) for rule in rules]

    def bad(self) -> DataFrame:
        # the reasons are built after the filter, so only for rows that have one
        found = self.frame.filter(chained("OR", self.tests) or "false")
        return self._named(found.selectExpr("*", f"{self._reasons()} AS {REASONS}"), REASONS)

    def good(self) -> DataFrame:
        return self._named(self.frame.filter(f"NOT ({chained('OR', self.tests) or 'false'})"))

    def _named(self, frame: DataFrame, *more: str) -> DataFrame:
        """Without the columns that were added, and the caller's under their own names."""
        less = frame.drop(*self.added)
        return less.toDF(*self.names, *more) if self.renamed else less

    def _quoted(self, name: str) -> str:
        return quoted(self.safe.get(name, name))

    def _reasons(self) -> str:
        pairs = zip(self.rules, self.tests, strict=True)
        told = [f"CASE WHEN {test} THEN {self._reason(rule)} END" for rule, test in pairs]
        every = f"array({', '.join(told)})" if told else "array()"
        return f"CAST(array_compact({every}) AS array<{_REASON}>)"

    def _reason(self, rule: RowRule) -> str:
        # a predicate may also name a variable of its own
        columns = [name for name in rule.offence.columns if name.lower() in self.known]
        fields = {"rule": rule.rule, "level": rule.level, "columns": ", ".join(columns)}
        named = ", ".join(f"'{name}', {literal(text)}" for name, text in fields.items())
        return f"named_struct({named}, 'value', {self._value(columns)})"

    def _value(self, columns: Sequence[str]) -> str:
        if not columns:
            return "CAST(NULL AS STRING)"
        texts = [self._text(name) for name in columns]
        if len(columns) == 1:
            return texts[0]
        pairs = [f"{literal(f'{name}=')}, coalesce({text}, 'null')" for name, text in zip(columns, texts, strict=True)]
        inside = ", ', ', ".join(pairs)
        return f"concat({inside})"

    def _text(self, name: str) -> str:
        column, kind = self._quoted(name), self._kind(name)
        if kind is Kind.TIMESTAMP and not self._zoneless(name):
            return f"date_format({column}, 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX')"  # with its zone: the reader's is another
        return f"hex({column})" if kind is Kind.BINARY else f"CAST({column} AS STRING)"

    def _kind(self, name: str) -> Kind:
        return self.columns[name].kind if name in self.columns else Kind.OTHER

    def _zoneless(self, name: str) -> bool:
        return "ntz" in self.columns[name].type

    def _test(self, rule: RowRule) -> str:
        """One expression, in which null counts as false: a row is to blame only if that is certain."""
        test = self._offending(rule.offence, rule)
        if rule.graver is not None:
            test = f"({test}) AND NOT {self._test(rule.graver)}"
        return f"coalesce(({closed(rule.where or 'true')}) AND ({test}), false)"

    def _offending(self, offence: Offence, rule: RowRule) -> str:
        if offence.test:
            return closed(offence.test)
        if offence.form:
            return offence.form.format(self._quoted(offence.columns[0]))
        if offence.repeated:
            return self._repeated(offence.repeated, rule)
        if offence.absent is not None:
            return self._absent(offence.absent)
        if offence.unlike:
            return f"NOT {self._quoted(offence.columns[0])} RLIKE {literal(java_regex(offence.unlike))}"
        return self._beyond(offence)

    def _beyond(self, offence: Offence) -> str:
        name = offence.columns[0]
        kind, column = self._kind(name), self._quoted(name)
        number, units = column, 1.0
        if kind is Kind.DATE:
            number, units = f"unix_date({column})", 86_400.0
        elif kind is Kind.TIMESTAMP:
            number, units = _micros(column, self._zoneless(name)), 1e-6
        tests = [f"{number} < {literal(offence.low / units)}"] if offence.low is not None else []
        tests += [f"{number} > {literal(offence.high / units)}"] if offence.high is not None else []
        finite = f" AND abs({column}) < CAST('Infinity' AS DOUBLE)" if kind is Kind.FLOAT else ""
        return f"({' OR '.join(tests)}){finite}"

    def _repeated(self, names: Sequence[str], rule: RowRule) -> str:
        columns = [self._quoted(name) for name in names]
        some = chained("OR", [f"{column} IS NOT NULL" for column in columns])
        mark = f"{self.mark}{len(self.added)}"
        # rows without any value belong together in no group: spread, so that no task gets them all
        keys = [*columns, *map(self._quoted, rule.by), f"CASE WHEN NOT ({some}) THEN spark_partition_id() END"]
        counted = f"count(CASE WHEN {closed(rule.where or 'true')} THEN 1 END) OVER (PARTITION BY {', '.join(keys)})"
        self.frame = self.frame.selectExpr("*", f"{counted} AS {mark}")
        self.added.append(mark)
        return f"{mark} > 1 AND ({some})"

    def _absent(self, test: Membership) -> str:
        mark = f"{self.mark}{len(self.added)}"
        columns = [self._quoted(name) for name in test.columns]
        self.frame = looked_up(self.frame, columns, test, self.schema, self.tables[test.table], mark)
        self.added.append(mark)
        return f"{mark} IS NULL AND ({chained('OR', [f'{column} IS NOT NULL' for column in columns])})"


def _free(columns: Sequence[str]) -> str:
    """The beginning of names for columns of our own that none of the caller's has."""
    mark = _MARK
    while any(name.lower().startswith(mark) for name in columns):
        mark += "_"
    return mark


def _micros(column: str, zoneless: bool) -> str:
    """A timestamp's microseconds since 1970; one without a zone is taken to be in UTC, as everywhere here."""
    moment = f"CAST(concat(CAST({column} AS STRING), 'Z') AS TIMESTAMP)" if zoneless else column
    return f"unix_micros({moment})"
