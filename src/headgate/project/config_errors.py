"""Translates the errors of the models into mistakes with a line, a message and a hint."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from headgate.project.config import Config
from headgate.project.config_types import Option, Secret, Section
from headgate.project.error_text import format_value, format_yaml, key_path
from headgate.project.tree import KeyPath, Tree
from headgate.values.errors import Mistake, did_you_mean

_TYPE_NAMES = {
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "finite_number": "a number",
}
_SECRET_TYPES = tuple(get_args(each)[0] for each in (Secret, Option))


def mistakes_of(error: ValidationError, tree: Tree) -> list[Mistake]:
    """The mistakes of a validation error, without those that reading the file has found already."""
    reported = {mistake.key for mistake in tree.mistakes}
    errors = [
        (str(each["type"]), each, tuple(each["loc"])) for each in error.errors(include_url=False, include_input=False)
    ]
    # One mistake is reported once: a key that is missing because it is misspelled is not also a missing key.
    misspelled = {(*path[:-1], _closest_key(path)) for kind, _, path in errors if kind == "extra_forbidden"}
    return [
        _make_mistake(each, path, tree)
        for kind, each, path in errors
        if not (kind == "missing" and path in misspelled)
        and not any(key_path(path[:end]) in reported for end in range(1, len(path) + 1))
    ]


def _make_mistake(error: Mapping[str, Any], path: KeyPath, tree: Tree) -> Mistake:
    kind, written = str(error["type"]), _path_as_written(path, tree.data)
    if kind == "headgate":
        details = error["ctx"]
        inner = (*written, details["key"]) if details["key"] else written
        return Mistake(tree.find_place(inner), key_path(inner), details["message"], details["hint"])
    if kind == "extra_forbidden":
        return Mistake(tree.find_place(path), key_path(path[:-1]), *_explain_unknown_key(path))
    if kind == "missing":
        return Mistake(tree.find_place(path[:-1]), key_path(path[:-1]), f"{path[-1]} is missing.", example_hint(path))
    return Mistake(
        tree.find_place(written),
        key_path(written),
        *_explain_wrong_value(kind, error.get("ctx", {}), path, _value_at(tree.data, written)),
    )


def _path_as_written(path: KeyPath, data: Any) -> KeyPath:
    """The path without keys that the file leaves out: `learn: [history]` stands for `learn: {from: [history]}`.

    >>> _path_as_written(("learn", "from", 0), {"learn": ["histry"]})
    ('learn', 0)
    """
    written: KeyPath = ()
    for step in path:
        if isinstance(step, int) or not isinstance(_value_at(data, written), str | list):
            written = (*written, step)
    return written


def _closest_key(path: KeyPath) -> str:
    """The known key that is closest to a misspelled one; empty if none is close."""
    near = difflib.get_close_matches(str(path[-1]), _list_keys(path[:-1]), n=1)
    return near[0] if near else ""


def _list_keys(path: KeyPath) -> list[str]:
    section = section_at(path)
    return list(fields_of(section)) if section else []


def _explain_unknown_key(path: KeyPath) -> tuple[str, str]:
    key, known = str(path[-1]), _list_keys(path[:-1])
    message, hint = f"the key {format_value(key)} is not known;", did_you_mean(key, known, most=len(known))
    if _closest_key(path):
        return message, hint
    places = [place for place, section in list_sections() if key in fields_of(section)]
    if not places:
        return message, f"{hint} Leave it out."
    return (
        f"the key {format_value(key)} is not known here.",
        f"It belongs {f'into {places[0]}' if places[0] else 'to the top'}.",
    )


def _explain_wrong_value(kind: str, limits: Mapping[str, Any], path: KeyPath, value: Any) -> tuple[str, str]:
    given = "something else" if _is_secret(path) and not isinstance(value, dict | list) else format_value(value)
    if kind == "literal_error":
        choices = [str(each) for each in choices_at(path)]
        return f"{given} is not a choice;", did_you_mean(str(value), choices)
    if kind in ("string_too_short", "too_short"):
        return "it is empty.", example_hint(path)
    if kind in ("greater_than_equal", "less_than"):
        limit = f"at least {limits['ge']}" if "ge" in limits else f"below {limits['lt']}"
        return f"it must be {limit}, not {given}.", example_hint(path)
    if kind == "string_type" and not _is_secret(path) and not isinstance(value, dict | list):
        return f"it is text, not {given}.", f'Put it in quotes: "{given}".'
    if kind in _TYPE_NAMES:
        return f"it is {_TYPE_NAMES[kind]}, not {given}.", example_hint(path)
    return f"{given} is not understood.", example_hint(path)


def example_hint(path: KeyPath) -> str:
    """A hint with an example of the key, or of the nearest key around it."""
    for end in range(len(path), 0, -1):
        field = field_at(path[:end])
        if field is not None and field.examples:
            key, example = path[end - 1], field.examples[0]
            if end + 1 == len(path) and isinstance(item := _first_value(example), dict):
                key, example = path[end], item
            return f"Write {'-' if isinstance(key, int) else f'{key}:'} {format_yaml(example)}."
    return "docs/reference/config.md lists all keys."


def _first_value(example: Any) -> Any:
    values = list(example.values()) if isinstance(example, dict) else example
    return values[0] if isinstance(values, list) and values else None


def _is_secret(path: KeyPath) -> bool:
    return any(part in _SECRET_TYPES for part in _split_union(annotation_at(path)))


def _value_at(data: Any, path: KeyPath) -> Any:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


# --- the models, walked along a path


def fields_of(section: type[Section]) -> dict[str, FieldInfo]:
    """The fields of a section by their keys in the file."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def field_at(path: KeyPath) -> FieldInfo | None:
    """The field of the model at a path; None if there is none."""
    section = section_at(path[:-1]) if path else None
    return fields_of(section).get(str(path[-1])) if section else None


def section_at(path: KeyPath) -> type[Section] | None:
    return next(
        (part for part in _split_union(annotation_at(path)) if isinstance(part, type) and issubclass(part, Section)),
        None,
    )


def choices_at(path: KeyPath) -> list[Any]:
    return [
        value for part in _split_union(annotation_at(path)) if get_origin(part) is Literal for value in get_args(part)
    ]


def annotation_at(path: Sequence[str | int]) -> Any:
    """The type of the value at a path; None if the models have no such path."""
    kind: Any = Config
    for step in path:
        kind = _annotation_inside(kind, step)
    return kind


def _annotation_inside(kind: Any, step: str | int) -> Any:
    for part in _split_union(kind):
        if isinstance(part, type) and issubclass(part, Section):
            field = fields_of(part).get(str(step))
            return field.annotation if field else None
        if get_origin(part) is dict and isinstance(step, str):
            return get_args(part)[1]
        if get_origin(part) is tuple and isinstance(step, int):
            return get_args(part)[0]
    return None


def _split_union(kind: Any) -> Iterator[Any]:
    """The members of a union, and the type inside an `Annotated`."""
    if get_origin(kind) in (Union, types.UnionType):
        for member in get_args(kind):
            yield from _split_union(member)
    elif get_origin(kind) is Annotated:
        yield kind
        yield from _split_union(get_args(kind)[0])
    else:
        yield kind


def list_sections() -> Iterator[tuple[str, type[Section]]]:
    """Every section of the file with its path."""
    yield from _walk_sections("", Config)


def _walk_sections(path: str, section: type[Section]) -> Iterator[tuple[str, type[Section]]]:
    yield path, section
    for name, field in fields_of(section).items():
        inner = f"{path}.{name}" if path else name
        for part in _split_union(field.annotation):
            inner_path, kind = inner, part
            if get_origin(part) is dict:
                inner_path, kind = f"{inner}.<name>", get_args(part)[1]
            elif get_origin(part) is tuple:
                inner_path, kind = f"{inner}[]", get_args(part)[0]
            if isinstance(kind, type) and issubclass(kind, Section):
                yield from _walk_sections(inner_path, kind)
