"""Tables out of SQLAlchemy models, which are read as text and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from headgate.values.schema import Kind
from training.key_names.django import name_of
from training.key_names.rows import kind_of
from training.key_names.tables import Table

ANNOTATED = {
    "int": Kind.INTEGER,
    "str": Kind.STRING,
    "bool": Kind.BOOLEAN,
    "float": Kind.FLOAT,
    "datetime": Kind.TIMESTAMP,
}


@dataclass
class Model:
    """A class: the table it says it is, the classes it builds on, its columns and keys."""

    table: str = ""
    bases: list[str] = field(default_factory=list)
    columns: dict[str, Kind] = field(default_factory=dict)
    primary: list[str] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)


def tables_of_models(texts: Iterable[str]) -> list[Table]:
    """Declarative classes with the mixins of the same project, and Table(...) calls."""
    models: dict[str, Model] = {}
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                model = _model(node)
                if model.table or node.name not in models:
                    models[node.name] = model
            elif isinstance(node, ast.Call) and name_of(node) == "Table":
                _plain(models, node)
    found = [_whole(model, models, frozenset()) for model in models.values() if model.table]
    return [table for table in found if table.columns]


def _model(node: ast.ClassDef) -> Model:
    model = Model(bases=[base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases])
    for part in node.body:
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            _member(model, part.targets[0].id, part.value, None)
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None:
            _member(model, part.target.id, part.value, part.annotation)
    return model


def _member(model: Model, name: str, value: ast.expr, annotation: ast.expr | None) -> None:
    if name == "__tablename__" and isinstance(value, ast.Constant):
        model.table = str(value.value)
    elif name == "__table_args__":
        model.keys.extend(_table_keys(value))
    elif isinstance(value, ast.Call) and name_of(value) in {"Column", "mapped_column"}:
        _column(model, name, value, annotation)


def _column(model: Model, name: str, call: ast.Call, annotation: ast.expr | None) -> None:
    places = list(call.args)
    if places and isinstance(places[0], ast.Constant) and isinstance(places[0].value, str):
        name = places.pop(0).value
    marks = {each.arg: getattr(each.value, "value", None) for each in call.keywords}
    model.columns[name] = _kind(places, annotation)
    if marks.get("primary_key") is True:
        model.primary.append(name)
    if marks.get("unique") is True:
        model.keys.append((name,))


def _kind(places: list[ast.expr], annotation: ast.expr | None) -> Kind:
    words = [
        name_of(each) if isinstance(each, ast.Call) else getattr(each, "attr", getattr(each, "id", ""))
        for each in places
    ]
    types = [word for word in words if word not in {"ForeignKey", "Sequence", "Identity"}]
    if types and kind_of(types[0]) is not Kind.OTHER:
        return kind_of(types[0])
    names = {each.id for each in ast.walk(annotation) if isinstance(each, ast.Name)} if annotation else set()
    told = [kind for word, kind in ANNOTATED.items() if word in names]
    return told[0] if told else Kind.INTEGER if words and not types else Kind.OTHER


def _table_keys(value: ast.expr) -> list[tuple[str, ...]]:
    keys = []
    for call in (each for each in ast.walk(value) if isinstance(each, ast.Call)):
        texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        marks = {each.arg: getattr(each.value, "value", None) for each in call.keywords}
        if name_of(call) in {"UniqueConstraint", "PrimaryKeyConstraint"} and len(texts) == len(call.args):
            keys.append(tuple(texts))
        elif name_of(call) == "Index" and marks.get("unique") is True and "where" not in "".join(map(str, marks)):
            keys.append(tuple(texts[1:]) if len(texts) == len(call.args) else ())
    return keys


def _plain(models: dict[str, Model], call: ast.Call) -> None:
    if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        model = Model(table=call.args[0].value)
        for part in call.args[1:]:
            if isinstance(part, ast.Call) and name_of(part) == "Column":
                _column(model, "", part, None)
            elif isinstance(part, ast.Call):
                model.keys.extend(_table_keys(part))
        model.columns.pop("", None)
        models[f"Table({model.table})"] = model


def _whole(model: Model, models: dict[str, Model], seen: frozenset[str]) -> Table:
    """The model with the columns of its mixins. More than one primary column is a composite key."""
    parts = [model]
    for base in model.bases:
        if base in models and base not in seen and not models[base].table:
            inner = _whole(Model("-", models[base].bases, models[base].columns), models, seen | {base})
            parts.append(Model("", [], inner.columns, models[base].primary, [*models[base].keys, *inner.keys]))
    table = Table(model.table)
    for part in parts:
        table.columns = part.columns | table.columns
        table.keys.extend(part.keys)
    primary = tuple(dict.fromkeys(name for part in parts for name in part.primary))
    if primary:
        table.keys.append(primary)
    return table
