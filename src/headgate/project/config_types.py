"""The types of configuration values beside plain strings and numbers."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from headgate.values.errors import MisuseError
from headgate.values.hidden import Hidden
from headgate.values.local_path import to_local_path

T = TypeVar("T")


class Section(BaseModel):
    """A mapping of the file: only known keys, and values of exactly the type."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, arbitrary_types_allowed=True
    )


def make_error(message: str, hint: str, key: str = "") -> PydanticCustomError:
    """The error that a validator raises: a message, a hint, and the key of the section that is wrong, if one is."""
    details = {"message": message, "hint": hint, "key": key}
    return PydanticCustomError("headgate", "{message} {hint}", details)


def _parse_hidden(value: Any) -> Hidden:
    if isinstance(value, Hidden):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "text")
    if not value.strip():
        raise PydanticCustomError("string_too_short", "empty")
    return Hidden(value)


def _parse_option(value: Any) -> Hidden:
    """An option as a string; numbers, booleans and empty strings are allowed, since Spark takes all as strings."""
    if isinstance(value, bool):
        return Hidden(str(value).lower())
    if isinstance(value, int | float):
        return Hidden(str(value))
    return Hidden("") if value == "" else _parse_hidden(value)


def _parse_path(value: str) -> str:
    """A path of this machine; `file:///x` is `/x`, and any other address is refused."""
    try:
        return str(to_local_path(value, "this"))
    except MisuseError as error:
        raise make_error(str(error).removesuffix(error.hint).strip(), error.hint) from None


def _parse_list(value: Any) -> Any:
    """A list as a tuple; a single string is a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _parse_days(value: Any) -> Any:
    """A list of days as texts, since YAML reads 2026-12-25 as a date; or the name of a file, as a list of one."""
    items = value if isinstance(value, list) else [value]
    return tuple(each.isoformat() if isinstance(each, datetime.date) else each for each in items)


_TEXT = {"type": "string", "minLength": 1}
_SCALAR = {"type": ["string", "number", "boolean"]}
_AS_REPR = PlainSerializer(repr, return_type=str)

Text = Annotated[str, Field(min_length=1)]
Days = Annotated[tuple[Text, ...], BeforeValidator(_parse_days)]
LocalPath = Annotated[Text, AfterValidator(_parse_path)]
Secret = Annotated[InstanceOf[Hidden], BeforeValidator(_parse_hidden), WithJsonSchema(_TEXT), _AS_REPR]
Option = Annotated[InstanceOf[Hidden], BeforeValidator(_parse_option), WithJsonSchema(_SCALAR), _AS_REPR]
ListOf = Annotated[tuple[T, ...], BeforeValidator(_parse_list)]
