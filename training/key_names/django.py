"""Tables out of Django migrations, which are read as text and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from headgate.values.schema import Kind
from training.key_names.rows import kind_of
from training.key_names.tables import Table

LINKS = {"ForeignKey", "OneToOneField", "TreeForeignKey", "ParentalKey"}
NO_COLUMN = {"ManyToManyField", "GenericRelation", "GenericForeignKey", "ParentalManyToManyField", "TaggableManager"}


def tables_of_migrations(files: dict[str, str]) -> list[Table]:
    """The tables after all migrations (path -> text), each app's in the order of their names."""
    tables: dict[tuple[str, str], Table] = {}
    for path in sorted(files):
        app = path.split("/")[-3]
        for operation in _operations(files[path]):
            _apply(tables, app, operation)
    return [table for table in tables.values() if table.columns]


def _operations(text: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == "operations" for to in node.targets
        ):
            yield from (each for each in ast.walk(node.value) if isinstance(each, ast.Call))


def _apply(tables: dict[tuple[str, str], Table], app: str, call: ast.Call) -> None:
    given = {each.arg: each.value for each in call.keywords}
    what = name_of(call)
    model = _text(given.get("model_name") or given.get("name")).lower()
    if what == "CreateModel":
        table = tables[app, model] = Table(f"{app}_{model}")
        for pair in getattr(given.get("fields"), "elts", []):
            if isinstance(pair, ast.Tuple) and isinstance(pair.elts[1], ast.Call):
                _add(table, _text(pair.elts[0]), pair.elts[1])
    elif what == "DeleteModel":
        tables.pop((app, model), None)
    elif (app, model) in tables:
        _change(tables[app, model], what, given)


def _change(table: Table, what: str, given: dict[str | None, Any]) -> None:
    name = _text(given.get("name") or given.get("old_name"))
    if what in {"AddField", "AlterField"} and isinstance(given.get("field"), ast.Call):
        _drop(table, name)
        _add(table, name, given["field"])
    elif what == "RemoveField":
        _drop(table, name)
    elif what == "RenameField":
        _rename(table, name, _text(given.get("new_name")))


def _add(table: Table, name: str, field: ast.Call) -> None:
    what = name_of(field)
    if what in NO_COLUMN or not name:
        return
    column = f"{name}_id" if what in LINKS else name
    marks = {each.arg: each.value for each in field.keywords}
    table.columns[column] = Kind.INTEGER if what in LINKS else kind_of(what)
    if what == "OneToOneField" or any(_is_true(marks.get(mark)) for mark in ("primary_key", "unique")):
        table.keys.append((column,))


def _drop(table: Table, name: str) -> None:
    for column in (name, f"{name}_id"):
        table.columns.pop(column, None)
        table.keys = [key for key in table.keys if key != (column,)]


def _rename(table: Table, old: str, new: str) -> None:
    for before, after in ((old, new), (f"{old}_id", f"{new}_id")):
        table.columns = {after if name == before else name: kind for name, kind in table.columns.items()}
        table.keys = [(after,) if key == (before,) else key for key in table.keys]


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_true(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
