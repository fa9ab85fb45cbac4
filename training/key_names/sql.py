"""Tables out of SQL DDL: CREATE TABLE, ALTER TABLE ... ADD PRIMARY KEY or UNIQUE, CREATE UNIQUE INDEX."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from headgate.values.schema import Kind
from training.key_names.rows import kind_of
from training.key_names.tables import Table

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # statements that it cannot parse are of no interest here

FLAG = re.compile(r"tinyint\s*\(\s*1\s*\)", re.IGNORECASE)  # MySQL's spelling of a boolean


def tables_of_sql(text: str, dialect: str) -> list[Table]:
    """
    >>> found = tables_of_sql("create table t (id int primary key, a int, b bool, unique (a, b))", "mysql")
    >>> found[0].name, found[0].columns, found[0].unique()
    ('t', {'id': <Kind.INTEGER: 'integer'>, 'a': <Kind.INTEGER: 'integer'>, 'b': <Kind.BOOLEAN: 'boolean'>}, {'id'})
    """
    tables: dict[str, Table] = {}
    for statement in _statements(FLAG.sub("boolean", text), dialect):
        if isinstance(statement, exp.Create) and statement.args.get("kind") == "TABLE":
            table = _table(statement)
            tables.setdefault(table.name, table)
        elif isinstance(statement, exp.Create) and statement.args.get("kind") == "INDEX":
            _add_index(tables, statement)
        elif isinstance(statement, exp.Alter):
            table = tables.get(statement.this.name)
            for key in statement.find_all(exp.PrimaryKey, exp.UniqueColumnConstraint):
                if table is not None:
                    table.keys.append(_key(key))
    return list(tables.values())


def _statements(text: str, dialect: str) -> Iterator[exp.Expression]:
    for part in text.split(";"):
        try:
            found = sqlglot.parse_one(part, dialect=dialect)
        except (sqlglot.errors.ParseError, sqlglot.errors.TokenError):
            continue
        if found is not None:
            yield found


def _table(create: exp.Create) -> Table:
    table = Table(create.this.find(exp.Table).name)
    for part in create.this.expressions if isinstance(create.this, exp.Schema) else []:
        if isinstance(part, exp.ColumnDef):
            table.columns[part.name] = _kind(part)
            marks = [mark.kind for mark in part.constraints]
            if any(isinstance(mark, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint) for mark in marks):
                table.keys.append((part.name,))
        else:
            table.keys.extend(_key(key) for key in part.find_all(exp.PrimaryKey, exp.UniqueColumnConstraint))
    return table


def _kind(column: exp.ColumnDef) -> Kind:
    declared = column.args.get("kind")
    if declared is None or not isinstance(declared.this, exp.DataType.Type):
        return Kind.OTHER
    return kind_of(declared.this.value)


def _key(key: exp.Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in key.find_all(exp.Identifier) if not _is_label(each, key)))


def _is_label(name: exp.Expression, key: exp.Expression) -> bool:
    """MySQL lets a unique key have a name of its own before its columns: it is no column."""
    inner = key.this
    return isinstance(inner, exp.Schema) and inner.this is name


def _add_index(tables: dict[str, Table], create: exp.Create) -> None:
    index = create.this
    inner = index.args.get("params")
    if not create.args.get("unique") or index.args.get("table") is None or inner is None or inner.args.get("where"):
        return  # an index WHERE ... says nothing of the rows that it leaves out
    columns = inner.args.get("columns") or []
    table = tables.get(index.args["table"].name)
    plain = [each.this if isinstance(each, exp.Ordered) else each for each in columns]
    if table is not None and plain and all(isinstance(each, exp.Column) for each in plain):
        table.keys.append(tuple(each.name for each in plain))
