"""Writes checks as Python code that runs as printed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from headgate.checks.constraint import constraint_named
from headgate.checks.rule import Rule
from headgate.checks.thresholds import threshold_words
from headgate.values.errors import MisuseError

_WIDTH = 100


def write_python(name: str, rules: Sequence[Rule]) -> str:
    """Python code that makes an equal check, with its imports.

    >>> from headgate.checks.build_rule import build_rule
    >>> rules = [build_rule("is_unique", ["id"], {}), build_rule("has_mean", ["price"], {"between": (5, 500)})]
    >>> print(write_python("orders", rules), end="")
    import headgate as hg
    <BLANKLINE>
    check = (
        hg.Check("orders")
        .is_unique("id")
        .has_mean("price", between=(5, 500))
    )
    """
    calls = [_call(rule) for rule in rules]
    code = "".join(calls)
    modules = [name for name in ("datetime", "decimal") if f"{name}." in code]
    imports = [f"import {name}\n" for name in modules] + ["\n"] * bool(modules) + ["import headgate as hg\n"]
    return "".join([*imports, f"\ncheck = (\n    hg.Check({_code(name)})\n", *calls, ")\n"])


def _call(rule: Rule) -> str:
    if not rule.storable:
        raise MisuseError(
            f"{rule} is held against a Python function, whose code is not known.",
            hint="Say what is expected with between, at_least, at_most, equals or one_of.",
        )
    arguments = list(_format_arguments(rule))
    line = f"    .{rule.name}({', '.join(arguments)})\n"
    if len(line) <= _WIDTH:
        return line
    return f"    .{rule.name}(\n" + "".join(f"        {each},\n" for each in arguments) + "    )\n"


def _format_arguments(rule: Rule) -> Iterator[str]:
    """The arguments of the call: required ones by position, the others by name."""
    parameters = {each.name: each for each in constraint_named(rule.name).parameters}
    for name, value in rule.arguments:
        parameter = parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            yield from map(_code, value if isinstance(value, tuple) else (value,))
        elif parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and parameter.default is inspect.Parameter.empty:
            yield _code(value)
        else:
            yield f"{name}={_code(value)}"
    for name, value in threshold_words(rule).items():
        yield f"{name}=({', '.join(map(_code, value))})" if name == "between" else f"{name}={_code(value)}"
    yield from [f"where={_code(rule.where)}"] if rule.where is not None else []
    yield from [f"by={_code(list(rule.by))}"] if rule.by else []


def _code(value: Any) -> str:
    match value:
        case str():
            plain = repr(value)
            return plain if plain[0] == '"' or '"' in value else f'"{plain[1:-1]}"'
        case list() | tuple():
            return f"[{', '.join(map(_code, value))}]"
        case dict():
            return "{" + ", ".join(f"{_code(name)}: {_code(each)}" for name, each in value.items()) + "}"
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case Decimal():
            return f'decimal.Decimal("{value}")'
        case datetime(tzinfo=zone) if zone is not None:
            return repr(value.replace(tzinfo=timezone(value.utcoffset() or timedelta())))
        case bool() | int() | float() | date() | None:
            return repr(value)
    raise MisuseError(f"{value!r} cannot be written as code.", hint="Use text, numbers, booleans, dates or timestamps.")
